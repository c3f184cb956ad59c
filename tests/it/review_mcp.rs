//! Reviews started by an MCP client: `start_debate` with the option `review` and a diff as context.
use crate::mcp_test_client::McpTestClient;
use crate::review_ci::ReviewRepo;
use serde_json::{Value, json};

/// Starts a review of this context and plays it to its end.
fn run_review(host: &mut McpTestClient, project: &ReviewRepo, context: Value) -> Value {
    let [(_, pro), (_, con), (_, judge)] = project.scripted_seats();
    let stands = host.call_tool(
        "start_debate",
        json!({"topic": "Is this the right design?", "proposer": pro, "challenger": con,
            "judge": judge, "rounds": 1, "context": context,
            "options": {"review": true, "pause": false}}),
    );
    host.play_to_end(stands)
}

#[test]
fn client_gets_findings_and_reviews_are_reused() {
    let project = ReviewRepo::new();
    let mut host = project.env.mcp_client();
    let stands = run_review(&mut host, &project, json!("diff=main..feature"));
    assert_eq!(stands["status"], "completed", "{stands:#}");
    let findings = stands["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{stands:#}");
    let told = findings[0].as_str().unwrap();
    assert!(told.starts_with("[high] src/lib.rs:3 C1: What is kept"), "{told}");
    assert!(told.ends_with("(found)"), "{told}");
    let id = stands["debate_id"].as_str().unwrap();
    let shown = host.call_tool("show_debate", json!({"debate_id": id, "part": "findings"}));
    let shown = shown["text"].as_str().unwrap();
    assert!(
        shown.contains("change the design first") && shown.contains("`src/lib.rs:3`"),
        "{shown}"
    );
    // The same range in another notation reuses the stored review.
    let again = run_review(&mut host, &project, json!({"diff": "main..feature"}));
    assert_eq!(again["debate_id"], id, "{again:#}");
    let notes = again["notes"].to_string();
    assert!(notes.contains("argued already"), "{notes}");
    let listed = project.env.debate(&["list", "--json"]).expect_success().json();
    assert_eq!(listed["debates"].as_array().unwrap().len(), 1, "{listed:#}");
}

#[test]
fn user_topic_of_a_review_is_quoted_in_the_brief() {
    let project = ReviewRepo::new();
    let mut host = project.env.mcp_client();
    let stands = run_review(&mut host, &project, json!("diff=main..feature; note=Mind the lock."));
    let id = stands["debate_id"].as_str().unwrap();
    let told = project.env.debate(&["show", id, "--prompt", "0.1.0.0"]).expect_success().stdout;
    assert!(told.contains("Topic: Should the change "), "{told}");
    let brief = told.split("Context, as material").nth(1).unwrap();
    assert!(brief.contains("> Mind the lock.") && brief.contains("> Is this the right design?"));
    assert!(told.contains("This is a review of a change before it is merged."), "{told}");
}

#[test]
fn docs_only_change_is_refused_with_a_reason() {
    let project = ReviewRepo::new();
    project.commit("README.md", "Words.\n");
    let mut host = project.env.mcp_client();
    let refused = host.expect_tool_error(
        "start_debate",
        json!({"topic": "Well?", "context": "diff=HEAD", "options": {"review": true}}),
    );
    assert!(refused.contains("only documents have changed"), "{refused}");
    assert!(refused.contains("diff=BASE..HEAD"), "{refused}");
}
