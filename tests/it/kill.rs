//! Crash test: the real process is killed at random instants and resumed. The debate must complete,
//! recorded events must be unchanged, and no finished turn may be taken again.
//!
//! `DEBATE_KILLS=200 cargo test --test it kill` kills it 200 times instead of the default 20.
use crate::debate_fixture::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Writes a script with two rounds and six turns, each delayed by 6 ms.
fn write_script(folder: &Path) {
    let claims = |id: &str, answers: &str| {
        let claim = json!({"id": id, "text": format!("{id} holds"), "evidence": ["a.rs:1"],
            "answers": [answers]});
        format!("Because.\n\n```claims\n{}\n```", json!({"claims": [claim]}))
    };
    let ruling = json!({"winner": "proposer", "confidence": 0.8, "reasoning": "it was shown",
        "cites": ["T1"], "recommendation": "do it", "checks": crate::test_env::claim_checks_json()});
    let turns = json!({"turns": [
        {"phase": "propose", "text": claims("P1", "none"), "delay_ms": 6},
        {"phase": "challenge", "text": claims("C1", "P1"), "delay_ms": 6},
        {"phase": "defend", "text": claims("P1", "C1"), "delay_ms": 6},
        {"phase": "follow_up", "text": claims("C1", "P1"), "delay_ms": 6},
        {"phase": "judge", "json": ruling, "delay_ms": 6},
    ]});
    fs::write(folder.join("turns.json"), turns.to_string()).unwrap();
}

fn debate_command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_debate"));
    command.env_clear().env("HOME", folder).env("DEBATE_HOME", folder.join("home"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

fn run_command(folder: &Path) -> Command {
    let seat = "script:turns.json";
    let args = ["run", "Tabs?", "--proposer", seat, "--challenger", seat, "--json"];
    debate_command(folder, &args)
}

fn command_output(folder: &Path, args: &[&str]) -> Output {
    debate_command(folder, args).output().unwrap()
}

/// The event log of the latest debate, without its setup line.
fn event_log(folder: &Path) -> Vec<Value> {
    let stdout = command_output(folder, &["export", "last", "--as", "events"]).stdout;
    let lines = String::from_utf8(stdout).unwrap();
    lines.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn resume_after_kill_finishes_the_debate() {
    let kills: usize = env_number_or("DEBATE_KILLS", 20);
    let folder = TempDir::new().unwrap();
    write_script(folder.path());
    let began = Instant::now();
    assert!(run_command(folder.path()).output().unwrap().status.success());
    let full_run = began.elapsed();

    let mut rng = Rng(u64::from(std::process::id()));
    let (mut after_opening, mut interrupted) = (0, 0);
    for kill in 0..kills {
        let folder = TempDir::new().unwrap();
        write_script(folder.path());
        let mut child =
            run_command(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(full_run.mul_f64(rng.below(1000) as f64 / 1000.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let before = event_log(folder.path());
        after_opening += usize::from(!before.is_empty());
        let is_closed = before.last().is_some_and(|event| event["event"]["event"] == "closed");
        interrupted += usize::from(!is_closed);
        if before.is_empty() {
            // Killed before the first write: nothing to recover.
            continue;
        }
        // Kill the resumed process, too, then let it finish.
        let mut resumed = debate_command(folder.path(), &["resume", "last"]);
        let mut resumed = resumed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(rng.below(30) as u64));
        resumed.kill().unwrap();
        resumed.wait().unwrap();
        let output = command_output(folder.path(), &["resume", "last", "--json"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kill {kill}: {stderr}");
        let view: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(view["status"], "completed", "kill {kill}");
        let after = event_log(folder.path());
        assert_eq!(after[..before.len()], before[..], "kill {kill}: recorded events are unchanged");
        let mut turn_counts: BTreeMap<String, usize> = BTreeMap::new();
        for event in after.iter().filter(|event| event["event"]["event"] == "spoke") {
            *turn_counts.entry(event["event"]["cue"].to_string()).or_default() += 1;
        }
        assert_eq!(turn_counts.len(), 6, "kill {kill}: every turn was taken");
        assert!(turn_counts.values().all(|times| *times == 1), "kill {kill}: and none twice");
        let replayed = command_output(folder.path(), &["replay", "last", "--json"]);
        assert!(replayed.status.success(), "kill {kill}: it replays identically");
        let state = folder.path().join(".claude/debate/last-debate.json");
        let state: Value = serde_json::from_slice(&fs::read(state).unwrap()).unwrap();
        assert_eq!(state["status"], "completed", "kill {kill}: the state file has caught up");
    }
    assert!(
        after_opening * 4 > kills,
        "only {after_opening} of {kills} kills came after the opening"
    );
    assert!(interrupted > 0, "no kill came before the end");
}

/// An environment variable as a number, or the default.
pub(crate) fn env_number_or(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
