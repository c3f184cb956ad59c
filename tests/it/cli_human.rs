//! Human seats: a person types each turn on stdin, here through a pipe.
use super::test_env::{DebateCommand, TestEnv, speech_with_claim, wait_until};
use serde_json::json;

fn run_against_human(lab: &TestEnv, more: &[&str]) -> DebateCommand {
    let pro = lab.script_seat("pro.json");
    let seats = ["run", "Me?", "--proposer", &pro, "--challenger", "human"];
    lab.debate(&[&seats, more].concat())
}

#[test]
fn human_speech_ends_at_a_line_with_a_dot() {
    let lab = TestEnv::new();
    let said = format!(
        "{}\n.\nIt still locks.\n\nAnd a dot . inside, or ..\n.\n",
        speech_with_claim("It locks.", "C1", &["P1"])
    );
    let done = run_against_human(&lab, &[]).stdin(&said).expect_success();
    done.assert_stdout_contains(&[
        "Proposer: script",
        "Challenger: human",
        "script had the stronger argument because:",
    ]);
    done.assert_stderr_contains("It is your turn: Challenger (human), round 1");
    done.assert_stderr_contains("Use one file.");
    done.assert_stderr_contains("You are the CHALLENGER");
    let state = lab.state_file_json();
    assert_eq!(state["challenger"], json!({"tool": "human", "model": null}));
    assert_eq!(state["exchanges"][1]["response"], "It locks.");
    assert_eq!(state["exchanges"][3]["response"], "It still locks.\n\nAnd a dot . inside, or ..");
    lab.assert_replays(&lab.latest_debate_id());
}

#[test]
fn end_of_input_ends_the_last_speech() {
    let lab = TestEnv::new();
    run_against_human(&lab, &["--rounds", "1"]).stdin("It locks.").expect_success();
    assert_eq!(lab.state_file_json()["exchanges"][1]["response"], "It locks.");
}

#[test]
fn empty_input_leaves_the_debate_in_progress() {
    for said in ["", "\n\n", ".\n", "  \n.\n"] {
        let lab = TestEnv::new();
        let done = run_against_human(&lab, &["--rounds", "1"]).stdin(said).expect_exit_code(2);
        done.assert_stderr_contains("`challenger` is awaited, and nobody answered.");
        done.assert_stderr_contains("Go on with: debate resume debate-");
        assert_eq!(lab.state_file_json()["status"], "in-progress");
        let done = lab.debate(&["resume"]).stdin("It locks.\n.\n").expect_success();
        done.assert_stdout_contains(&["### Verdict"]);
        let taken = lab.turn_counts(&lab.latest_debate_id());
        assert!(taken.values().all(|times| *times == 1), "{taken:?}");
        lab.assert_replays(&lab.latest_debate_id());
    }
}

#[test]
fn human_speeches_may_come_in_separate_runs() {
    let lab = TestEnv::new();
    run_against_human(&lab, &[]).stdin("One.\n.\n").expect_exit_code(2);
    assert_eq!(lab.state_file_json()["exchanges"].as_array().unwrap().len(), 3);
    lab.debate(&["resume"]).stdin("Two.\n").expect_success();
    assert_eq!(lab.state_file_json()["exchanges"].as_array().unwrap().len(), 4);
}

#[test]
fn rejected_human_speech_is_not_recorded() {
    let lab = TestEnv::new();
    let agrees = "Great.\n\n```claims\n{\"claims\": []}\n```\n.\n";
    let done = run_against_human(&lab, &["--rounds", "1"]).stdin(agrees).expect_exit_code(2);
    done.assert_stderr_contains(
        "[WARN] the reply was not taken: no flaw or overlooked consideration",
    );
    done.assert_stderr_contains("Go on with: debate resume");
    let id = lab.latest_debate_id();
    assert_eq!(lab.turn_counts(&id).len(), 1);
    let wrong = "No.\n\n```claims\n{\"claims\": [{\"id\": \"C1\", \"text\": \"x\"}], \
                 \"concedes\": [{\"claim\": \"P1\", \"quote\": \"never said\"}]}\n```\n";
    lab.debate(&["resume"])
        .stdin(wrong)
        .expect_exit_code(2)
        .assert_stderr_contains("does not quote that claim");
    lab.debate(&["resume"]).stdin(&speech_with_claim("A flaw.", "C1", &["P1"])).expect_success();
    lab.assert_replays(&id);
}

#[test]
fn humans_can_play_both_sides_and_judge() {
    let lab = TestEnv::new();
    let mut verdict = super::test_env::verdict_json("con");
    verdict["scores"] = json!({"A": 10, "B": 20});
    let said = format!("For it.\n.\nAgainst it.\n.\n{verdict}\n.\n");
    let args = ["run", "Us?", "--proposer", "human", "--challenger", "host", "--rounds", "1"];
    let done = lab.debate(&args).stdin(&said).expect_success();
    done.assert_stdout_contains(&[
        "host had the stronger argument because:",
        "Decided: by one ruling.",
    ]);
    lab.assert_replays(&lab.latest_debate_id());
}

#[test]
fn human_judge_is_asked_again_after_an_invalid_verdict() {
    let lab = TestEnv::new();
    let args = ["run", "Us?", "--proposer", "human", "--challenger", "host", "--rounds", "1"];
    let done = lab.debate(&args).stdin("For.\n.\nAgainst.\n.\nBoth.\n.\n").expect_exit_code(2);
    done.assert_stderr_contains("the reply was not taken: PARSE_ERROR:verdict:not_json");
    let ruling = super::test_env::verdict_json("pro").to_string();
    lab.debate(&["resume"])
        .stdin(&ruling)
        .expect_success()
        .assert_stdout_contains(&["human had the stronger argument"]);
}

/// The process must end on SIGINT although it waits for a line on stdin.
#[test]
fn ctrl_c_ends_the_wait_for_human_input() {
    let lab = TestEnv::new();
    lab.debate(&["list"]).expect_success();
    let mut running = run_against_human(&lab, &[]).spawn();
    wait_until("the person is asked", || {
        let listed = lab.debate(&["list", "--json"]).expect_success().json();
        let id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && lab.events(&id).len() == 3
    });
    wait_until("it no longer waits for a line", || {
        running.send_signal("INT");
        running.has_exited()
    });
    assert_eq!(running.wait().exit_code, Some(2));
}
