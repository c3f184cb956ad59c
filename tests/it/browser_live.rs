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
    let env = TestEnv::new();
    install_proposer(
        &env,
        &[FIRST_CHUNK, SECOND_CHUNK, &speech_with_claim("That is all.", "P1", &[])],
    );
    install_challenger(&env, &speech_with_claim("One file locks.", "C1", &["P1"]));
    env
}

/// Checks that the browser saw every recorded turn exactly once.
#[track_caller]
fn check_all_turns_seen(env: &TestEnv, id: &str, seen: &Value) {
    let turns = env.turn_counts(id);
    assert!(turns.len() >= 4, "{turns:?}");
    let turns: Vec<String> =
        turns.keys().map(|turn| format!("turn-{}", turn.replace('.', "-"))).collect();
    let seen = seen.as_array().unwrap().iter().map(|id| id.as_str().unwrap());
    let mut seen: Vec<&str> = seen.filter(|id| id.starts_with("turn-")).collect();
    seen.sort_unstable();
    assert_eq!(seen, turns);
}

#[test]
fn debate_of_another_process_is_streamed_live() {
    let Some(tools) = find_browser_tools() else { return };
    let env = env_with_fake_clis();
    let debate = start_debate(&env, "One file or a database?", "1");
    let server = ViewServer::start(&env, None);
    let input =
        json!({"url": server.url, "id": debate.id, "first": FIRST_CHUNK, "second": SECOND_CHUNK});
    let seen = run_scenario(&tools, "live", input, |request| {
        let steps: &[(&str, usize)] = if request == "go on" {
            &[("claude", 1)]
        } else {
            &[("claude", 2), ("claude", 3), ("codex", 1)]
        };
        for (tool, step) in steps {
            release_step(&env, tool, *step);
        }
        Value::Null
    });
    check_all_turns_seen(&env, &debate.id, &seen["ids"]);
}

#[test]
fn reconnect_neither_loses_nor_repeats_turns() {
    let Some(tools) = find_browser_tools() else { return };
    let env = env_with_fake_clis();
    let debate = start_debate(&env, "One file or a database?", "1");
    let server = ViewServer::start(&env, None);
    let (port, input) = (server.port(), json!({"url": server.url, "id": debate.id}));
    let mut server = Some(server);
    let seen = run_scenario(&tools, "reconnect", input, |request| {
        match request {
            "kill" => server.take().unwrap().kill(),
            "happens meanwhile" => {
                (1..=3).for_each(|step| release_step(&env, "claude", step));
                wait_until("an unseen turn is recorded", || env.turn_counts(&debate.id).len() == 1);
            }
            "restart" => server = Some(ViewServer::start(&env, Some(&port))),
            _ => release_step(&env, "codex", 1),
        }
        Value::Null
    });
    check_all_turns_seen(&env, &debate.id, &seen["ids"]);
    check_all_turns_seen(&env, &debate.id, &seen["came"]);
}
