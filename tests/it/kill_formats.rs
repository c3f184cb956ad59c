//! Crash test per format: the process is killed while a turn of each phase is pending, and resumed.
//! The debate must complete, with recorded events unchanged and no turn taken twice.
use crate::scripted_replies::{
    ReplyLanguage, ScriptedReply, dialectic, research, to_script_json, tribunal,
};
use crate::test_env::{TestEnv, wait_until};
use serde_json::Value;
use std::fs;

/// The script with a delay of 10 minutes in one phase, so that the process hangs there.
fn script_hanging_in_phase(said: &[ScriptedReply], phase: &str) -> String {
    let mut script: Value = serde_json::from_str(&to_script_json(said)).unwrap();
    for line in script["turns"].as_array_mut().unwrap() {
        if line["phase"] == phase {
            line["delay_ms"] = 600_000.into();
        }
    }
    script.to_string()
}

fn assert_resumes_after_kill(format: &str, said: &[ScriptedReply], phases: &[&str], more: &[&str]) {
    for phase in phases {
        let lab = TestEnv::new();
        let file = lab.temp_path("cast.json");
        fs::write(&file, script_hanging_in_phase(said, phase)).unwrap();
        let seat = lab.script_seat("cast.json");
        let topic = "Faster with one file or many?";
        let args = ["run", topic, "--format", format, "--model", &seat, "--yes", "--no-probe"];
        let mut running = lab.debate(&[&args[..], more].concat()).spawn();
        // Wait until the turn is requested and not answered.
        let id = std::cell::OnceCell::new();
        wait_until(phase, || {
            assert!(!running.has_exited(), "{format} came to its end before {phase}");
            let listed = lab.debate(&["list", "--json"]).output().stdout;
            let listed: Value = serde_json::from_str(&listed).unwrap_or_default();
            let Some(found) = listed["debates"][0]["id"].as_str() else { return false };
            let id = id.get_or_init(|| found.to_owned());
            let shown = lab.debate(&["show", id, "--json"]).expect_success().json();
            let due = shown["due"]["driven"].as_array().cloned().unwrap_or_default();
            let asked = lab.events(id);
            let asked = asked.iter().rfind(|event| event["event"] == "asked");
            let now = asked.is_some_and(|event| {
                let cue = crate::test_env::turn_id(&event["cues"][0]);
                due.iter().any(|turn| *turn == cue)
            });
            now && is_due_in_phase(&shown, phase)
        });
        let id = id.into_inner().unwrap();
        let before = lab.events(&id);
        running.send_signal("KILL");
        running.wait();
        fs::write(&file, to_script_json(said)).unwrap();
        let view = lab.debate(&["resume", &id, "--yes", "--json"]).expect_success().json();
        assert_eq!(view["status"], "completed", "{format}, killed in {phase}: {view:#}");
        let after = lab.events(&id);
        assert_eq!(
            after[..before.len()],
            before[..],
            "{format}, {phase}: what was recorded stands"
        );
        let taken = lab.turn_counts(&id);
        assert!(taken.values().all(|times| *times == 1), "{format}, {phase}: none twice");
        lab.assert_replays(&id);
    }
}

/// Whether the first due turn belongs to a phase.
fn is_due_in_phase(shown: &Value, phase: &str) -> bool {
    let rows = |turn: &Value| -> Option<(usize, usize)> {
        let mut parts = turn.as_str()?.split('.').map(|part| part.parse().ok());
        let (act, _) = (parts.next()??, parts.next()??);
        let act: usize = act;
        let row: usize = parts.next()??;
        Some((act, row))
    };
    let due = shown["due"]["driven"][0].clone();
    let table = phases_by_act(shown["format"].as_str().unwrap());
    rows(&due).is_some_and(|(act, row)| table[act][row] == phase)
}

/// Phase names of each act of a format.
fn phases_by_act(format: &str) -> Vec<Vec<String>> {
    let all = debate_mcp::debate::formats::built_in_formats();
    let format = all.into_iter().find(|it| it.name == format).unwrap();
    let act = |act: debate_mcp::debate::Act| act.phases.into_iter().map(|it| it.name).collect();
    format.acts.into_iter().map(act).collect()
}

#[test]
fn research_killed_in_any_phase_can_be_resumed() {
    let said = research(ReplyLanguage::English);
    assert_resumes_after_kill("research", &said, &["investigate", "rebut", "audit", "judge"], &[]);
}

#[test]
fn dialectic_killed_in_any_phase_can_be_resumed() {
    let phases = ["position", "challenge", "respond", "insights"];
    assert_resumes_after_kill("dialectic", &dialectic(), &phases, &["--rounds", "2"]);
}

#[test]
fn tribunal_killed_in_any_phase_can_be_resumed() {
    let phases = ["argue", "petition", "admit", "address", "score", "judge", "vote"];
    assert_resumes_after_kill(
        "tribunal",
        &tribunal(7),
        &phases,
        &["--rounds", "7", "--same-judge"],
    );
}
