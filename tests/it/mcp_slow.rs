//! A slow round in real time, under a client with a timeout of 60 seconds per request. It takes
//! four minutes, so it runs only on demand:
//!
//! `cargo test --test it a_slow_round_in_real_time -- --ignored --nocapture`
use crate::host::Host;
use crate::lab::{Lab, Script, speech};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// Request timeout of common clients.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
#[ignore = "takes four minutes of real time"]
fn a_slow_round_in_real_time() {
    let lab = Lab::new();
    let mut script = Script::new();
    for (phase, id, answers) in [("propose", "P1", "C0"), ("challenge", "C1", "P1")] {
        let text = speech("Slowly.", id, &[answers]);
        script = script.first(json!({"phase": phase, "text": text, "delay_ms": 75_000}));
    }
    lab.write(&script);
    let arguments = json!({"topic": "Slow?", "proposer": lab.seat("pro.json"),
        "challenger": lab.seat("contra.json")});
    let began = Instant::now();
    let mut host = lab.host();
    let mut stands = timed(&mut host, "start_debate", arguments);
    // The first client and its server are killed while the proposer speaks. Another client resumes,
    // and only the lost turn is requested again.
    assert_eq!(stands["status"], "running");
    host.running().signal("KILL");
    let mut host = lab.host_called("opencode");
    while stands["status"] == "running" {
        let turn = stands["pending"][0].as_str().unwrap().split(' ').next().unwrap().to_owned();
        let arguments = json!({"debate_id": stands["debate_id"], "turn": turn});
        stands = timed(&mut host, "continue_round", arguments);
    }
    assert_eq!(stands["status"], "paused");
    let id = stands["debate_id"].as_str().unwrap();
    let taken = lab.turns_taken(id);
    assert_eq!(taken.values().copied().collect::<Vec<_>>(), [1, 1]);
    report(&format!("the round took {:?}; turns {taken:?}", began.elapsed()));
}

/// Calls a tool and checks that it responds within 55 s and reports progress every 5 s.
fn timed(host: &mut Host, tool: &str, arguments: Value) -> Value {
    host.aside.clear();
    let began = Instant::now();
    let id = host.begin(tool, arguments);
    let (mut heard, mut silence, mut count) = (Instant::now(), Duration::ZERO, 0);
    let answer = loop {
        let answer = host.answer_within(id, Duration::from_millis(50));
        if !host.aside.is_empty() || answer.is_some() {
            silence = silence.max(heard.elapsed());
            count += host.aside.drain(..).count();
            heard = Instant::now();
        }
        if let Some(answer) = answer {
            break answer;
        }
        assert!(began.elapsed() < PATIENCE, "the client gives up");
    };
    let all = began.elapsed();
    report(&format!("{tool}: {all:?}, {count} times heard of, silent for {silence:?} at most"));
    assert!(all < Duration::from_secs(55), "{all:?}");
    assert!(silence < Duration::from_secs(5), "{silence:?}");
    crate::host::result(&answer)
}

fn report(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
