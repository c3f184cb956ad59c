//! Live view of a debate that another process runs: streamed text, and reconnecting after a server
//! restart.
use crate::browser_fake_clis::{install_challenger, install_proposer, release_step, start_debate};
use crate::browser_harness::{ViewServer, find_browser_tools, run_scenario};
use crate::test_env::{TestEnv, speech_with_claim, wait_until};
use serde_json::{Value, json};

const FIRST_CHUNK: &str =
    "Use one file: it is copied as a whole, and nobody has to look after it. ";
const SECOND_CHUNK: &str = "A server has to be installed, watched and paid for by somebody. ";

fn env_with_fake_clis() -> TestEnv {
    let lab = TestEnv::new();
    install_proposer(
        &lab,
        &[FIRST_CHUNK, SECOND_CHUNK, &speech_with_claim("That is all.", "P1", &[])],
    );
    install_challenger(&lab, &speech_with_claim("One file locks.", "C1", &["P1"]));
    lab
}

/// Checks that the browser saw every recorded turn exactly once.
#[track_caller]
fn check_all_turns_seen(lab: &TestEnv, id: &str, seen: &Value) {
    let taken = lab.turn_counts(id);
    assert!(taken.len() >= 4, "{taken:?}");
    let taken: Vec<String> =
        taken.keys().map(|turn| format!("turn-{}", turn.replace('.', "-"))).collect();
    let seen = seen.as_array().unwrap().iter().map(|id| id.as_str().unwrap());
    let mut seen: Vec<&str> = seen.filter(|id| id.starts_with("turn-")).collect();
    seen.sort_unstable();
    assert_eq!(seen, taken);
}

#[test]
fn debate_of_another_process_is_streamed_live() {
    let Some(tools) = find_browser_tools() else { return };
    let lab = env_with_fake_clis();
    let played = start_debate(&lab, "One file or a database?", "1");
    let view = ViewServer::start(&lab, None);
    let stage =
        json!({"url": view.url, "id": played.id, "first": FIRST_CHUNK, "second": SECOND_CHUNK});
    let seen = run_scenario(&tools, "live", stage, |ask| {
        let steps: &[(&str, usize)] = if ask == "go on" {
            &[("claude", 1)]
        } else {
            &[("claude", 2), ("claude", 3), ("codex", 1)]
        };
        for (tool, step) in steps {
            release_step(&lab, tool, *step);
        }
        Value::Null
    });
    check_all_turns_seen(&lab, &played.id, &seen["ids"]);
}

#[test]
fn reconnect_neither_loses_nor_repeats_turns() {
    let Some(tools) = find_browser_tools() else { return };
    let lab = env_with_fake_clis();
    let played = start_debate(&lab, "One file or a database?", "1");
    let view = ViewServer::start(&lab, None);
    let (port, stage) = (view.port(), json!({"url": view.url, "id": played.id}));
    let mut view = Some(view);
    let seen = run_scenario(&tools, "reconnect", stage, |ask| {
        match ask {
            "kill" => view.take().unwrap().kill(),
            "happens meanwhile" => {
                (1..=3).for_each(|step| release_step(&lab, "claude", step));
                wait_until("somebody has spoken unseen", || lab.turn_counts(&played.id).len() == 1);
            }
            "restart" => view = Some(ViewServer::start(&lab, Some(&port))),
            _ => release_step(&lab, "codex", 1),
        }
        Value::Null
    });
    check_all_turns_seen(&lab, &played.id, &seen["ids"]);
    check_all_turns_seen(&lab, &played.id, &seen["came"]);
}
