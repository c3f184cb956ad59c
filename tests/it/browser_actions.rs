//! Actions in the browser (remark, pause, verdict, vote): they require the token, and they reach
//! the process that runs the debate.
use crate::browser_fake_clis::{install_challenger, install_proposer, release_step, start_debate};
use crate::browser_harness::{ViewServer, find_browser_tools, run_scenario};
use crate::scripted_replies::tribunal;
use crate::test_env::{TestEnv, speech_with_claim, wait_until};
use serde_json::{Value, json};

fn has_event(lab: &TestEnv, id: &str, event: &str) -> bool {
    lab.events(id).iter().any(|it| it["event"] == event)
}

#[test]
fn token_holder_can_remark_pause_and_conclude() {
    let Some(tools) = find_browser_tools() else { return };
    let lab = TestEnv::new();
    install_proposer(&lab, &[&speech_with_claim("Use one file.", "P1", &[])]);
    install_challenger(&lab, &speech_with_claim("One file locks.", "C1", &["P1"]));
    let mut played = start_debate(&lab, "One file or a database?", "3");
    let id = played.id.clone();
    let view = ViewServer::start(&lab, None);
    let stage = json!({"url": view.url, "enter": view.owner_url, "id": id});
    run_scenario(&tools, "actions", stage, |ask| {
        match ask {
            "is it recorded?" => {
                wait_until("it is recorded", || has_event(&lab, &id, "interjected"))
            }
            "does it pause?" => {
                wait_until("the wish is recorded", || has_event(&lab, &id, "held"));
                release_step(&lab, "claude", 1);
                release_step(&lab, "codex", 1);
                wait_until("it pauses", || played.process.has_exited());
            }
            "go on" => drop(lab.debate(&["resume", &id]).expect_success()),
            what => panic!("{what}?"),
        }
        Value::Null
    });
    assert!(!lab.events(&id).iter().any(|event| event.to_string().contains("let me in")));
    assert!(!lab.events(&id).iter().any(|event| event.to_string().contains("forged")));
    lab.assert_replays(&id);
}

#[test]
fn human_listener_votes_in_the_browser() {
    let Some(tools) = find_browser_tools() else { return };
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(3));
    let topic = "Faster with one file or many?";
    let args = ["run", topic, "--format", "tribunal", "--model", &seat, "--rounds", "3"];
    let more = ["--same-judge", "--listener", "risk-averse=human", "--listener", "rational-logic"];
    // The human listener petitions for nothing, and stdin has ended when the vote is due.
    let none = "{\"intent\": \"none\"}\n.\n".repeat(3);
    lab.debate(&[&args[..], &more].concat()).stdin(&none).expect_exit_code(2);
    let id = lab.latest_debate_id();
    let view = ViewServer::start(&lab, None);
    let stage = json!({"url": view.url, "enter": view.owner_url, "id": id});
    run_scenario(&tools, "vote", stage, |_| {
        wait_until("the vote is recorded", || {
            lab.events(&id).iter().any(|event| {
                event["event"] == "spoke"
                    && event.to_string().contains("Backups of one file are simple")
            })
        });
        lab.debate(&["resume", &id]).expect_success();
        Value::Null
    });
    lab.assert_replays(&id);
}
