//! Human seats: a person types each turn on stdin, here through a pipe.
use super::lab::{Call, Lab, speech, until};
use serde_json::json;

fn against_me(lab: &Lab, more: &[&str]) -> Call {
    let pro = lab.seat("pro.json");
    let seats = ["run", "Me?", "--proposer", &pro, "--challenger", "human"];
    lab.debate(&[&seats, more].concat())
}

#[test]
fn a_person_speaks_until_a_line_with_a_dot() {
    let lab = Lab::new();
    let said = format!(
        "{}\n.\nIt still locks.\n\nAnd a dot . inside, or ..\n.\n",
        speech("It locks.", "C1", &["P1"])
    );
    let done = against_me(&lab, &[]).stdin(&said).success();
    done.says(&[
        "Proposer: script",
        "Challenger: human",
        "script had the stronger argument because:",
    ]);
    done.warns("It is your turn: Challenger (human), round 1");
    done.warns("Use one file.");
    done.warns("You are the CHALLENGER");
    let state = lab.state();
    assert_eq!(state["challenger"], json!({"tool": "human", "model": null}));
    assert_eq!(state["exchanges"][1]["response"], "It locks.");
    assert_eq!(state["exchanges"][3]["response"], "It still locks.\n\nAnd a dot . inside, or ..");
    lab.replays(&lab.last());
}

#[test]
fn the_last_speech_needs_no_dot() {
    let lab = Lab::new();
    against_me(&lab, &["--rounds", "1"]).stdin("It locks.").success();
    assert_eq!(lab.state()["exchanges"][1]["response"], "It locks.");
}

#[test]
fn when_nobody_answers_the_debate_waits() {
    for said in ["", "\n\n", ".\n", "  \n.\n"] {
        let lab = Lab::new();
        let done = against_me(&lab, &["--rounds", "1"]).stdin(said).ends(2);
        done.warns("`challenger` is awaited, and nobody answered.");
        done.warns("Go on with: debate resume debate-");
        assert_eq!(lab.state()["status"], "in-progress");
        let done = lab.debate(&["resume"]).stdin("It locks.\n.\n").success();
        done.says(&["### Verdict"]);
        let taken = lab.turns_taken(&lab.last());
        assert!(taken.values().all(|times| *times == 1), "{taken:?}");
        lab.replays(&lab.last());
    }
}

#[test]
fn one_speech_at_a_time_is_enough() {
    let lab = Lab::new();
    against_me(&lab, &[]).stdin("One.\n.\n").ends(2);
    assert_eq!(lab.state()["exchanges"].as_array().unwrap().len(), 3);
    lab.debate(&["resume"]).stdin("Two.\n").success();
    assert_eq!(lab.state()["exchanges"].as_array().unwrap().len(), 4);
}

#[test]
fn a_speech_that_is_refused_is_not_on_the_record() {
    let lab = Lab::new();
    let agrees = "Great.\n\n```claims\n{\"claims\": []}\n```\n.\n";
    let done = against_me(&lab, &["--rounds", "1"]).stdin(agrees).ends(2);
    done.warns("[WARN] the reply was not taken: no flaw or overlooked consideration");
    done.warns("Go on with: debate resume");
    let id = lab.last();
    assert_eq!(lab.turns_taken(&id).len(), 1);
    let wrong = "No.\n\n```claims\n{\"claims\": [{\"id\": \"C1\", \"text\": \"x\"}], \
                 \"concedes\": [{\"claim\": \"P1\", \"quote\": \"never said\"}]}\n```\n";
    lab.debate(&["resume"]).stdin(wrong).ends(2).warns("does not quote that claim");
    lab.debate(&["resume"]).stdin(&speech("A flaw.", "C1", &["P1"])).success();
    lab.replays(&id);
}

#[test]
fn people_can_play_and_judge_it_all() {
    let lab = Lab::new();
    let mut verdict = super::lab::ruling("con");
    verdict["scores"] = json!({"A": 10, "B": 20});
    let said = format!("For it.\n.\nAgainst it.\n.\n{verdict}\n.\n");
    let args = ["run", "Us?", "--proposer", "human", "--challenger", "host", "--rounds", "1"];
    let done = lab.debate(&args).stdin(&said).success();
    done.says(&["host had the stronger argument because:", "Decided: by one ruling."]);
    lab.replays(&lab.last());
}

#[test]
fn a_person_is_asked_again_after_a_verdict_that_is_none() {
    let lab = Lab::new();
    let args = ["run", "Us?", "--proposer", "human", "--challenger", "host", "--rounds", "1"];
    let done = lab.debate(&args).stdin("For.\n.\nAgainst.\n.\nBoth.\n.\n").ends(2);
    done.warns("the reply was not taken: PARSE_ERROR:verdict:not_json");
    let ruling = super::lab::ruling("pro").to_string();
    lab.debate(&["resume"]).stdin(&ruling).success().says(&["human had the stronger argument"]);
}

/// The process must end on SIGINT although it waits for a line on stdin.
#[test]
fn ctrl_c_works_while_a_person_is_awaited() {
    let lab = Lab::new();
    lab.debate(&["list"]).success();
    let mut running = against_me(&lab, &[]).start();
    until("the person is asked", || {
        let listed = lab.debate(&["list", "--json"]).success().json();
        let id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && lab.events(&id).len() == 3
    });
    until("it no longer waits for a line", || {
        running.signal("INT");
        running.is_over()
    });
    assert_eq!(running.wait().code, Some(2));
}
