//! Actions in the browser (remark, pause, verdict, vote): they require the token, and they reach
//! the process that runs the debate.
use crate::browser::{View, chromium, play};
use crate::browser_stage::{begin, challenger, let_on, proposer};
use crate::casts::tribunal;
use crate::lab::{Lab, speech, until};
use serde_json::{Value, json};

fn has(lab: &Lab, id: &str, event: &str) -> bool {
    lab.events(id).iter().any(|it| it["event"] == event)
}

#[test]
fn whoever_has_the_token_remarks_pauses_and_asks_for_the_verdict() {
    let Some(tools) = chromium() else { return };
    let lab = Lab::new();
    proposer(&lab, &[&speech("Use one file.", "P1", &[])]);
    challenger(&lab, &speech("One file locks.", "C1", &["P1"]));
    let mut played = begin(&lab, "One file or a database?", "3");
    let id = played.id.clone();
    let view = View::at(&lab, None);
    let stage = json!({"url": view.url, "enter": view.enter, "id": id});
    play(&tools, "actions", stage, |ask| {
        match ask {
            "is it recorded?" => until("it is recorded", || has(&lab, &id, "interjected")),
            "does it pause?" => {
                until("the wish is recorded", || has(&lab, &id, "held"));
                let_on(&lab, "claude", 1);
                let_on(&lab, "codex", 1);
                until("it pauses", || played.running.is_over());
            }
            "go on" => drop(lab.debate(&["resume", &id]).success()),
            what => panic!("{what}?"),
        }
        Value::Null
    });
    assert!(!lab.events(&id).iter().any(|event| event.to_string().contains("let me in")));
    assert!(!lab.events(&id).iter().any(|event| event.to_string().contains("forged")));
    lab.replays(&id);
}

#[test]
fn a_person_in_the_audience_votes() {
    let Some(tools) = chromium() else { return };
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(3));
    let topic = "Faster with one file or many?";
    let args = ["run", topic, "--format", "tribunal", "--model", &seat, "--rounds", "3"];
    let more = ["--same-judge", "--listener", "risk-averse=human", "--listener", "rational-logic"];
    // The human listener petitions for nothing, and stdin has ended when the vote is due.
    let none = "{\"intent\": \"none\"}\n.\n".repeat(3);
    lab.debate(&[&args[..], &more].concat()).stdin(&none).ends(2);
    let id = lab.last();
    let view = View::at(&lab, None);
    let stage = json!({"url": view.url, "enter": view.enter, "id": id});
    play(&tools, "vote", stage, |_| {
        until("the vote is recorded", || {
            lab.events(&id).iter().any(|event| {
                event["event"] == "spoke"
                    && event.to_string().contains("Backups of one file are simple")
            })
        });
        lab.debate(&["resume", &id]).success();
        Value::Null
    });
    lab.replays(&id);
}
