//! Reviews started by an MCP client: `start_debate` with the option `review` and a diff as context.
use crate::mcp_test_client::McpTestClient;
use crate::review_ci::ReviewRepo;
use serde_json::{Value, json};

/// Starts a review of this context and plays it to its end.
fn run_review(client: &mut McpTestClient, project: &ReviewRepo, context: Value) -> Value {
    let [(_, pro), (_, con), (_, judge)] = project.scripted_seats();
    let result = client.call_tool(
        "start_debate",
        json!({"topic": "Is this the right design?", "proposer": pro, "challenger": con,
            "judge": judge, "rounds": 1, "context": context,
            "options": {"review": true, "pause": false}}),
    );
    client.play_to_end(result)
}

#[test]
fn client_gets_findings_and_reviews_are_reused() {
    let project = ReviewRepo::new();
    let mut client = project.env.mcp_client();
    let result = run_review(&mut client, &project, json!("diff=main..feature"));
    assert_eq!(result["status"], "completed", "{result:#}");
    let findings = result["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{result:#}");
    let finding = findings[0].as_str().unwrap();
    assert!(finding.starts_with("[high] src/lib.rs:3 C1: What is kept"), "{finding}");
    assert!(finding.ends_with("(found)"), "{finding}");
    let id = result["debate_id"].as_str().unwrap();
    let findings_text =
        client.call_tool("show_debate", json!({"debate_id": id, "part": "findings"}));
    let findings_text = findings_text["text"].as_str().unwrap();
    assert!(
        findings_text.contains("change the design first")
            && findings_text.contains("`src/lib.rs:3`"),
        "{findings_text}"
    );
    // The same range in another notation reuses the stored review.
    let second_result = run_review(&mut client, &project, json!({"diff": "main..feature"}));
    assert_eq!(second_result["debate_id"], id, "{second_result:#}");
    let notes = second_result["notes"].to_string();
    assert!(notes.contains("argued already"), "{notes}");
    let listing = project.env.debate(&["list", "--json"]).expect_success().json();
    assert_eq!(listing["debates"].as_array().unwrap().len(), 1, "{listing:#}");
}

#[test]
fn user_topic_of_a_review_is_quoted_in_the_brief() {
    let project = ReviewRepo::new();
    let mut client = project.env.mcp_client();
    let result =
        run_review(&mut client, &project, json!("diff=main..feature; note=Mind the lock."));
    let id = result["debate_id"].as_str().unwrap();
    let prompt = project.env.debate(&["show", id, "--prompt", "0.1.0.0"]).expect_success().stdout;
    assert!(prompt.contains("Topic: Should the change "), "{prompt}");
    let brief = prompt.split("Context, as material").nth(1).unwrap();
    assert!(brief.contains("> Mind the lock.") && brief.contains("> Is this the right design?"));
    assert!(prompt.contains("This is a review of a change before it is merged."), "{prompt}");
}

#[test]
fn docs_only_change_is_refused_with_a_reason() {
    let project = ReviewRepo::new();
    project.commit("README.md", "Words.\n");
    let mut client = project.env.mcp_client();
    let error = client.expect_tool_error(
        "start_debate",
        json!({"topic": "Well?", "context": "diff=HEAD", "options": {"review": true}}),
    );
    assert!(error.contains("only documents have changed"), "{error}");
    assert!(error.contains("diff=BASE..HEAD"), "{error}");
}

#[test]
fn options_in_the_topic_of_a_review_are_understood() {
    let project = ReviewRepo::new();
    let mut client = project.env.mcp_client();
    let [(_, pro), (_, con), (_, judge)] = project.scripted_seats();
    let result = client.call_tool(
        "start_debate",
        json!({"topic": "1 round, thoroughly, about the lock", "proposer": pro, "challenger": con,
            "judge": judge, "context": "diff=main..feature",
            "options": {"review": true, "pause": false}}),
    );
    let notes = result["notes"].to_string();
    assert!(notes.contains("understood from the topic: rounds 1, effort high"), "{notes}");
    let result = client.play_to_end(result);
    let id = result["debate_id"].as_str().unwrap();
    let prompt = project.env.debate(&["show", id, "--prompt", "0.1.0.0"]).expect_success().stdout;
    assert!(prompt.contains("> the lock") && !prompt.contains("thoroughly"), "{prompt}");
}
