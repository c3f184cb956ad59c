//! Log lines of `DEBATE_LOG`: what happens in a debate, with fields, and no text of a prompt or reply.
use super::test_env::{TestEnv, assert_contains_in_order};

#[test]
fn debug_log_tells_what_happens_without_prompt_or_reply_text() {
    let env = TestEnv::new();
    let topic = "Should the quorble stay?";
    let command = env.debate_run(topic, &["--rounds", "1"]).env("DEBATE_LOG", "debug");
    let output = command.expect_success();
    assert_contains_in_order(
        &output.stderr,
        &[
            "program started",
            "lease acquired",
            "debate opened",
            "prompt sent",
            "event appended",
            "turn answered",
            "debate finished",
            "lease released",
        ],
    );
    let id = env.latest_debate_id();
    let log: Vec<&str> =
        output.stderr.lines().filter(|line| line.contains("debate_mcp::")).collect();
    assert!(log.iter().any(|line| line.contains(&format!("debate={id}"))), "{log:#?}");
    assert!(log.iter().any(|line| line.contains("INFO")), "{log:#?}");
    // The name of the exported record contains the topic.
    for line in log.iter().filter(|line| !line.contains("export written")) {
        assert!(!line.contains("quorble"), "prompt text in a log line: {line}");
    }
}

#[test]
fn default_log_level_prints_no_log_lines_and_an_unknown_level_warns() {
    let env = TestEnv::new();
    let output = env.debate_run("Tabs or spaces?", &["--rounds", "1"]).expect_success();
    assert!(!output.stderr.contains("debate_mcp::"), "{}", output.stderr);
    let output = env.debate(&["list"]).env("DEBATE_LOG", "loud").expect_success();
    output.assert_stderr_contains("use error, warn, info, debug or trace");
}
