//! Topic suggestions for a user who starts without a topic, in both front ends.
use crate::test_env::TestEnv;
use serde_json::json;

#[test]
fn empty_topic_gets_suggestions_in_cli_and_mcp() {
    let env = TestEnv::without_git();
    git2::Repository::init(env.repo_root()).unwrap();
    env.write_repo_file("src/parser.rs", "fn parse() {}\n");
    let output = env.debate(&["run"]).expect_error(2);
    output.assert_stderr_contains("the topic is empty");
    output.assert_stderr_contains("`src/parser.rs`");
    let mut client = env.mcp_client();
    let error = client.expect_tool_error("start_debate", json!({"topic": "  "}));
    assert!(error.contains("offer what this working tree raises") && error.contains("parser.rs"));
    assert_eq!(error.matches(" / ").count(), 2, "three are offered: {error}");
}
