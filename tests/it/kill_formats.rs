//! Crash test per format: the process is killed while a turn of each phase is pending, and resumed.
//! The debate must complete, with recorded events unchanged and no turn taken twice.
use crate::casts::{Said, Tongue, dialectic, research, script, tribunal};
use crate::lab::{Lab, until};
use serde_json::Value;
use std::fs;

/// The script with a delay of 10 minutes in one phase, so that the process hangs there.
fn slow(said: &[Said], phase: &str) -> String {
    let mut script: Value = serde_json::from_str(&script(said)).unwrap();
    for line in script["turns"].as_array_mut().unwrap() {
        if line["phase"] == phase {
            line["delay_ms"] = 600_000.into();
        }
    }
    script.to_string()
}

fn killed_in_every_phase(format: &str, said: &[Said], phases: &[&str], more: &[&str]) {
    for phase in phases {
        let lab = Lab::new();
        let file = lab.outside("cast.json");
        fs::write(&file, slow(said, phase)).unwrap();
        let seat = lab.seat("cast.json");
        let topic = "Faster with one file or many?";
        let args = ["run", topic, "--format", format, "--model", &seat, "--yes", "--no-probe"];
        let mut running = lab.debate(&[&args[..], more].concat()).start();
        // Wait until the turn is requested and not answered.
        let id = std::cell::OnceCell::new();
        until(phase, || {
            assert!(!running.is_over(), "{format} came to its end before {phase}");
            let listed = lab.debate(&["list", "--json"]).done().out;
            let listed: Value = serde_json::from_str(&listed).unwrap_or_default();
            let Some(found) = listed["debates"][0]["id"].as_str() else { return false };
            let id = id.get_or_init(|| found.to_owned());
            let shown = lab.debate(&["show", id, "--json"]).success().json();
            let due = shown["due"]["driven"].as_array().cloned().unwrap_or_default();
            let asked = lab.events(id);
            let asked = asked.iter().rfind(|event| event["event"] == "asked");
            let now = asked.is_some_and(|event| {
                let cue = crate::lab::turn(&event["cues"][0]);
                due.iter().any(|turn| *turn == cue)
            });
            now && in_phase(&shown, phase)
        });
        let id = id.into_inner().unwrap();
        let before = lab.events(&id);
        running.signal("KILL");
        running.wait();
        fs::write(&file, script(said)).unwrap();
        let view = lab.debate(&["resume", &id, "--yes", "--json"]).success().json();
        assert_eq!(view["status"], "completed", "{format}, killed in {phase}: {view:#}");
        let after = lab.events(&id);
        assert_eq!(
            after[..before.len()],
            before[..],
            "{format}, {phase}: what was recorded stands"
        );
        let taken = lab.turns_taken(&id);
        assert!(taken.values().all(|times| *times == 1), "{format}, {phase}: none twice");
        lab.replays(&id);
    }
}

/// Whether the first due turn belongs to a phase.
fn in_phase(shown: &Value, phase: &str) -> bool {
    let rows = |turn: &Value| -> Option<(usize, usize)> {
        let mut parts = turn.as_str()?.split('.').map(|part| part.parse().ok());
        let (act, _) = (parts.next()??, parts.next()??);
        let act: usize = act;
        let row: usize = parts.next()??;
        Some((act, row))
    };
    let due = shown["due"]["driven"][0].clone();
    let table = table(shown["format"].as_str().unwrap());
    rows(&due).is_some_and(|(act, row)| table[act][row] == phase)
}

/// Phase names of each act of a format.
fn table(format: &str) -> Vec<Vec<String>> {
    let all = debate_mcp::debate::formats::built_in_formats();
    let format = all.into_iter().find(|it| it.name == format).unwrap();
    let act = |act: debate_mcp::debate::Act| act.phases.into_iter().map(|it| it.name).collect();
    format.acts.into_iter().map(act).collect()
}

#[test]
fn a_research_killed_in_any_step_is_finished() {
    let said = research(Tongue::English);
    killed_in_every_phase("research", &said, &["investigate", "rebut", "audit", "judge"], &[]);
}

#[test]
fn a_dialogue_killed_in_any_step_is_finished() {
    let phases = ["position", "challenge", "respond", "insights"];
    killed_in_every_phase("dialectic", &dialectic(), &phases, &["--rounds", "2"]);
}

#[test]
fn a_court_killed_in_any_step_is_finished() {
    let phases = ["argue", "petition", "admit", "address", "score", "judge", "vote"];
    killed_in_every_phase("tribunal", &tribunal(7), &phases, &["--rounds", "7", "--same-judge"]);
}
