//! Kills the server at random instants while a client drives a debate. The client restarts the
//! server and repeats its last call. The debate must complete, with every turn recorded once.
//!
//! `DEBATE_KILLS=200 cargo test --test it mcp_kill` sets the number of kills [default: 20].
use crate::debate_fixture::Rng;
use crate::kill::env_number_or;
use crate::mcp_test_client::{McpTestClient, due_tool_call};
use crate::test_env::{SeatScript, TestEnv};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// An environment whose scripted seats take a few milliseconds per turn. The host proposes.
fn scripted_env() -> TestEnv {
    let lab = TestEnv::new();
    let mut script = SeatScript::new();
    for phase in ["challenge", "follow_up"] {
        let text = crate::test_env::speech_with_claim("No.", "C1", &["P1"]);
        script = script.prepend(json!({"phase": phase, "text": text, "delay_ms": 8}));
    }
    lab.write_script(&script);
    lab
}

/// The client's next call, given the last result it received, if any.
fn next_call(lab: &TestEnv, known: Option<&Value>) -> Option<(&'static str, Value)> {
    match known {
        None => Some((
            "start_debate",
            json!({"topic": "Killed?", "proposer": "host", "challenger": lab.script_seat("contra.json"),
                "judge": lab.script_seat("pro.json")}),
        )),
        Some(stands) => due_tool_call(stands).or_else(|| {
            let waits = stands["status"] == "running" || stands["status"] == "interrupted";
            waits.then(|| ("continue_round", json!({"debate_id": stands["debate_id"]})))
        }),
    }
}

/// What a restarted client knows: its last result, or the debate that `list_debates` returns.
fn known_after_restart(host: &mut McpTestClient, known: Option<Value>) -> Option<Value> {
    if known.is_some() {
        return known;
    }
    let listed = host.call_tool("list_debates", json!({}));
    let id = listed["debates"].get(0)?["debate_id"].clone();
    Some(json!({"debate_id": id, "status": "interrupted"}))
}

#[test]
fn server_killed_at_random_loses_no_turn() {
    let kills: usize = env_number_or("DEBATE_KILLS", 20);
    let whole = {
        let lab = scripted_env();
        let began = Instant::now();
        let mut host = lab.mcp_client();
        let mut known = None;
        while let Some((tool, arguments)) = next_call(&lab, known.as_ref()) {
            known = Some(host.call_tool(tool, arguments));
        }
        began.elapsed()
    };
    let mut rng = Rng(u64::from(std::process::id()) + 7);
    let (mut killed, mut unanswered) = (0, 0);
    while killed < kills {
        let lab = scripted_env();
        let mut known: Option<Value> = None;
        let mut host = lab.mcp_client();
        // Up to three kills per debate.
        let mut deaths = 1 + rng.below(3);
        let mut dies = Some(Instant::now() + whole.mul_f64(rng.below(1000) as f64 / 1000.0));
        let last = loop {
            let Some((tool, arguments)) = next_call(&lab, known.as_ref()) else { break known };
            let alive = match dies {
                Some(at) => host.call_tool_or_kill(tool, arguments, at),
                None => Some(host.call_tool(tool, arguments)),
            };
            if let Some(stands) = alive {
                known = Some(stands);
                continue;
            }
            killed += 1;
            unanswered += 1;
            deaths -= 1;
            host = lab.mcp_client();
            known = known_after_restart(&mut host, known);
            let wait = whole.mul_f64(rng.below(500) as f64 / 1000.0);
            dies = (deaths > 0).then(|| Instant::now() + wait);
        };
        let last = last.unwrap();
        assert_eq!(last["status"], "completed", "{last}");
        let id = last["debate_id"].as_str().unwrap();
        let taken = lab.turn_counts(id);
        assert_eq!(taken.len(), 6, "every turn was taken: {taken:?}");
        assert!(taken.values().all(|times| *times == 1), "and none twice: {taken:?}");
        lab.assert_replays(id);
        let listed = host.call_tool("list_debates", json!({}));
        assert_eq!(listed["debates"].as_array().unwrap().len(), 1, "and no second debate");
        let (took, _) = host.disconnect();
        assert!(took < Duration::from_secs(1));
    }
    assert!(unanswered > 0);
}
