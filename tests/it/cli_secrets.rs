//! Redaction of secrets end to end: a secret from the topic, brief, a speech, a file or the
//! environment is not sent, stored or printed.
use crate::cli_evidence::lab;
use crate::lab::{Lab, Script, speech, stands_in};
use serde_json::{Value, json};

/// Token in GitHub's format, assembled here so that no source file contains one.
fn key(nth: usize) -> String {
    let letters = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2";
    format!("ghp_{}{}", &letters[nth..], &letters[..nth])
}

/// Checks that neither the archive, nor a written file, nor one of these outputs has the secret.
#[track_caller]
fn hidden(lab: &Lab, secret: &str, shown: &[&str]) {
    assert!(!stands_in(lab.home(), secret), "it is kept");
    for folder in [".claude", ".debates"] {
        // Files are written after the log, by a background thread.
        crate::lab::until("it is written out", || lab.root().join(folder).is_dir());
        assert!(!stands_in(&lab.root().join(folder), secret), "it is written to {folder}");
    }
    for text in shown {
        assert!(!text.contains(secret), "{text}");
    }
}

/// Distinct redaction placeholders in a text.
fn placeholders(text: &str) -> Vec<String> {
    let mut found: Vec<String> = text
        .split("[REDACTED:")
        .skip(1)
        .filter_map(|rest| rest.split_once(']').map(|(inside, _)| inside.to_owned()))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn a_key_in_the_topic_the_brief_a_speech_or_a_remark_goes_no_further() {
    let lab = lab();
    let secret = key(0);
    lab.file("src/config.rs", &format!("const TOKEN: &str = \"{secret}\";\nfn after() {{}}\n"));
    let said = speech(&format!("Use {secret} for now."), "P1", &[]);
    lab.write(&Script::new().first(json!({"seat": "proposer", "phase": "propose", "text": said})));
    let topic = format!("Is {secret} safe?");
    let args = ["--rounds", "1", "--context", "src/config.rs", "--follow", "--json"];
    let done = lab.run(&topic, &args).success();
    hidden(&lab, &secret, &[&done.out, &done.err]);
    let id = lab.last();
    let shown = lab.debate(&["show", &id, "--json"]).success().out;
    let prompt = lab.debate(&["show", &id, "--prompt", "0.1.1.1"]).success().out;
    let names = placeholders(&shown);
    assert_eq!(names.len(), 1, "one secret, one name: {names:?}");
    assert_eq!(placeholders(&prompt), names, "{prompt}");
    assert!(prompt.contains("    2 fn after()") || prompt.contains("2 fn after()"), "{prompt}");
    lab.replays(&id);
    assert!(
        done.err.contains("secrets taken out") && done.err.contains("1 github-token"),
        "{}",
        done.err
    );
}

/// Streaming holds text back, so that a token split over chunks does not leak in parts.
#[test]
fn a_key_that_comes_in_pieces_is_not_told_in_pieces() {
    let lab = lab();
    let secret = key(1);
    let said = speech(&format!("Use {secret} for now, and wait."), "P1", &[]);
    let slow = json!({"seat": "proposer", "phase": "propose", "text": said, "delay_ms": 400});
    lab.write(&Script::new().first(slow));
    let done = lab.run("Well?", &["--rounds", "1", "--follow", "--json"]).success();
    let delta =
        |it: &Value| (it["kind"] == "delta").then(|| it["text"].as_str().unwrap().to_owned());
    let told: String = done.lines().iter().filter_map(delta).collect();
    assert!(told.contains("[REDACTED:github-token:"), "{told}");
    assert!(!told.contains(&secret[..12]), "{told}");
}

#[cfg(unix)]
#[test]
fn what_tools_read_has_no_keys_in_it() {
    let lab = lab();
    let secret = key(2);
    lab.file("src/here.rs", &format!("fn one() {{}}\nlet token = \"{secret}\";\nfn two() {{}}\n"));
    lab.speaks("claude", &speech("Use one file.", "P1", &[]));
    let own = lab.outside("fake-claude");
    let notes = format!("/bin/cat src/here.rs > '{0}/read'\n/bin/cat '{0}/out'", own.display());
    lab.program("claude", &notes);
    let (con, judge) = (lab.seat("contra.json"), lab.seat("pro.json"));
    let seats = ["--proposer", "claude", "--challenger", &con, "--judge", &judge, "--no-probe"];
    let args = [&["run", "Well?", "--rounds", "1", "--json"][..], &seats].concat();
    lab.write(&Script::new());
    let done = lab.debate(&args).success();
    let read = std::fs::read_to_string(own.join("read")).unwrap();
    assert!(!read.contains(&secret) && read.contains("[REDACTED:"), "{read}");
    assert_eq!(read.lines().count(), 3, "lines keep their numbers");
    assert!(!done.out.contains(&secret));
    assert!(!stands_in(&lab.home().join("snapshots"), &secret));
}

/// The value of an environment variable with a secret name is a secret, whatever its format.
#[test]
fn a_secret_of_the_environment_is_known_by_its_value() {
    let lab = lab();
    let secret = "plain-but-mine-9731";
    let said = speech(&format!("I was given {secret} to use."), "P1", &[]);
    lab.write(&Script::new().first(json!({"seat": "proposer", "phase": "propose", "text": said})));
    let run = lab.run("Well?", &["--rounds", "1", "--json"]).env("BILLING_API_KEY", secret);
    let done = run.success();
    hidden(&lab, secret, &[&done.out, &done.err]);
}

#[test]
fn a_host_s_speech_is_cleaned_as_well() {
    let lab = lab();
    let secret = key(3);
    let mut host = lab.host();
    let stands = host.alone(json!({"topic": "Well?"}));
    let turn = stands["due"]["turn"].clone();
    let said = speech(&format!("Use {secret} for now."), "P1", &[]);
    let after = host.call("continue_round", json!({"turn": turn, "speech": said}));
    assert!(!after.to_string().contains(&secret), "{after:#}");
    assert!(after.to_string().contains("[REDACTED:github-token:"), "{after:#}");
    let told = host.fails("show_debate", json!({"part": secret}));
    assert!(!told.contains(&secret), "{told}");
    hidden(&lab, &secret, &[]);
}

#[test]
fn redact_is_a_filter() {
    let lab = lab();
    let (one, other) = (key(4), key(5));
    let text = format!("a {one}\nb {other}\nc {one} d\n");
    let done = lab.debate(&["redact"]).stdin(&text).success();
    assert!(!done.out.contains(&one) && !done.out.contains(&other), "{}", done.out);
    assert_eq!(done.out.lines().count(), 3);
    assert_eq!(placeholders(&done.out).len(), 2, "{}", done.out);
    assert!(done.err.contains("3 github-token"), "{}", done.err);
    let plain = "fn main() { println!(\"task-risk-assessment-of-2026\"); }\n";
    assert_eq!(lab.debate(&["redact"]).stdin(plain).success().out, plain);
}
