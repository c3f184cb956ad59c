//! Actions in the browser (remark, pause, verdict, vote): they require the token, and they reach
//! the process that runs the debate.
use crate::browser_fake_clis::{install_challenger, install_proposer, release_step, start_debate};
use crate::browser_harness::{ViewServer, find_browser_tools, run_scenario};
use crate::scripted_replies::tribunal;
use crate::test_env::{TestEnv, speech_with_claim, wait_until};
use serde_json::{Value, json};

fn has_event(env: &TestEnv, id: &str, event: &str) -> bool {
    env.events(id).iter().any(|recorded| recorded["event"] == event)
}

#[test]
fn token_holder_can_remark_pause_and_conclude() {
    let Some(tools) = find_browser_tools() else { return };
    let env = TestEnv::new();
    install_proposer(&env, &[&speech_with_claim("Use one file.", "P1", &[])]);
    install_challenger(&env, &speech_with_claim("One file locks.", "C1", &["P1"]));
    let mut debate = start_debate(&env, "One file or a database?", "3");
    let id = debate.id.clone();
    let server = ViewServer::start(&env, None);
    let input = json!({"url": server.url, "enter": server.owner_url, "id": id});
    run_scenario(&tools, "actions", input, |request| {
        match request {
            "is it recorded?" => {
                wait_until("the remark is recorded", || has_event(&env, &id, "interjected"));
            }
            "does it pause?" => {
                wait_until("the pause is recorded", || has_event(&env, &id, "held"));
                release_step(&env, "claude", 1);
                release_step(&env, "codex", 1);
                wait_until("the debate is paused", || debate.process.has_exited());
            }
            "go on" => drop(env.debate(&["resume", &id]).expect_success()),
            unknown => panic!("unknown request {unknown:?}"),
        }
        Value::Null
    });
    assert!(!env.events(&id).iter().any(|event| event.to_string().contains("let me in")));
    assert!(!env.events(&id).iter().any(|event| event.to_string().contains("forged")));
    env.assert_replays(&id);
}

#[test]
fn human_listener_votes_in_the_browser() {
    let Some(tools) = find_browser_tools() else { return };
    let env = TestEnv::new();
    let seat = env.write_replies(&tribunal(3));
    let topic = "Faster with one file or many?";
    let args = ["run", topic, "--format", "tribunal", "--model", &seat, "--rounds", "3"];
    let more_args =
        ["--same-judge", "--listener", "risk-averse=human", "--listener", "rational-logic"];
    // The human listener petitions for nothing, and stdin has ended when the vote is due.
    let empty_petitions = "{\"intent\": \"none\"}\n.\n".repeat(3);
    env.debate(&[&args[..], &more_args].concat()).stdin(&empty_petitions).expect_exit_code(2);
    let id = env.latest_debate_id();
    let server = ViewServer::start(&env, None);
    let input = json!({"url": server.url, "enter": server.owner_url, "id": id});
    run_scenario(&tools, "vote", input, |_| {
        wait_until("the vote is recorded", || {
            env.events(&id).iter().any(|event| {
                event["event"] == "spoke"
                    && event.to_string().contains("Backups of one file are simple")
            })
        });
        env.debate(&["resume", &id]).expect_success();
        Value::Null
    });
    env.assert_replays(&id);
}
