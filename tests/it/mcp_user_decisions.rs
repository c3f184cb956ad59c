//! Decisions of the user through `continue_round`: remarks, the final decision, end, cancel and
//! record. Plan and budget changes are in `mcp_plan`.
use crate::mcp_test_client::{due_tool_call, host_ruling, host_speech};
use crate::test_env::{
    SeatScript, TestEnv, assert_contains_in_order, speech_with_claim, wait_until,
};
use serde_json::{Value, json};
use std::fs;

pub(crate) fn debate_id(result: &Value) -> String {
    result["debate_id"].as_str().unwrap().to_owned()
}

/// Arguments for a debate of three rounds between the environment's scripts.
pub(crate) fn scripted_debate_args(env: &TestEnv, extra_args: Value) -> Value {
    let mut arguments = json!({"topic": "One file?", "rounds": 3,
        "proposer": env.script_seat("pro.json"), "challenger": env.script_seat("contra.json"),
        "judge": env.script_seat("pro.json")});
    let Value::Object(extra_args) = extra_args else { panic!("{extra_args} is no object") };
    arguments.as_object_mut().unwrap().extend(extra_args);
    arguments
}

/// Recorded events of this name.
pub(crate) fn events_named(env: &TestEnv, id: &str, name: &str) -> Vec<Value> {
    env.events(id).into_iter().filter(|event| event["event"] == name).collect()
}

const REMARK: &str = "Think of backups: who restores them?";
const REMARK_INTRO: &str = "both sides must answer it";

/// A remark between rounds is in the next prompt of both sides, even if the call is repeated.
#[test]
fn remark_reaches_both_sides_once() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let first = host.call_tool("start_debate", scripted_debate_args(&env, json!({})));
    let remark = json!({"turn": first["due"]["turn"], "say": REMARK});
    let second = host.call_tool("continue_round", remark.clone());
    assert_eq!((&second["status"], &second["round"]), (&json!("paused"), &json!(2)));
    assert_eq!(host.call_tool("continue_round", remark), second);
    let debate = debate_id(&first);
    assert_eq!(events_named(&env, &debate, "interjected").len(), 1);
    for (turn, expected_count) in [("0.1.0.0", 0), ("0.1.1.1", 0), ("1.2.0.0", 1), ("1.2.1.1", 1)] {
        let prompt = env.debate(&["show", &debate, "--prompt", turn]).expect_success().stdout;
        assert_eq!(prompt.matches(REMARK).count(), expected_count, "{turn}:\n{prompt}");
        assert_eq!(prompt.contains(REMARK_INTRO), expected_count > 0, "{turn}:\n{prompt}");
    }
}

#[test]
fn remark_appears_in_the_hosts_briefs() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut result = host.start_solo_debate(json!({}));
    for _ in 0..2 {
        let (tool, arguments) = due_tool_call(&result).unwrap();
        result = host.call_tool(tool, arguments);
    }
    assert_eq!(result["status"], "paused");
    result =
        host.call_tool("continue_round", json!({"turn": result["due"]["turn"], "say": REMARK}));
    for role in ["Proposer", "Challenger"] {
        assert_eq!(result["due"]["role"], role);
        let shown = host.call_tool("show_debate", json!({"part": "brief"}));
        assert_contains_in_order(shown["text"].as_str().unwrap(), &[REMARK_INTRO, REMARK]);
        assert_eq!(result["round"], 2);
        let (tool, arguments) = due_tool_call(&result).unwrap();
        result = host.call_tool(tool, arguments);
    }
}

#[test]
fn remark_during_a_turn_reaches_the_next_turn() {
    let env = TestEnv::new();
    let slow_turn =
        json!({"phase": "propose", "delay_ms": 700, "text": speech_with_claim("One.", "P1", &[])});
    env.write_script(&SeatScript::new().prepend(slow_turn));
    let mut host = env.mcp_client();
    let debate = debate_id(
        &host.call_tool("start_debate", scripted_debate_args(&env, json!({"wait_seconds": 0}))),
    );
    let result = host.call_tool("continue_round", json!({"say": REMARK, "wait_seconds": 0}));
    assert_eq!(result["status"], "running");
    assert_eq!(host.call_tool("continue_round", json!({}))["status"], "paused");
    for (turn, is_visible) in [("0.1.0.0", false), ("0.1.1.1", true)] {
        let prompt = env.debate(&["show", &debate, "--prompt", turn]).expect_success().stdout;
        assert_eq!(prompt.contains(REMARK), is_visible, "{turn}");
    }
}

/// Text that the user sends after the end is recorded as the decision, once.
#[test]
fn text_after_the_end_is_the_users_decision() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let options = json!({"options": {"pause": false}, "rounds": 1});
    let ended = host.call_tool("start_debate", scripted_debate_args(&env, options));
    let debate = debate_id(&ended);
    let decision = json!({"say": "We use one file."});
    for _ in 0..2 {
        assert_eq!(host.call_tool("continue_round", decision.clone())["status"], "completed");
    }
    assert_eq!(events_named(&env, &debate, "decided").len(), 1);
    assert_eq!(events_named(&env, &debate, "interjected").len(), 0);
    let shown = env.debate(&["show", &debate, "--json"]).expect_success().json();
    assert_eq!(shown["decision"], "We use one file.");
    let record = fs::read_to_string(ended["record"].as_str().unwrap()).unwrap();
    assert_contains_in_order(&record, &["### User's Decision", "We use one file."]);
}

/// `end` skips the remaining speeches and asks the judge to rule on what was said.
#[test]
fn end_decision_leads_to_a_verdict_at_any_point() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let end = json!({"decision": "end"});
    let first = host.call_tool("start_debate", scripted_debate_args(&env, json!({})));
    let ended = host.call_tool("continue_round", end.clone());
    assert_eq!((&ended["status"], &ended["round"]), (&json!("completed"), &json!(1)));
    assert_eq!(ended["verdict"]["winner"], "proposer");
    assert_eq!(host.call_tool("continue_round", end.clone()), ended, "it has ended");
    assert_eq!(events_named(&env, &debate_id(&first), "concluded").len(), 1);

    // While a scripted seat is speaking: its turn is abandoned.
    let slow_turn = json!({"phase": "challenge", "delay_ms": 60_000, "text": "Never."});
    env.write_script(&SeatScript::new().prepend(slow_turn));
    let debate = debate_id(
        &host.call_tool("start_debate", scripted_debate_args(&env, json!({"wait_seconds": 0}))),
    );
    wait_until("the proposer has spoken", || env.turn_counts(&debate).len() == 1);
    assert_eq!(host.call_tool("continue_round", end.clone())["status"], "completed");

    // While a host turn is due.
    let result = host.start_solo_debate(json!({}));
    let error = host.expect_tool_error("continue_round", end.clone());
    assert!(error.contains("nothing has been said"), "{error}");
    let (tool, arguments) = due_tool_call(&result).unwrap();
    host.call_tool(tool, arguments);
    let result = host.call_tool("continue_round", end);
    assert_eq!(result["due"]["role"], "Judge");
    assert_eq!(host.play_to_end(result)["status"], "completed");
}

#[test]
fn cancel_stops_a_running_turn() {
    let env = TestEnv::new();
    env.write_script(
        &SeatScript::new().prepend(json!({"phase": "propose", "delay_ms": 900, "text": "Late."})),
    );
    let mut host = env.mcp_client();
    let debate = debate_id(
        &host.call_tool("start_debate", scripted_debate_args(&env, json!({"wait_seconds": 0}))),
    );
    let request_id = host.start_tool_call("continue_round", json!({}));
    let cancelled = host.call_tool("continue_round", json!({"decision": "cancel"}));
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled["pending"], json!([]));
    let waiting_result =
        crate::mcp_test_client::structured_content(&host.wait_for_response(request_id));
    assert_eq!(waiting_result, cancelled, "the waiting call gets the same result");
    let log = env.events(&debate);
    assert_eq!(log.last().unwrap(), &json!({"event": "cancelled"}));
    // A second debate takes longer than the cancelled turn would have taken.
    host.call_tool("start_debate", scripted_debate_args(&env, json!({"rounds": 1})));
    assert_eq!(env.events(&debate), log);
}

#[test]
fn record_is_kept_or_discarded_after_the_end() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    host.call_tool("start_debate", scripted_debate_args(&env, json!({"rounds": 2})));
    for decision in ["keep", "discard"] {
        let error = host.expect_tool_error("continue_round", json!({"decision": decision}));
        assert_contains_in_order(&error, &["has not ended yet", "Next: continue_round"]);
    }
    let ended = host.call_tool("verdict", json!({}));
    let record = std::path::PathBuf::from(ended["record"].as_str().unwrap());
    assert!(record.starts_with(env.repo_root().join(".debates")), "{}", record.display());
    for (decision, should_exist) in
        [("keep", true), ("discard", false), ("discard", false), ("keep", true)]
    {
        host.call_tool("continue_round", json!({"decision": decision}));
        wait_until(decision, || record.exists() == should_exist);
    }
    assert_eq!(events_named(&env, &debate_id(&ended), "kept").len(), 3);
    host.call_tool("continue_round", json!({"decision": "discard"}));
    host.call_tool("continue_round", json!({"say": "We use one file."}));
    host.disconnect();
    assert!(!record.exists(), "a discarded record is not written again");
}

/// The error says how the debate ended.
#[test]
fn ended_debate_cannot_be_changed() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let completed = host.start_solo_debate(json!({"rounds": 1}));
    let completed = host.play_to_end(completed);
    host.start_solo_debate(json!({}));
    let cancelled = host.call_tool("continue_round", json!({"decision": "cancel"}));
    let speech = host_speech("Proposer", &json!(2));
    for (ended, status) in [(completed, "completed"), (cancelled, "cancelled")] {
        let debate = debate_id(&ended);
        let log = env.events(&debate);
        for change in [
            json!({"decision": "continue"}),
            json!({"decision": "confirm"}),
            json!({"decision": "change", "say": "rounds=3"}),
            json!({"turn": "1.2.0.0", "speech": speech}),
        ] {
            let mut call = json!({"debate_id": debate});
            call.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            let error = host.expect_tool_error("continue_round", call);
            assert!(error.contains(&format!("has ended ({status})")), "{change}: {error}");
        }
        let end = json!({"debate_id": debate, "decision": "end"});
        assert_eq!(host.call_tool("continue_round", end)["status"], status);
        let cancel = json!({"debate_id": debate, "decision": "cancel"});
        if status == "completed" {
            assert!(
                host.expect_tool_error("continue_round", cancel).contains("has ended (completed)")
            );
        }
        assert_eq!(env.events(&debate), log);
    }
}

#[test]
fn verdict_is_refused_while_a_host_speech_is_due() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let result = host.start_solo_debate(json!({}));
    let log = env.events(&debate_id(&result));
    let error = host.expect_tool_error("verdict", json!({}));
    assert_contains_in_order(&error, &["a speech is due before", "Next: ", "`0.1.0.0` (Proposer)"]);
    let error = host.expect_tool_error("verdict", json!({"ruling": host_ruling()}));
    assert_contains_in_order(&error, &["`turn` is missing", "Next: ", "`0.1.0.0` (Proposer)"]);
    assert_eq!(env.events(&debate_id(&result)), log);
    let (tool, arguments) = due_tool_call(&result).unwrap();
    host.call_tool(tool, arguments);
    let error = host.expect_tool_error("verdict", json!({}));
    assert_contains_in_order(&error, &["Next: ", "`0.1.1.1` (Challenger)", "\"decision\":\"end\""]);
}

/// Some models send numbers and objects as JSON strings.
#[test]
fn numbers_and_objects_in_quotes_are_accepted() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let quoted = json!({"rounds": "3", "wait_seconds": "20", "options": "{\"pause\": true}"});
    let result = host.call_tool("start_debate", scripted_debate_args(&env, quoted));
    assert_eq!((&result["status"], &result["rounds"]), (&json!("paused"), &json!(3)));
    let shown = host.call_tool("show_debate", json!({"page": "1"}));
    assert_eq!(shown["page"], 1);
    env.write_script(
        &SeatScript::new().prepend(json!({"phase": "defend", "delay_ms": 60_000, "text": "x"})),
    );
    let running = host.call_tool("continue_round", json!({"wait_seconds": "0"}));
    assert_eq!(running["status"], "running");
    assert_eq!(host.call_tool("verdict", json!({"wait_seconds": " 0 "}))["status"], "running");
}
