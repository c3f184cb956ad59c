//! Crash test per format: the process is killed while a turn of each phase is pending, and resumed.
//! The debate must complete, with recorded events unchanged and no turn taken twice.
use crate::scripted_replies::{
    ReplyLanguage, ScriptedReply, dialectic, research, to_script_json, tribunal,
};
use crate::test_env::{TestEnv, wait_until};
use serde_json::Value;
use std::fs;

/// The script with a delay of 10 minutes in one phase, so that the process hangs there.
fn script_hanging_in_phase(replies: &[ScriptedReply], phase: &str) -> String {
    let mut script: Value = serde_json::from_str(&to_script_json(replies)).unwrap();
    for turn in script["turns"].as_array_mut().unwrap() {
        if turn["phase"] == phase {
            turn["delay_ms"] = 600_000.into();
        }
    }
    script.to_string()
}

fn assert_resumes_after_kill(
    format: &str,
    replies: &[ScriptedReply],
    phases: &[&str],
    extra_args: &[&str],
) {
    for phase in phases {
        let env = TestEnv::new();
        let file = env.temp_path("cast.json");
        fs::write(&file, script_hanging_in_phase(replies, phase)).unwrap();
        let seat = env.script_seat("cast.json");
        let topic = "Faster with one file or many?";
        let args = ["run", topic, "--format", format, "--model", &seat, "--yes", "--no-probe"];
        let mut process = env.debate(&[&args[..], extra_args].concat()).spawn();
        // Wait until the turn is requested and not answered.
        let id = std::cell::OnceCell::new();
        wait_until(phase, || {
            assert!(!process.has_exited(), "{format} ended before {phase}");
            let listed = env.debate(&["list", "--json"]).output().stdout;
            let listed: Value = serde_json::from_str(&listed).unwrap_or_default();
            let Some(first_id) = listed["debates"][0]["id"].as_str() else { return false };
            let id = id.get_or_init(|| first_id.to_owned());
            let shown = env.debate(&["show", id, "--json"]).expect_success().json();
            let due = shown["due"]["driven"].as_array().cloned().unwrap_or_default();
            let asked = env.events(id);
            let asked = asked.iter().rfind(|event| event["event"] == "asked");
            let is_asked = asked.is_some_and(|event| {
                let cue = crate::test_env::turn_id(&event["cues"][0]);
                due.iter().any(|turn| *turn == cue)
            });
            is_asked && is_due_in_phase(&shown, phase)
        });
        let id = id.into_inner().unwrap();
        let before = env.events(&id);
        process.send_signal("KILL");
        process.wait();
        fs::write(&file, to_script_json(replies)).unwrap();
        let view = env.debate(&["resume", &id, "--yes", "--json"]).expect_success().json();
        assert_eq!(view["status"], "completed", "{format}, killed in {phase}: {view:#}");
        let after = env.events(&id);
        assert_eq!(
            after[..before.len()],
            before[..],
            "{format}, {phase}: recorded events are unchanged"
        );
        let turn_counts = env.turn_counts(&id);
        assert!(turn_counts.values().all(|times| *times == 1), "{format}, {phase}: no turn twice");
        env.assert_replays(&id);
    }
}

/// Whether the first due turn belongs to a phase.
fn is_due_in_phase(shown: &Value, phase: &str) -> bool {
    let act_and_phase = |turn: &Value| -> Option<(usize, usize)> {
        let mut parts = turn.as_str()?.split('.').map(|part| part.parse().ok());
        let (act, _) = (parts.next()??, parts.next()??);
        let act: usize = act;
        let phase_index: usize = parts.next()??;
        Some((act, phase_index))
    };
    let due = shown["due"]["driven"][0].clone();
    let phases = phases_by_act(shown["format"].as_str().unwrap());
    act_and_phase(&due).is_some_and(|(act, phase_index)| phases[act][phase_index] == phase)
}

/// Phase names of each act of a format.
fn phases_by_act(format: &str) -> Vec<Vec<String>> {
    let formats = debate_mcp::debate::formats::built_in_formats();
    let format = formats.into_iter().find(|it| it.name == format).unwrap();
    let act = |act: debate_mcp::debate::Act| act.phases.into_iter().map(|it| it.name).collect();
    format.acts.into_iter().map(act).collect()
}

#[test]
fn research_killed_in_any_phase_can_be_resumed() {
    let replies = research(ReplyLanguage::English);
    assert_resumes_after_kill(
        "research",
        &replies,
        &["investigate", "rebut", "audit", "judge"],
        &[],
    );
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
