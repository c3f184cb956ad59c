//! Every format through the MCP server, with the host in a seat where the format has one for it.
use crate::mcp_test_client::McpTestClient;
use crate::scripted_replies::{ReplyLanguage, dialectic, research, tribunal};
use crate::test_env::{TestEnv, assert_contains_in_order, speech_with_claim, wait_until};
use serde_json::{Value, json};
use std::fs;

/// Polls until no seat is being run.
fn wait_until_idle(host: &mut McpTestClient, mut stands: Value) -> Value {
    while stands["status"] == "running" {
        stands = host.call_tool("continue_round", json!({"wait_seconds": 10}));
    }
    stands
}

fn send_decision(host: &mut McpTestClient, decision: &str, say: Option<&str>) -> Value {
    let mut call = json!({"decision": decision, "wait_seconds": 10});
    if let Some(say) = say {
        call["say"] = say.into();
    }
    let stands = host.call_tool("continue_round", call);
    wait_until_idle(host, stands)
}

#[test]
fn research_plan_can_be_changed_and_report_is_written() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&research(ReplyLanguage::English));
    let mut host = lab.mcp_client();
    let start = json!({"topic": "Is one file faster?", "format": "research", "wait_seconds": 10,
        "options": {"model": seat, "output_path": "report.md"}});
    let stands = host.call_tool("start_debate", start.clone());
    assert_eq!(stands["status"], "paused", "{stands:#}");
    let plan = stands["due"]["brief"].as_str().unwrap();
    assert_contains_in_order(
        plan,
        &["Topic: Is one file faster?", "Format: research", "Proponent", "Opponent"],
    );
    for part in ["Evidence round: on", "Calls: about 6", "personal-choice", "self"] {
        assert!(plan.contains(part), "no `{part}` in\n{plan}");
    }
    // A repeated call without a decision does not confirm the plan.
    let again = host.call_tool("continue_round", json!({}));
    assert_eq!(again["status"], "paused");
    let change = "goal=Which for us?, evidence_round=off, decision_type=team-standardization";
    let stands = send_decision(&mut host, "change", Some(change));
    let plan = stands["due"]["brief"].as_str().unwrap();
    for part in ["Evidence round: off", "Which for us?", "team-standardization"] {
        assert!(plan.contains(part), "no `{part}` in\n{plan}");
    }
    let stands = send_decision(&mut host, "confirm", None);
    assert_eq!(stands["status"], "completed", "{stands:#}");
    assert!(stands["result"].as_str().unwrap().contains("Take the first one."), "{stands:#}");
    assert!(stands.get("verdict").is_none(), "nobody wins: {stands:#}");
    let shown = host.call_tool("show_debate", json!({"part": "report"}));
    assert_contains_in_order(
        shown["text"].as_str().unwrap(),
        &["Debate Research Report", "Not requested"],
    );
    let file = lab.repo_root().join("report.md");
    wait_until("the report is written beside the answer", || file.exists());
    let report = fs::read_to_string(file).unwrap();
    assert!(report.contains("team-standardization") && report.contains("## Scenario Matrix"));
    // The output path must lie in the repository, be Markdown, and not exist yet.
    for path in ["../r.md", "/tmp/r.md", ".git/r.md", "report.md", "nowhere/r.md", "r.sh"] {
        let mut other = start.clone();
        other["options"]["output_path"] = path.into();
        let said = host.expect_tool_error("start_debate", other);
        assert!(said.contains(path) || said.contains("output_path"), "{path}: {said}");
    }
}

#[test]
fn cancelled_plan_aborts_the_debate() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&research(ReplyLanguage::English));
    let mut host = lab.mcp_client();
    let start = json!({"topic": "One file?", "format": "research", "options": {"model": seat}});
    host.call_tool("start_debate", start);
    let stands = send_decision(&mut host, "cancel", None);
    assert_eq!(stands["status"], "cancelled");
    let shown = lab.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!(shown["result"], "aborted");
    assert_eq!(shown["turns"], json!([]));
}

/// Replies to the host's due turn.
fn send_speech(host: &mut McpTestClient, stands: &Value, speech: &str) -> Value {
    let turn = &stands["due"]["turn"];
    assert_eq!(stands["status"], "your_turn", "{stands:#}");
    let stands = host.call_tool("continue_round", json!({"turn": turn, "speech": speech}));
    wait_until_idle(host, stands)
}

#[test]
fn host_leads_a_dialectic_and_the_user_steers() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&dialectic());
    let mut host = lab.mcp_client();
    let start = json!({"topic": "One file?", "format": "dialectic", "challenger": seat});
    let stands = host.call_tool("start_debate", start);
    let noted = |stands: &Value, words: &str| stands["notes"].to_string().contains(words);
    assert!(noted(&stands, "never carried out"), "{stands:#}");
    let stands = send_speech(&mut host, &stands, "I would use one file.");
    assert_eq!((&stands["status"], &stands["due"]["role"]), (&"paused".into(), &"user".into()));
    assert!(stands["next"].as_str().unwrap().contains("deepen"), "{stands:#}");
    let stands = send_decision(&mut host, "deepen", Some("locks"));
    assert!(stands["due"]["brief"].as_str().unwrap().contains("Go deeper on this: locks"));
    let stands = send_speech(&mut host, &stands, "Locks are short.");
    let stands_steered = send_decision(&mut host, "steer", Some("Many files?"));
    assert_eq!(stands["status"], "paused");
    assert!(stands_steered["due"]["brief"].as_str().unwrap().contains("Topic: Many files?"));
    send_speech(&mut host, &stands_steered, "Then many.");
    let stands = send_decision(&mut host, "end", None);
    let insights = "## Outcome\nconsensus\nYes.\n\n## Key Insights\n- Locks are short.";
    let wrong = host.expect_tool_error(
        "continue_round",
        json!({"turn": stands["due"]["turn"], "speech": "## Key Insights\n- None."}),
    );
    assert!(wrong.contains("consensus, partial or disagreement"), "{wrong}");
    let stands = send_speech(&mut host, &stands, insights);
    assert_eq!(stands["status"], "completed");
    assert!(stands["result"].as_str().unwrap().contains("consensus"), "{stands:#}");
    assert!(stands.get("verdict").is_none());
    host.call_tool("continue_round", json!({"say": "We use one file."}));
    let stands = send_decision(&mut host, "discard", None);
    assert!(noted(&stands, "We use one file.") && noted(&stands, "discarded"), "{stands:#}");
}

#[test]
fn dialectic_suggests_ending_after_ten_rounds() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&dialectic());
    let mut host = lab.mcp_client();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let stands = host.call_tool("start_debate", start);
    let mut stands = wait_until_idle(&mut host, stands);
    let suggests = |stands: &Value| stands["notes"].to_string().contains("rounds are over");
    for round in 1..=11 {
        assert_eq!(stands["status"], "paused", "{stands:#}");
        assert_eq!(suggests(&stands), round >= 10, "round {round}: {stands:#}");
        stands = send_decision(&mut host, "continue", None);
    }
    assert_eq!(stands["round"], 12, "it goes on for as long as the user likes");
}

#[test]
fn repeated_positions_get_a_common_ground_note() {
    let lab = TestEnv::new();
    let same = json!({"turns": [
        {"phase": "position", "text": "I would use one file, because locks are short and few."},
        {"phase": "respond", "text": "I would use one file, because locks are short and few."},
        {"phase": "challenge", "text": "But what if many processes want to write at once?"},
    ]});
    fs::write(lab.temp_path("same.json"), same.to_string()).unwrap();
    let seat = lab.script_seat("same.json");
    let mut host = lab.mcp_client();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let stands = host.call_tool("start_debate", start);
    let first = wait_until_idle(&mut host, stands);
    assert!(!first["notes"].to_string().contains("common ground"));
    let second = send_decision(&mut host, "continue", None);
    assert!(second["notes"].to_string().contains("common ground"), "{second:#}");
}

#[test]
fn host_votes_in_the_tribunal_audience() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(3));
    let mut host = lab.mcp_client();
    let start = json!({"topic": "One file?", "format": "tribunal", "rounds": 3, "proposer": seat,
        "challenger": seat, "judge": seat, "wait_seconds": 10,
        "options": {"pause": false, "same_judge": true,
            "listeners": [{"type": "risk-averse", "model": "host", "weight": 3},
                {"type": "rational-logic", "model": seat}]}});
    let refused = {
        let mut other = start.clone();
        other["options"]["same_judge"] = false.into();
        host.expect_tool_error("start_debate", other)
    };
    assert!(refused.contains("same_judge"), "{refused}");
    let stands = host.call_tool("start_debate", start);
    let stands = wait_until_idle(&mut host, stands);
    let brief = stands["due"]["brief"].as_str().unwrap();
    assert!(brief.contains("Side Pro") && !brief.contains("7.5"), "blind to marks: {brief}");
    let turn = &stands["due"]["turn"];
    let vote = "I vote con.";
    let said = host.expect_tool_error("continue_round", json!({"turn": turn, "speech": vote}));
    assert!(said.contains("JSON object"), "{said}");
    let vote =
        json!({"agent_id": "risk-averse", "vote": "con", "confidence": 0.6, "reason": "risk"});
    let stands =
        host.call_tool("continue_round", json!({"turn": turn, "speech": vote.to_string()}));
    assert_eq!(stands["status"], "completed", "{stands:#}");
    let verdict = &stands["verdict"];
    assert!(verdict["decided"].as_str().unwrap().contains("weighed together"), "{verdict:#}");
    let shown = lab.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!(shown["verdict"]["weighed"]["audience"], 2500);
}

#[test]
fn progress_contains_the_streamed_text() {
    let lab = TestEnv::new();
    let words = "word ".repeat(60);
    let slow = json!({"turns": [
        {"phase": "position", "text": words, "delay_ms": 2600},
        {"phase": "challenge", "text": "But why?"},
    ]});
    fs::write(lab.temp_path("slow.json"), slow.to_string()).unwrap();
    let seat = lab.script_seat("slow.json");
    let mut host = lab.mcp_client();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let stands = host.call_tool("start_debate", start);
    assert_eq!(stands["status"], "paused", "{stands:#}");
    let told = progress_messages(host);
    assert!(told.iter().any(|told| told.contains("word word")), "{told:#?}");
}

/// Messages of all progress notifications the client received.
fn progress_messages(host: McpTestClient) -> Vec<String> {
    let (_, aside) = host.disconnect();
    let progress = aside.iter().filter(|line| line["method"] == "notifications/progress");
    progress.map(|line| line["params"]["message"].to_string()).collect()
}

/// A wait that begins in the middle of a turn must not stream the claims block as speech.
#[test]
fn progress_after_a_late_wait_omits_the_claims_block() {
    let lab = TestEnv::new();
    let long =
        speech_with_claim(&"word ".repeat(20), "P1", &[]).replace("holds.", &"holds ".repeat(200));
    let slow = json!({"turns": [
        {"phase": "propose", "text": long, "delay_ms": 4000},
        {"phase": "challenge", "text": speech_with_claim("But why?", "C1", &["P1"])},
    ]});
    fs::write(lab.temp_path("slow.json"), slow.to_string()).unwrap();
    let seat = lab.script_seat("slow.json");
    let mut host = lab.mcp_client();
    let mut stands = host.call_tool(
        "start_debate",
        json!({"topic": "One file?", "proposer": seat, "challenger": seat, "judge": seat, "rounds": 1,
            "wait_seconds": 1}),
    );
    while stands["status"] == "running" {
        stands = host.call_tool("continue_round", json!({"wait_seconds": 1}));
    }
    let told = progress_messages(host);
    assert!(told.iter().any(|told| told.contains("word word")), "{told:#?}");
    assert!(!told.iter().any(|told| told.contains("holds")), "{told:#?}");
}
