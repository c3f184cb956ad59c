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
fn assert_redacted(env: &TestEnv, secret: &str, outputs: &[&str]) {
    assert!(!folder_contains_text(env.data_dir(), secret), "the secret is in the data directory");
    for folder in [".claude", ".debates"] {
        // Files are written after the log, by a background thread.
        crate::test_env::wait_until("the files are written", || {
            env.repo_root().join(folder).is_dir()
        });
        assert!(
            !folder_contains_text(&env.repo_root().join(folder), secret),
            "the secret is in {folder}"
        );
    }
    for text in outputs {
        assert!(!text.contains(secret), "{text}");
    }
}

/// Distinct redaction placeholders in a text.
fn placeholders(text: &str) -> Vec<String> {
    let mut found: Vec<String> = text
        .split("[REDACTED:")
        .skip(1)
        .filter_map(|rest| rest.split_once(']').map(|(name, _)| name.to_owned()))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn token_in_topic_brief_or_speech_is_redacted() {
    let env = repo_with_source();
    let secret = github_token(0);
    env.write_repo_file(
        "src/config.rs",
        &format!("const TOKEN: &str = \"{secret}\";\nfn after() {{}}\n"),
    );
    let speech = speech_with_claim(&format!("Use {secret} for now."), "P1", &[]);
    env.write_script(
        &SeatScript::new().prepend(json!({"seat": "proposer", "phase": "propose", "text": speech})),
    );
    let topic = format!("Is {secret} safe?");
    let args = ["--rounds", "1", "--context", "src/config.rs", "--follow", "--json"];
    let output = env.debate_run(&topic, &args).expect_success();
    assert_redacted(&env, &secret, &[&output.stdout, &output.stderr]);
    let id = env.latest_debate_id();
    let shown = env.debate(&["show", &id, "--json"]).expect_success().stdout;
    let prompt = env.debate(&["show", &id, "--prompt", "0.1.1.1"]).expect_success().stdout;
    let shown_placeholders = placeholders(&shown);
    assert_eq!(shown_placeholders.len(), 1, "one secret, one placeholder: {shown_placeholders:?}");
    assert_eq!(placeholders(&prompt), shown_placeholders, "{prompt}");
    assert!(prompt.contains("    2 fn after()") || prompt.contains("2 fn after()"), "{prompt}");
    env.assert_replays(&id);
    assert!(
        output.stderr.contains("secrets taken out") && output.stderr.contains("1 github-token"),
        "{}",
        output.stderr
    );
}

/// Streaming holds text back, so that a token split over chunks does not leak in parts.
#[test]
fn token_split_over_chunks_is_redacted_in_the_stream() {
    let env = repo_with_source();
    let secret = github_token(1);
    let speech = speech_with_claim(&format!("Use {secret} for now, and wait."), "P1", &[]);
    let slow = json!({"seat": "proposer", "phase": "propose", "text": speech, "delay_ms": 400});
    env.write_script(&SeatScript::new().prepend(slow));
    let output = env.debate_run("Well?", &["--rounds", "1", "--follow", "--json"]).expect_success();
    let delta =
        |it: &Value| (it["kind"] == "delta").then(|| it["text"].as_str().unwrap().to_owned());
    let streamed_text: String = output.json_lines().iter().filter_map(delta).collect();
    assert!(streamed_text.contains("[REDACTED:github-token:"), "{streamed_text}");
    assert!(!streamed_text.contains(&secret[..12]), "{streamed_text}");
}

#[cfg(unix)]
#[test]
fn files_read_by_tools_are_redacted() {
    let env = repo_with_source();
    let secret = github_token(2);
    env.write_repo_file(
        "src/here.rs",
        &format!("fn one() {{}}\nlet token = \"{secret}\";\nfn two() {{}}\n"),
    );
    env.install_fake_with_reply("claude", &speech_with_claim("Use one file.", "P1", &[]));
    let fake_dir = env.temp_path("fake-claude");
    let script =
        format!("/bin/cat src/here.rs > '{0}/read'\n/bin/cat '{0}/out'", fake_dir.display());
    env.install_fake_with_script("claude", &script);
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let seats = ["--proposer", "claude", "--challenger", &con, "--judge", &judge, "--no-probe"];
    let args = [&["run", "Well?", "--rounds", "1", "--json"][..], &seats].concat();
    env.write_script(&SeatScript::new());
    let output = env.debate(&args).expect_success();
    let read_text = std::fs::read_to_string(fake_dir.join("read")).unwrap();
    assert!(!read_text.contains(&secret) && read_text.contains("[REDACTED:"), "{read_text}");
    assert_eq!(read_text.lines().count(), 3, "lines keep their numbers");
    assert!(!output.stdout.contains(&secret));
    assert!(!folder_contains_text(&env.data_dir().join("snapshots"), &secret));
}

/// The value of an environment variable with a secret name is a secret, whatever its format.
#[test]
fn environment_secret_is_redacted_by_value() {
    let env = repo_with_source();
    let secret = "plain-but-mine-9731";
    let speech = speech_with_claim(&format!("I was given {secret} to use."), "P1", &[]);
    env.write_script(
        &SeatScript::new().prepend(json!({"seat": "proposer", "phase": "propose", "text": speech})),
    );
    let command =
        env.debate_run("Well?", &["--rounds", "1", "--json"]).env("BILLING_API_KEY", secret);
    let output = command.expect_success();
    assert_redacted(&env, secret, &[&output.stdout, &output.stderr]);
}

#[test]
fn host_speech_is_redacted() {
    let env = repo_with_source();
    let secret = github_token(3);
    let mut host = env.mcp_client();
    let status = host.start_solo_debate(json!({"topic": "Well?"}));
    let turn = status["due"]["turn"].clone();
    let speech = speech_with_claim(&format!("Use {secret} for now."), "P1", &[]);
    let response = host.call_tool("continue_round", json!({"turn": turn, "speech": speech}));
    assert!(!response.to_string().contains(&secret), "{response:#}");
    assert!(response.to_string().contains("[REDACTED:github-token:"), "{response:#}");
    let error = host.expect_tool_error("show_debate", json!({"part": secret}));
    assert!(!error.contains(&secret), "{error}");
    assert_redacted(&env, &secret, &[]);
}

#[test]
fn redact_command_filters_stdin() {
    let env = repo_with_source();
    let (first_token, second_token) = (github_token(4), github_token(5));
    let text = format!("a {first_token}\nb {second_token}\nc {first_token} d\n");
    let output = env.debate(&["redact"]).stdin(&text).expect_success();
    assert!(
        !output.stdout.contains(&first_token) && !output.stdout.contains(&second_token),
        "{}",
        output.stdout
    );
    assert_eq!(output.stdout.lines().count(), 3);
    assert_eq!(placeholders(&output.stdout).len(), 2, "{}", output.stdout);
    assert!(output.stderr.contains("3 github-token"), "{}", output.stderr);
    let clean_text = "fn main() { println!(\"task-risk-assessment-of-2026\"); }\n";
    assert_eq!(env.debate(&["redact"]).stdin(clean_text).expect_success().stdout, clean_text);
}
