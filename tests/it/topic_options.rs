//! Topic options in both front ends.

#[test]
fn topic_options_work_in_cli_and_mcp_and_flags_win() {
    let env = crate::test_env::TestEnv::new();
    let output =
        env.debate_run("thoroughly, 1 round, about one file", &["--json"]).expect_success();
    output.assert_stderr_contains(
        "[INFO] Understood: rounds 1, effort high; the question is: one file",
    );
    let view = output.json();
    assert_eq!((&view["topic"], &view["effort"]), (&"one file".into(), &"high".into()));
    assert_eq!(view["rounds_completed"], 1);
    let output = env
        .debate_run("thoroughly, 1 round, about it", &["--json", "--effort", "low"])
        .expect_success();
    output.assert_stderr_contains("[INFO] Understood: rounds 1; the question is: it");
    assert_eq!(output.json()["effort"], "low");
    let mut client = env.mcp_client();
    let topic = "3 rounds, quick, about two files";
    let result = client.call_tool(
        "start_debate",
        serde_json::json!({"topic": topic, "proposer": "host",
        "challenger": "host", "judge": "host", "effort": "max"}),
    );
    assert_eq!(result["rounds"], 3);
    let notes = result["notes"].to_string();
    assert!(
        notes.contains("understood from the topic: rounds 3; the question is: two files"),
        "{notes}"
    );
    let last_debate = env.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!(
        (&last_debate["topic"], &last_debate["effort"]),
        (&"two files".into(), &"max".into())
    );
}
