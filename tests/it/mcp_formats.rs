//! Every format through the MCP server, with the host in a seat where the format has one for it.
use crate::mcp_test_client::McpTestClient;
use crate::scripted_replies::{ReplyLanguage, dialectic, research, tribunal};
use crate::test_env::{TestEnv, assert_contains_in_order, speech_with_claim, wait_until};
use serde_json::{Value, json};
use std::fs;

/// Polls until no seat is being run.
fn wait_until_idle(host: &mut McpTestClient, mut result: Value) -> Value {
    while result["status"] == "running" {
        result = host.call_tool("continue_round", json!({"wait_seconds": 10}));
    }
    result
}

fn send_decision(host: &mut McpTestClient, decision: &str, say: Option<&str>) -> Value {
    let mut call = json!({"decision": decision, "wait_seconds": 10});
    if let Some(say) = say {
        call["say"] = say.into();
    }
    let result = host.call_tool("continue_round", call);
    wait_until_idle(host, result)
}

#[test]
fn research_plan_can_be_changed_and_report_is_written() {
    let env = TestEnv::new();
    let seat = env.write_replies(&research(ReplyLanguage::English));
    let mut host = env.mcp_client();
    let start = json!({"topic": "Is one file faster?", "format": "research", "wait_seconds": 10,
        "options": {"model": seat, "output_path": "report.md"}});
    let result = host.call_tool("start_debate", start.clone());
    assert_eq!(result["status"], "paused", "{result:#}");
    let plan = result["due"]["brief"].as_str().unwrap();
    assert_contains_in_order(
        plan,
        &["Topic: Is one file faster?", "Format: research", "Proponent", "Opponent"],
    );
    for part in ["Evidence round: on", "Calls: about 6", "personal-choice", "self"] {
        assert!(plan.contains(part), "no `{part}` in\n{plan}");
    }
    // A repeated call without a decision does not confirm the plan.
    let unconfirmed = host.call_tool("continue_round", json!({}));
    assert_eq!(unconfirmed["status"], "paused");
    let change = "goal=Which for us?, evidence_round=off, decision_type=team-standardization";
    let result = send_decision(&mut host, "change", Some(change));
    let plan = result["due"]["brief"].as_str().unwrap();
    for part in ["Evidence round: off", "Which for us?", "team-standardization"] {
        assert!(plan.contains(part), "no `{part}` in\n{plan}");
    }
    let result = send_decision(&mut host, "confirm", None);
    assert_eq!(result["status"], "completed", "{result:#}");
    assert!(result["result"].as_str().unwrap().contains("Take the first one."), "{result:#}");
    assert!(result.get("verdict").is_none(), "nobody wins: {result:#}");
    let shown = host.call_tool("show_debate", json!({"part": "report"}));
    assert_contains_in_order(
        shown["text"].as_str().unwrap(),
        &["Debate Research Report", "Not requested"],
    );
    let file = env.repo_root().join("report.md");
    wait_until("the report file is written", || file.exists());
    let report = fs::read_to_string(file).unwrap();
    assert!(report.contains("team-standardization") && report.contains("## Scenario Matrix"));
    // The output path must lie in the repository, be Markdown, and not exist yet.
    for path in ["../r.md", "/tmp/r.md", ".git/r.md", "report.md", "nowhere/r.md", "r.sh"] {
        let mut other_start = start.clone();
        other_start["options"]["output_path"] = path.into();
        let error = host.expect_tool_error("start_debate", other_start);
        assert!(error.contains(path) || error.contains("output_path"), "{path}: {error}");
    }
}

#[test]
fn cancelled_plan_aborts_the_debate() {
    let env = TestEnv::new();
    let seat = env.write_replies(&research(ReplyLanguage::English));
    let mut host = env.mcp_client();
    let start = json!({"topic": "One file?", "format": "research", "options": {"model": seat}});
    host.call_tool("start_debate", start);
    let result = send_decision(&mut host, "cancel", None);
    assert_eq!(result["status"], "cancelled");
    let shown = env.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!(shown["result"], "aborted");
    assert_eq!(shown["turns"], json!([]));
}

/// Replies to the host's due turn.
fn send_speech(host: &mut McpTestClient, result: &Value, speech: &str) -> Value {
    let turn = &result["due"]["turn"];
    assert_eq!(result["status"], "your_turn", "{result:#}");
    let result = host.call_tool("continue_round", json!({"turn": turn, "speech": speech}));
    wait_until_idle(host, result)
}

#[test]
fn host_leads_a_dialectic_and_the_user_steers() {
    let env = TestEnv::new();
    let seat = env.write_replies(&dialectic());
    let mut host = env.mcp_client();
    let start = json!({"topic": "One file?", "format": "dialectic", "challenger": seat});
    let result = host.call_tool("start_debate", start);
    let has_note = |result: &Value, words: &str| result["notes"].to_string().contains(words);
    assert!(has_note(&result, "never carried out"), "{result:#}");
    let result = send_speech(&mut host, &result, "I would use one file.");
    assert_eq!((&result["status"], &result["due"]["role"]), (&"paused".into(), &"user".into()));
    assert!(result["next"].as_str().unwrap().contains("deepen"), "{result:#}");
    let result = send_decision(&mut host, "deepen", Some("locks"));
    assert!(result["due"]["brief"].as_str().unwrap().contains("Go deeper on this: locks"));
    let result = send_speech(&mut host, &result, "Locks are short.");
    let steered = send_decision(&mut host, "steer", Some("Many files?"));
    assert_eq!(result["status"], "paused");
    assert!(steered["due"]["brief"].as_str().unwrap().contains("Topic: Many files?"));
    send_speech(&mut host, &steered, "Then many.");
    let result = send_decision(&mut host, "end", None);
    let insights = "## Outcome\nconsensus\nYes.\n\n## Key Insights\n- Locks are short.";
    let error = host.expect_tool_error(
        "continue_round",
        json!({"turn": result["due"]["turn"], "speech": "## Key Insights\n- None."}),
    );
    assert!(error.contains("consensus, partial or disagreement"), "{error}");
    let result = send_speech(&mut host, &result, insights);
    assert_eq!(result["status"], "completed");
    assert!(result["result"].as_str().unwrap().contains("consensus"), "{result:#}");
    assert!(result.get("verdict").is_none());
    host.call_tool("continue_round", json!({"say": "We use one file."}));
    let result = send_decision(&mut host, "discard", None);
    assert!(has_note(&result, "We use one file.") && has_note(&result, "discarded"), "{result:#}");
}

#[test]
fn dialectic_suggests_ending_after_ten_rounds() {
    let env = TestEnv::new();
    let seat = env.write_replies(&dialectic());
    let mut host = env.mcp_client();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let result = host.call_tool("start_debate", start);
    let mut result = wait_until_idle(&mut host, result);
    let suggests = |result: &Value| result["notes"].to_string().contains("rounds are over");
    for round in 1..=11 {
        assert_eq!(result["status"], "paused", "{result:#}");
        assert_eq!(suggests(&result), round >= 10, "round {round}: {result:#}");
        result = send_decision(&mut host, "continue", None);
    }
    assert_eq!(result["round"], 12, "it continues until the user ends it");
}

#[test]
fn repeated_positions_get_a_common_ground_note() {
    let env = TestEnv::new();
    let script = json!({"turns": [
        {"phase": "position", "text": "I would use one file, because locks are short and few."},
        {"phase": "respond", "text": "I would use one file, because locks are short and few."},
        {"phase": "challenge", "text": "But what if many processes want to write at once?"},
    ]});
    fs::write(env.temp_path("same.json"), script.to_string()).unwrap();
    let seat = env.script_seat("same.json");
    let mut host = env.mcp_client();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let result = host.call_tool("start_debate", start);
    let first = wait_until_idle(&mut host, result);
    assert!(!first["notes"].to_string().contains("common ground"));
    let second = send_decision(&mut host, "continue", None);
    assert!(second["notes"].to_string().contains("common ground"), "{second:#}");
}

#[test]
fn host_votes_in_the_tribunal_audience() {
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(3));
    let mut host = env.mcp_client();
    let start = json!({"topic": "One file?", "format": "tribunal", "rounds": 3, "proposer": seat,
        "challenger": seat, "judge": seat, "wait_seconds": 10,
        "options": {"pause": false, "same_judge": true,
            "listeners": [{"type": "risk-averse", "model": "host", "weight": 3},
                {"type": "rational-logic", "model": seat}]}});
    let refusal = {
        let mut other_start = start.clone();
        other_start["options"]["same_judge"] = false.into();
        host.expect_tool_error("start_debate", other_start)
    };
    assert!(refusal.contains("same_judge"), "{refusal}");
    let result = host.call_tool("start_debate", start);
    let result = wait_until_idle(&mut host, result);
    let brief = result["due"]["brief"].as_str().unwrap();
    assert!(brief.contains("Side Pro") && !brief.contains("7.5"), "blind to marks: {brief}");
    let turn = &result["due"]["turn"];
    let vote = "I vote con.";
    let error = host.expect_tool_error("continue_round", json!({"turn": turn, "speech": vote}));
    assert!(error.contains("JSON object"), "{error}");
    let vote =
        json!({"agent_id": "risk-averse", "vote": "con", "confidence": 0.6, "reason": "risk"});
    let result =
        host.call_tool("continue_round", json!({"turn": turn, "speech": vote.to_string()}));
    assert_eq!(result["status"], "completed", "{result:#}");
    let verdict = &result["verdict"];
    assert!(verdict["decided"].as_str().unwrap().contains("weighed together"), "{verdict:#}");
    let shown = env.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!(shown["verdict"]["weighed"]["audience"], 2500);
}

#[test]
fn progress_contains_the_streamed_text() {
    let env = TestEnv::new();
    let words = "word ".repeat(60);
    let slow = json!({"turns": [
        {"phase": "position", "text": words, "delay_ms": 2600},
        {"phase": "challenge", "text": "But why?"},
    ]});
    fs::write(env.temp_path("slow.json"), slow.to_string()).unwrap();
    let seat = env.script_seat("slow.json");
    let mut host = env.mcp_client();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let result = host.call_tool("start_debate", start);
    assert_eq!(result["status"], "paused", "{result:#}");
    let progress = progress_messages(host);
    assert!(progress.iter().any(|progress| progress.contains("word word")), "{progress:#?}");
}

/// Messages of all progress notifications the client received.
fn progress_messages(host: McpTestClient) -> Vec<String> {
    let (_, notifications) = host.disconnect();
    let progress =
        notifications.iter().filter(|message| message["method"] == "notifications/progress");
    progress.map(|message| message["params"]["message"].to_string()).collect()
}

/// A wait that begins in the middle of a turn must not stream the claims block as speech.
#[test]
fn progress_after_a_late_wait_omits_the_claims_block() {
    let env = TestEnv::new();
    let long =
        speech_with_claim(&"word ".repeat(20), "P1", &[]).replace("holds.", &"holds ".repeat(200));
    let slow = json!({"turns": [
        {"phase": "propose", "text": long, "delay_ms": 4000},
        {"phase": "challenge", "text": speech_with_claim("But why?", "C1", &["P1"])},
    ]});
    fs::write(env.temp_path("slow.json"), slow.to_string()).unwrap();
    let seat = env.script_seat("slow.json");
    let mut host = env.mcp_client();
    let mut result = host.call_tool(
        "start_debate",
        json!({"topic": "One file?", "proposer": seat, "challenger": seat, "judge": seat, "rounds": 1,
            "wait_seconds": 1}),
    );
    while result["status"] == "running" {
        result = host.call_tool("continue_round", json!({"wait_seconds": 1}));
    }
    let progress = progress_messages(host);
    assert!(progress.iter().any(|progress| progress.contains("word word")), "{progress:#?}");
    assert!(!progress.iter().any(|progress| progress.contains("holds")), "{progress:#?}");
}
