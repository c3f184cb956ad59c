//! Reviews started by an MCP client: `start_debate` with the option `review` and a diff as context.
use crate::host::Host;
use crate::review_ci::Project;
use serde_json::{Value, json};

/// Starts a review of this context and plays it to its end.
fn reviewed(host: &mut Host, project: &Project, context: Value) -> Value {
    let [(_, pro), (_, con), (_, judge)] = project.seats();
    let stands = host.call(
        "start_debate",
        json!({"topic": "Is this the right design?", "proposer": pro, "challenger": con,
            "judge": judge, "rounds": 1, "context": context,
            "options": {"review": true, "pause": false}}),
    );
    host.play_on(stands)
}

#[test]
fn a_client_gets_findings_and_the_same_change_is_argued_once() {
    let project = Project::new();
    let mut host = project.lab.host();
    let stands = reviewed(&mut host, &project, json!("diff=main..feature"));
    assert_eq!(stands["status"], "completed", "{stands:#}");
    let findings = stands["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{stands:#}");
    let told = findings[0].as_str().unwrap();
    assert!(told.starts_with("[high] src/lib.rs:3 C1: What is kept"), "{told}");
    assert!(told.ends_with("(found)"), "{told}");
    let id = stands["debate_id"].as_str().unwrap();
    let shown = host.call("show_debate", json!({"debate_id": id, "part": "findings"}));
    let shown = shown["text"].as_str().unwrap();
    assert!(
        shown.contains("change the design first") && shown.contains("`src/lib.rs:3`"),
        "{shown}"
    );
    // The same range in another notation reuses the stored review.
    let again = reviewed(&mut host, &project, json!({"diff": "main..feature"}));
    assert_eq!(again["debate_id"], id, "{again:#}");
    let notes = again["notes"].to_string();
    assert!(notes.contains("argued already"), "{notes}");
    let listed = project.lab.debate(&["list", "--json"]).success().json();
    assert_eq!(listed["debates"].as_array().unwrap().len(), 1, "{listed:#}");
}

#[test]
fn what_the_user_wants_to_know_goes_along_and_the_question_is_ours() {
    let project = Project::new();
    let mut host = project.lab.host();
    let stands = reviewed(&mut host, &project, json!("diff=main..feature; note=Mind the lock."));
    let id = stands["debate_id"].as_str().unwrap();
    let told = project.lab.debate(&["show", id, "--prompt", "0.1.0.0"]).success().out;
    assert!(told.contains("Topic: Should the change "), "{told}");
    let brief = told.split("Context, as material").nth(1).unwrap();
    assert!(brief.contains("> Mind the lock.") && brief.contains("> Is this the right design?"));
    assert!(told.contains("This is a review of a change before it is merged."), "{told}");
}

#[test]
fn a_change_with_nothing_to_argue_about_is_a_clear_answer() {
    let project = Project::new();
    project.commit("README.md", "Words.\n");
    let mut host = project.lab.host();
    let refused = host.fails(
        "start_debate",
        json!({"topic": "Well?", "context": "diff=HEAD", "options": {"review": true}}),
    );
    assert!(refused.contains("only documents have changed"), "{refused}");
    assert!(refused.contains("diff=BASE..HEAD"), "{refused}");
}
