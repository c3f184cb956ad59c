//! A slow round in real time, under a client with a timeout of 60 seconds per request. It takes
//! four minutes, so it runs only on demand:
//!
//! `cargo test --test it a_slow_round_in_real_time -- --ignored --nocapture`
use crate::mcp_test_client::McpTestClient;
use crate::test_env::{SeatScript, TestEnv, speech_with_claim};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// Request timeout of common clients.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(60);

#[test]
#[ignore = "takes four minutes of real time"]
fn a_slow_round_in_real_time() {
    let env = TestEnv::new();
    let mut script = SeatScript::new();
    for (phase, id, answers) in [("propose", "P1", "C0"), ("challenge", "C1", "P1")] {
        let text = speech_with_claim("Slowly.", id, &[answers]);
        script = script.prepend(json!({"phase": phase, "text": text, "delay_ms": 75_000}));
    }
    env.write_script(&script);
    let arguments = json!({"topic": "Slow?", "proposer": env.script_seat("pro.json"),
        "challenger": env.script_seat("contra.json")});
    let began = Instant::now();
    let mut host = env.mcp_client();
    let mut result = call_with_timing(&mut host, "start_debate", arguments);
    // The first client and its server are killed while the proposer speaks. Another client resumes,
    // and only the lost turn is requested again.
    assert_eq!(result["status"], "running");
    host.process().send_signal("KILL");
    let mut host = env.mcp_client_named("opencode");
    while result["status"] == "running" {
        let turn = result["pending"][0].as_str().unwrap().split(' ').next().unwrap().to_owned();
        let arguments = json!({"debate_id": result["debate_id"], "turn": turn});
        result = call_with_timing(&mut host, "continue_round", arguments);
    }
    assert_eq!(result["status"], "paused");
    let id = result["debate_id"].as_str().unwrap();
    let turn_counts = env.turn_counts(id);
    assert_eq!(turn_counts.values().copied().collect::<Vec<_>>(), [1, 1]);
    print_line(&format!("the round took {:?}; turns {turn_counts:?}", began.elapsed()));
}

/// Calls a tool and checks that it responds within 55 s and reports progress every 5 s.
fn call_with_timing(host: &mut McpTestClient, tool: &str, arguments: Value) -> Value {
    host.unclaimed.clear();
    let began = Instant::now();
    let id = host.start_tool_call(tool, arguments);
    let (mut last_heard, mut silence, mut count) = (Instant::now(), Duration::ZERO, 0);
    let response = loop {
        let response = host.wait_for_response_within(id, Duration::from_millis(50));
        if !host.unclaimed.is_empty() || response.is_some() {
            silence = silence.max(last_heard.elapsed());
            count += host.unclaimed.drain(..).count();
            last_heard = Instant::now();
        }
        if let Some(response) = response {
            break response;
        }
        assert!(began.elapsed() < CLIENT_TIMEOUT, "the client times out");
    };
    let elapsed = began.elapsed();
    print_line(&format!("{tool}: {elapsed:?}, {count} notifications, longest silence {silence:?}"));
    assert!(elapsed < Duration::from_secs(55), "{elapsed:?}");
    assert!(silence < Duration::from_secs(5), "{silence:?}");
    crate::mcp_test_client::structured_content(&response)
}

fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
