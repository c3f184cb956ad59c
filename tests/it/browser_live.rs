//! Live view of a debate that another process runs: streamed text, and reconnecting after a server
//! restart.
use crate::browser::{View, chromium, play};
use crate::browser_stage::{begin, challenger, let_on, proposer};
use crate::lab::{Lab, speech, until};
use serde_json::{Value, json};

const FIRST: &str = "Use one file: it is copied as a whole, and nobody has to look after it. ";
const SECOND: &str = "A server has to be installed, watched and paid for by somebody. ";

fn lab() -> Lab {
    let lab = Lab::new();
    proposer(&lab, &[FIRST, SECOND, &speech("That is all.", "P1", &[])]);
    challenger(&lab, &speech("One file locks.", "C1", &["P1"]));
    lab
}

/// Checks that the browser saw every recorded turn exactly once.
#[track_caller]
fn all_seen(lab: &Lab, id: &str, seen: &Value) {
    let taken = lab.turns_taken(id);
    assert!(taken.len() >= 4, "{taken:?}");
    let taken: Vec<String> =
        taken.keys().map(|turn| format!("turn-{}", turn.replace('.', "-"))).collect();
    let seen = seen.as_array().unwrap().iter().map(|id| id.as_str().unwrap());
    let mut seen: Vec<&str> = seen.filter(|id| id.starts_with("turn-")).collect();
    seen.sort_unstable();
    assert_eq!(seen, taken);
}

#[test]
fn a_debate_played_by_another_process_is_watched_word_by_word() {
    let Some(tools) = chromium() else { return };
    let lab = lab();
    let played = begin(&lab, "One file or a database?", "1");
    let view = View::at(&lab, None);
    let stage = json!({"url": view.url, "id": played.id, "first": FIRST, "second": SECOND});
    let seen = play(&tools, "live", stage, |ask| {
        let steps: &[(&str, usize)] = if ask == "go on" {
            &[("claude", 1)]
        } else {
            &[("claude", 2), ("claude", 3), ("codex", 1)]
        };
        for (tool, step) in steps {
            let_on(&lab, tool, *step);
        }
        Value::Null
    });
    all_seen(&lab, &played.id, &seen["ids"]);
}

#[test]
fn a_server_that_comes_back_neither_loses_nor_repeats_a_turn() {
    let Some(tools) = chromium() else { return };
    let lab = lab();
    let played = begin(&lab, "One file or a database?", "1");
    let view = View::at(&lab, None);
    let (port, stage) = (view.port(), json!({"url": view.url, "id": played.id}));
    let mut view = Some(view);
    let seen = play(&tools, "reconnect", stage, |ask| {
        match ask {
            "kill" => view.take().unwrap().kill(),
            "happens meanwhile" => {
                (1..=3).for_each(|step| let_on(&lab, "claude", step));
                until("somebody has spoken unseen", || lab.turns_taken(&played.id).len() == 1);
            }
            "restart" => view = Some(View::at(&lab, Some(&port))),
            _ => let_on(&lab, "codex", 1),
        }
        Value::Null
    });
    all_seen(&lab, &played.id, &seen["ids"]);
    all_seen(&lab, &played.id, &seen["came"]);
}
