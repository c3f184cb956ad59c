//! Kills the server at random instants while a client drives a debate. The client restarts the
//! server and repeats its last call. The debate must complete, with every turn recorded once.
//!
//! `DEBATE_KILLS=200 cargo test --test it mcp_kill` sets the number of kills [default: 20].
use crate::host::{Host, due};
use crate::kill::option_env_or;
use crate::lab::{Lab, Script};
use crate::scene::Rng;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// An environment whose scripted seats take a few milliseconds per turn. The host proposes.
fn lab() -> Lab {
    let lab = Lab::new();
    let mut script = Script::new();
    for phase in ["challenge", "follow_up"] {
        let text = crate::lab::speech("No.", "C1", &["P1"]);
        script = script.first(json!({"phase": phase, "text": text, "delay_ms": 8}));
    }
    lab.write(&script);
    lab
}

/// The client's next call, given the last result it received, if any.
fn next_call(lab: &Lab, known: Option<&Value>) -> Option<(&'static str, Value)> {
    match known {
        None => Some((
            "start_debate",
            json!({"topic": "Killed?", "proposer": "host", "challenger": lab.seat("contra.json"),
                "judge": lab.seat("pro.json")}),
        )),
        Some(stands) => due(stands).or_else(|| {
            let waits = stands["status"] == "running" || stands["status"] == "interrupted";
            waits.then(|| ("continue_round", json!({"debate_id": stands["debate_id"]})))
        }),
    }
}

/// What a restarted client knows: its last result, or the debate that `list_debates` returns.
fn after_a_crash(host: &mut Host, known: Option<Value>) -> Option<Value> {
    if known.is_some() {
        return known;
    }
    let listed = host.call("list_debates", json!({}));
    let id = listed["debates"].get(0)?["debate_id"].clone();
    Some(json!({"debate_id": id, "status": "interrupted"}))
}

#[test]
fn a_server_killed_at_any_instant_loses_nothing() {
    let kills: usize = option_env_or("DEBATE_KILLS", 20);
    let whole = {
        let lab = lab();
        let began = Instant::now();
        let mut host = lab.host();
        let mut known = None;
        while let Some((tool, arguments)) = next_call(&lab, known.as_ref()) {
            known = Some(host.call(tool, arguments));
        }
        began.elapsed()
    };
    let mut rng = Rng(u64::from(std::process::id()) + 7);
    let (mut killed, mut unanswered) = (0, 0);
    while killed < kills {
        let lab = lab();
        let mut known: Option<Value> = None;
        let mut host = lab.host();
        // Up to three kills per debate.
        let mut deaths = 1 + rng.below(3);
        let mut dies = Some(Instant::now() + whole.mul_f64(rng.below(1000) as f64 / 1000.0));
        let last = loop {
            let Some((tool, arguments)) = next_call(&lab, known.as_ref()) else { break known };
            let alive = match dies {
                Some(at) => host.call_until(tool, arguments, at),
                None => Some(host.call(tool, arguments)),
            };
            if let Some(stands) = alive {
                known = Some(stands);
                continue;
            }
            killed += 1;
            unanswered += 1;
            deaths -= 1;
            host = lab.host();
            known = after_a_crash(&mut host, known);
            let wait = whole.mul_f64(rng.below(500) as f64 / 1000.0);
            dies = (deaths > 0).then(|| Instant::now() + wait);
        };
        let last = last.unwrap();
        assert_eq!(last["status"], "completed", "{last}");
        let id = last["debate_id"].as_str().unwrap();
        let taken = lab.turns_taken(id);
        assert_eq!(taken.len(), 6, "every turn was taken: {taken:?}");
        assert!(taken.values().all(|times| *times == 1), "and none twice: {taken:?}");
        lab.replays(id);
        let listed = host.call("list_debates", json!({}));
        assert_eq!(listed["debates"].as_array().unwrap().len(), 1, "and no second debate");
        let (took, _) = host.hang_up();
        assert!(took < Duration::from_secs(1));
    }
    assert!(unanswered > 0);
}
