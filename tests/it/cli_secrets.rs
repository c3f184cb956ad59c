//! Redaction of secrets end to end: a secret from the topic, brief, a speech, a file or the
//! environment is not sent, stored or printed.
use crate::cli_evidence::repo_with_source;
use crate::test_env::{SeatScript, TestEnv, folder_contains_text, speech_with_claim};
use serde_json::{Value, json};

/// Token in GitHub's format, assembled here so that no source file contains one.
fn github_token(nth: usize) -> String {
    let letters = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2";
    format!("ghp_{}{}", &letters[nth..], &letters[..nth])
}

/// Checks that neither the archive, nor a written file, nor one of these outputs has the secret.
#[track_caller]
fn assert_redacted(lab: &TestEnv, secret: &str, shown: &[&str]) {
    assert!(!folder_contains_text(lab.data_dir(), secret), "it is kept");
    for folder in [".claude", ".debates"] {
        // Files are written after the log, by a background thread.
        crate::test_env::wait_until("it is written out", || lab.repo_root().join(folder).is_dir());
        assert!(
            !folder_contains_text(&lab.repo_root().join(folder), secret),
            "it is written to {folder}"
        );
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
fn token_in_topic_brief_or_speech_is_redacted() {
    let lab = repo_with_source();
    let secret = github_token(0);
    lab.write_repo_file(
        "src/config.rs",
        &format!("const TOKEN: &str = \"{secret}\";\nfn after() {{}}\n"),
    );
    let said = speech_with_claim(&format!("Use {secret} for now."), "P1", &[]);
    lab.write_script(
        &SeatScript::new().prepend(json!({"seat": "proposer", "phase": "propose", "text": said})),
    );
    let topic = format!("Is {secret} safe?");
    let args = ["--rounds", "1", "--context", "src/config.rs", "--follow", "--json"];
    let done = lab.debate_run(&topic, &args).expect_success();
    assert_redacted(&lab, &secret, &[&done.stdout, &done.stderr]);
    let id = lab.latest_debate_id();
    let shown = lab.debate(&["show", &id, "--json"]).expect_success().stdout;
    let prompt = lab.debate(&["show", &id, "--prompt", "0.1.1.1"]).expect_success().stdout;
    let names = placeholders(&shown);
    assert_eq!(names.len(), 1, "one secret, one name: {names:?}");
    assert_eq!(placeholders(&prompt), names, "{prompt}");
    assert!(prompt.contains("    2 fn after()") || prompt.contains("2 fn after()"), "{prompt}");
    lab.assert_replays(&id);
    assert!(
        done.stderr.contains("secrets taken out") && done.stderr.contains("1 github-token"),
        "{}",
        done.stderr
    );
}

/// Streaming holds text back, so that a token split over chunks does not leak in parts.
#[test]
fn token_split_over_chunks_is_redacted_in_the_stream() {
    let lab = repo_with_source();
    let secret = github_token(1);
    let said = speech_with_claim(&format!("Use {secret} for now, and wait."), "P1", &[]);
    let slow = json!({"seat": "proposer", "phase": "propose", "text": said, "delay_ms": 400});
    lab.write_script(&SeatScript::new().prepend(slow));
    let done = lab.debate_run("Well?", &["--rounds", "1", "--follow", "--json"]).expect_success();
    let delta =
        |it: &Value| (it["kind"] == "delta").then(|| it["text"].as_str().unwrap().to_owned());
    let told: String = done.json_lines().iter().filter_map(delta).collect();
    assert!(told.contains("[REDACTED:github-token:"), "{told}");
    assert!(!told.contains(&secret[..12]), "{told}");
}

#[cfg(unix)]
#[test]
fn files_read_by_tools_are_redacted() {
    let lab = repo_with_source();
    let secret = github_token(2);
    lab.write_repo_file(
        "src/here.rs",
        &format!("fn one() {{}}\nlet token = \"{secret}\";\nfn two() {{}}\n"),
    );
    lab.install_fake_with_reply("claude", &speech_with_claim("Use one file.", "P1", &[]));
    let own = lab.temp_path("fake-claude");
    let notes = format!("/bin/cat src/here.rs > '{0}/read'\n/bin/cat '{0}/out'", own.display());
    lab.install_fake_with_script("claude", &notes);
    let (con, judge) = (lab.script_seat("contra.json"), lab.script_seat("pro.json"));
    let seats = ["--proposer", "claude", "--challenger", &con, "--judge", &judge, "--no-probe"];
    let args = [&["run", "Well?", "--rounds", "1", "--json"][..], &seats].concat();
    lab.write_script(&SeatScript::new());
    let done = lab.debate(&args).expect_success();
    let read = std::fs::read_to_string(own.join("read")).unwrap();
    assert!(!read.contains(&secret) && read.contains("[REDACTED:"), "{read}");
    assert_eq!(read.lines().count(), 3, "lines keep their numbers");
    assert!(!done.stdout.contains(&secret));
    assert!(!folder_contains_text(&lab.data_dir().join("snapshots"), &secret));
}

/// The value of an environment variable with a secret name is a secret, whatever its format.
#[test]
fn environment_secret_is_redacted_by_value() {
    let lab = repo_with_source();
    let secret = "plain-but-mine-9731";
    let said = speech_with_claim(&format!("I was given {secret} to use."), "P1", &[]);
    lab.write_script(
        &SeatScript::new().prepend(json!({"seat": "proposer", "phase": "propose", "text": said})),
    );
    let run = lab.debate_run("Well?", &["--rounds", "1", "--json"]).env("BILLING_API_KEY", secret);
    let done = run.expect_success();
    assert_redacted(&lab, secret, &[&done.stdout, &done.stderr]);
}

#[test]
fn host_speech_is_redacted() {
    let lab = repo_with_source();
    let secret = github_token(3);
    let mut host = lab.mcp_client();
    let stands = host.start_solo_debate(json!({"topic": "Well?"}));
    let turn = stands["due"]["turn"].clone();
    let said = speech_with_claim(&format!("Use {secret} for now."), "P1", &[]);
    let after = host.call_tool("continue_round", json!({"turn": turn, "speech": said}));
    assert!(!after.to_string().contains(&secret), "{after:#}");
    assert!(after.to_string().contains("[REDACTED:github-token:"), "{after:#}");
    let told = host.expect_tool_error("show_debate", json!({"part": secret}));
    assert!(!told.contains(&secret), "{told}");
    assert_redacted(&lab, &secret, &[]);
}

#[test]
fn redact_command_filters_stdin() {
    let lab = repo_with_source();
    let (one, other) = (github_token(4), github_token(5));
    let text = format!("a {one}\nb {other}\nc {one} d\n");
    let done = lab.debate(&["redact"]).stdin(&text).expect_success();
    assert!(!done.stdout.contains(&one) && !done.stdout.contains(&other), "{}", done.stdout);
    assert_eq!(done.stdout.lines().count(), 3);
    assert_eq!(placeholders(&done.stdout).len(), 2, "{}", done.stdout);
    assert!(done.stderr.contains("3 github-token"), "{}", done.stderr);
    let plain = "fn main() { println!(\"task-risk-assessment-of-2026\"); }\n";
    assert_eq!(lab.debate(&["redact"]).stdin(plain).expect_success().stdout, plain);
}
