//! Every format through the MCP server, with the host in a seat where the format has one for it.
use crate::casts::{Tongue, dialectic, research, tribunal};
use crate::host::Host;
use crate::lab::{Lab, in_order, speech, until};
use serde_json::{Value, json};
use std::fs;

/// Polls until no seat is being run.
fn wait(host: &mut Host, mut stands: Value) -> Value {
    while stands["status"] == "running" {
        stands = host.call("continue_round", json!({"wait_seconds": 10}));
    }
    stands
}

fn decide(host: &mut Host, decision: &str, say: Option<&str>) -> Value {
    let mut call = json!({"decision": decision, "wait_seconds": 10});
    if let Some(say) = say {
        call["say"] = say.into();
    }
    let stands = host.call("continue_round", call);
    wait(host, stands)
}

#[test]
fn a_research_waits_for_its_plan_can_be_changed_and_is_reported() {
    let lab = Lab::new();
    let seat = lab.cast(&research(Tongue::English));
    let mut host = lab.host();
    let start = json!({"topic": "Is one file faster?", "format": "research", "wait_seconds": 10,
        "options": {"model": seat, "output_path": "report.md"}});
    let stands = host.call("start_debate", start.clone());
    assert_eq!(stands["status"], "paused", "{stands:#}");
    let plan = stands["due"]["brief"].as_str().unwrap();
    in_order(plan, &["Topic: Is one file faster?", "Format: research", "Proponent", "Opponent"]);
    for part in ["Evidence round: on", "Calls: about 6", "personal-choice", "self"] {
        assert!(plan.contains(part), "no `{part}` in\n{plan}");
    }
    // A repeated call without a decision does not confirm the plan.
    let again = host.call("continue_round", json!({}));
    assert_eq!(again["status"], "paused");
    let change = "goal=Which for us?, evidence_round=off, decision_type=team-standardization";
    let stands = decide(&mut host, "change", Some(change));
    let plan = stands["due"]["brief"].as_str().unwrap();
    for part in ["Evidence round: off", "Which for us?", "team-standardization"] {
        assert!(plan.contains(part), "no `{part}` in\n{plan}");
    }
    let stands = decide(&mut host, "confirm", None);
    assert_eq!(stands["status"], "completed", "{stands:#}");
    assert!(stands["result"].as_str().unwrap().contains("Take the first one."), "{stands:#}");
    assert!(stands.get("verdict").is_none(), "nobody wins: {stands:#}");
    let shown = host.call("show_debate", json!({"part": "report"}));
    in_order(shown["text"].as_str().unwrap(), &["Debate Research Report", "Not requested"]);
    let file = lab.root().join("report.md");
    until("the report is written beside the answer", || file.exists());
    let report = fs::read_to_string(file).unwrap();
    assert!(report.contains("team-standardization") && report.contains("## Scenario Matrix"));
    // The output path must lie in the repository, be Markdown, and not exist yet.
    for path in ["../r.md", "/tmp/r.md", ".git/r.md", "report.md", "nowhere/r.md", "r.sh"] {
        let mut other = start.clone();
        other["options"]["output_path"] = path.into();
        let said = host.fails("start_debate", other);
        assert!(said.contains(path) || said.contains("output_path"), "{path}: {said}");
    }
}

#[test]
fn a_plan_that_is_cancelled_is_aborted() {
    let lab = Lab::new();
    let seat = lab.cast(&research(Tongue::English));
    let mut host = lab.host();
    let start = json!({"topic": "One file?", "format": "research", "options": {"model": seat}});
    host.call("start_debate", start);
    let stands = decide(&mut host, "cancel", None);
    assert_eq!(stands["status"], "cancelled");
    let shown = lab.debate(&["show", "last", "--json"]).success().json();
    assert_eq!(shown["result"], "aborted");
    assert_eq!(shown["turns"], json!([]));
}

/// Replies to the host's due turn.
fn speak(host: &mut Host, stands: &Value, speech: &str) -> Value {
    let turn = &stands["due"]["turn"];
    assert_eq!(stands["status"], "your_turn", "{stands:#}");
    let stands = host.call("continue_round", json!({"turn": turn, "speech": speech}));
    wait(host, stands)
}

#[test]
fn the_host_leads_a_conversation_that_the_user_steers() {
    let lab = Lab::new();
    let seat = lab.cast(&dialectic());
    let mut host = lab.host();
    let start = json!({"topic": "One file?", "format": "dialectic", "challenger": seat});
    let stands = host.call("start_debate", start);
    let noted = |stands: &Value, words: &str| stands["notes"].to_string().contains(words);
    assert!(noted(&stands, "never carried out"), "{stands:#}");
    let stands = speak(&mut host, &stands, "I would use one file.");
    assert_eq!((&stands["status"], &stands["due"]["role"]), (&"paused".into(), &"user".into()));
    assert!(stands["next"].as_str().unwrap().contains("deepen"), "{stands:#}");
    let stands = decide(&mut host, "deepen", Some("locks"));
    assert!(stands["due"]["brief"].as_str().unwrap().contains("Go deeper on this: locks"));
    let stands = speak(&mut host, &stands, "Locks are short.");
    let stands_steered = decide(&mut host, "steer", Some("Many files?"));
    assert_eq!(stands["status"], "paused");
    assert!(stands_steered["due"]["brief"].as_str().unwrap().contains("Topic: Many files?"));
    speak(&mut host, &stands_steered, "Then many.");
    let stands = decide(&mut host, "end", None);
    let insights = "## Outcome\nconsensus\nYes.\n\n## Key Insights\n- Locks are short.";
    let wrong = host.fails(
        "continue_round",
        json!({"turn": stands["due"]["turn"], "speech": "## Key Insights\n- None."}),
    );
    assert!(wrong.contains("consensus, partial or disagreement"), "{wrong}");
    let stands = speak(&mut host, &stands, insights);
    assert_eq!(stands["status"], "completed");
    assert!(stands["result"].as_str().unwrap().contains("consensus"), "{stands:#}");
    assert!(stands.get("verdict").is_none());
    host.call("continue_round", json!({"say": "We use one file."}));
    let stands = decide(&mut host, "discard", None);
    assert!(noted(&stands, "We use one file.") && noted(&stands, "discarded"), "{stands:#}");
}

#[test]
fn after_ten_rounds_every_answer_suggests_to_sum_up_and_nothing_forces_it() {
    let lab = Lab::new();
    let seat = lab.cast(&dialectic());
    let mut host = lab.host();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let stands = host.call("start_debate", start);
    let mut stands = wait(&mut host, stands);
    let suggests = |stands: &Value| stands["notes"].to_string().contains("rounds are over");
    for round in 1..=11 {
        assert_eq!(stands["status"], "paused", "{stands:#}");
        assert_eq!(suggests(&stands), round >= 10, "round {round}: {stands:#}");
        stands = decide(&mut host, "continue", None);
    }
    assert_eq!(stands["round"], 12, "it goes on for as long as the user likes");
}

#[test]
fn when_both_only_repeat_themselves_a_way_out_is_offered() {
    let lab = Lab::new();
    let same = json!({"turns": [
        {"phase": "position", "text": "I would use one file, because locks are short and few."},
        {"phase": "respond", "text": "I would use one file, because locks are short and few."},
        {"phase": "challenge", "text": "But what if many processes want to write at once?"},
    ]});
    fs::write(lab.outside("same.json"), same.to_string()).unwrap();
    let seat = lab.seat("same.json");
    let mut host = lab.host();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let stands = host.call("start_debate", start);
    let first = wait(&mut host, stands);
    assert!(!first["notes"].to_string().contains("common ground"));
    let second = decide(&mut host, "continue", None);
    assert!(second["notes"].to_string().contains("common ground"), "{second:#}");
}

#[test]
fn a_court_is_watched_and_the_host_votes() {
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(3));
    let mut host = lab.host();
    let start = json!({"topic": "One file?", "format": "tribunal", "rounds": 3, "proposer": seat,
        "challenger": seat, "judge": seat, "wait_seconds": 10,
        "options": {"pause": false, "same_judge": true,
            "listeners": [{"type": "risk-averse", "model": "host", "weight": 3},
                {"type": "rational-logic", "model": seat}]}});
    let refused = {
        let mut other = start.clone();
        other["options"]["same_judge"] = false.into();
        host.fails("start_debate", other)
    };
    assert!(refused.contains("same_judge"), "{refused}");
    let stands = host.call("start_debate", start);
    let stands = wait(&mut host, stands);
    let brief = stands["due"]["brief"].as_str().unwrap();
    assert!(brief.contains("Side Pro") && !brief.contains("7.5"), "blind to marks: {brief}");
    let turn = &stands["due"]["turn"];
    let vote = "I vote con.";
    let said = host.fails("continue_round", json!({"turn": turn, "speech": vote}));
    assert!(said.contains("JSON object"), "{said}");
    let vote =
        json!({"agent_id": "risk-averse", "vote": "con", "confidence": 0.6, "reason": "risk"});
    let stands = host.call("continue_round", json!({"turn": turn, "speech": vote.to_string()}));
    assert_eq!(stands["status"], "completed", "{stands:#}");
    let verdict = &stands["verdict"];
    assert!(verdict["decided"].as_str().unwrap().contains("weighed together"), "{verdict:#}");
    let shown = lab.debate(&["show", "last", "--json"]).success().json();
    assert_eq!(shown["verdict"]["weighed"]["audience"], 2500);
}

#[test]
fn whoever_waits_hears_what_is_being_said() {
    let lab = Lab::new();
    let words = "word ".repeat(60);
    let slow = json!({"turns": [
        {"phase": "position", "text": words, "delay_ms": 2600},
        {"phase": "challenge", "text": "But why?"},
    ]});
    fs::write(lab.outside("slow.json"), slow.to_string()).unwrap();
    let seat = lab.seat("slow.json");
    let mut host = lab.host();
    let start = json!({"topic": "One file?", "format": "dialectic", "proposer": seat,
        "challenger": seat, "wait_seconds": 10});
    let stands = host.call("start_debate", start);
    assert_eq!(stands["status"], "paused", "{stands:#}");
    let told = told(host);
    assert!(told.iter().any(|told| told.contains("word word")), "{told:#?}");
}

/// Messages of all progress notifications the client received.
fn told(host: Host) -> Vec<String> {
    let (_, aside) = host.hang_up();
    let progress = aside.iter().filter(|line| line["method"] == "notifications/progress");
    progress.map(|line| line["params"]["message"].to_string()).collect()
}

/// A wait that begins in the middle of a turn must not stream the claims block as speech.
#[test]
fn whoever_begins_to_wait_in_the_middle_hears_no_claims() {
    let lab = Lab::new();
    let long = speech(&"word ".repeat(20), "P1", &[]).replace("holds.", &"holds ".repeat(200));
    let slow = json!({"turns": [
        {"phase": "propose", "text": long, "delay_ms": 4000},
        {"phase": "challenge", "text": speech("But why?", "C1", &["P1"])},
    ]});
    fs::write(lab.outside("slow.json"), slow.to_string()).unwrap();
    let seat = lab.seat("slow.json");
    let mut host = lab.host();
    let mut stands = host.call(
        "start_debate",
        json!({"topic": "One file?", "proposer": seat, "challenger": seat, "judge": seat, "rounds": 1,
            "wait_seconds": 1}),
    );
    while stands["status"] == "running" {
        stands = host.call("continue_round", json!({"wait_seconds": 1}));
    }
    let told = told(host);
    assert!(told.iter().any(|told| told.contains("word word")), "{told:#?}");
    assert!(!told.iter().any(|told| told.contains("holds")), "{told:#?}");
}
