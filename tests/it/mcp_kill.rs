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
    let env = TestEnv::new();
    let mut script = SeatScript::new();
    for phase in ["challenge", "follow_up"] {
        let text = crate::test_env::speech_with_claim("No.", "C1", &["P1"]);
        script = script.prepend(json!({"phase": phase, "text": text, "delay_ms": 8}));
    }
    env.write_script(&script);
    env
}

/// The client's next call, given the last result it received, if any.
fn next_call(env: &TestEnv, last_result: Option<&Value>) -> Option<(&'static str, Value)> {
    match last_result {
        None => Some((
            "start_debate",
            json!({"topic": "Killed?", "proposer": "host", "challenger": env.script_seat("contra.json"),
                "judge": env.script_seat("pro.json")}),
        )),
        Some(result) => due_tool_call(result).or_else(|| {
            let is_waiting = result["status"] == "running" || result["status"] == "interrupted";
            is_waiting.then(|| ("continue_round", json!({"debate_id": result["debate_id"]})))
        }),
    }
}

/// What a restarted client knows: its last result, or the debate that `list_debates` returns.
fn known_after_restart(host: &mut McpTestClient, last_result: Option<Value>) -> Option<Value> {
    if last_result.is_some() {
        return last_result;
    }
    let listed = host.call_tool("list_debates", json!({}));
    let id = listed["debates"].get(0)?["debate_id"].clone();
    Some(json!({"debate_id": id, "status": "interrupted"}))
}

#[test]
fn server_killed_at_random_loses_no_turn() {
    let kills: usize = env_number_or("DEBATE_KILLS", 20);
    let full_run = {
        let env = scripted_env();
        let began = Instant::now();
        let mut host = env.mcp_client();
        let mut last_result = None;
        while let Some((tool, arguments)) = next_call(&env, last_result.as_ref()) {
            last_result = Some(host.call_tool(tool, arguments));
        }
        began.elapsed()
    };
    let mut rng = Rng(u64::from(std::process::id()) + 7);
    let (mut killed, mut unanswered) = (0, 0);
    while killed < kills {
        let env = scripted_env();
        let mut last_result: Option<Value> = None;
        let mut host = env.mcp_client();
        // Up to three kills per debate.
        let mut kills_left = 1 + rng.below(3);
        let mut kill_at = Some(Instant::now() + full_run.mul_f64(rng.below(1000) as f64 / 1000.0));
        let final_result = loop {
            let Some((tool, arguments)) = next_call(&env, last_result.as_ref()) else {
                break last_result;
            };
            let response = match kill_at {
                Some(instant) => host.call_tool_or_kill(tool, arguments, instant),
                None => Some(host.call_tool(tool, arguments)),
            };
            if let Some(result) = response {
                last_result = Some(result);
                continue;
            }
            killed += 1;
            unanswered += 1;
            kills_left -= 1;
            host = env.mcp_client();
            last_result = known_after_restart(&mut host, last_result);
            let delay = full_run.mul_f64(rng.below(500) as f64 / 1000.0);
            kill_at = (kills_left > 0).then(|| Instant::now() + delay);
        };
        let final_result = final_result.unwrap();
        assert_eq!(final_result["status"], "completed", "{final_result}");
        let id = final_result["debate_id"].as_str().unwrap();
        let turn_counts = env.turn_counts(id);
        assert_eq!(turn_counts.len(), 6, "every turn was taken: {turn_counts:?}");
        assert!(turn_counts.values().all(|times| *times == 1), "and none twice: {turn_counts:?}");
        env.assert_replays(id);
        let listed = host.call_tool("list_debates", json!({}));
        assert_eq!(listed["debates"].as_array().unwrap().len(), 1, "and no second debate");
        let (took, _) = host.disconnect();
        assert!(took < Duration::from_secs(1));
    }
    assert!(unanswered > 0);
}
