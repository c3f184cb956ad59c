//! Human seats: a person types each turn on stdin, here through a pipe.
use super::test_env::{DebateCommand, TestEnv, speech_with_claim, wait_until};
use serde_json::json;

fn run_against_human(env: &TestEnv, extra_args: &[&str]) -> DebateCommand {
    let pro = env.script_seat("pro.json");
    let seats = ["run", "Me?", "--proposer", &pro, "--challenger", "human"];
    env.debate(&[&seats, extra_args].concat())
}

#[test]
fn human_speech_ends_at_a_line_with_a_dot() {
    let env = TestEnv::new();
    let input = format!(
        "{}\n.\nIt still locks.\n\nAnd a dot . inside, or ..\n.\n",
        speech_with_claim("It locks.", "C1", &["P1"])
    );
    let output = run_against_human(&env, &[]).stdin(&input).expect_success();
    output.assert_stdout_contains(&[
        "Proposer: script",
        "Challenger: human",
        "script had the stronger argument because:",
    ]);
    output.assert_stderr_contains("It is your turn: Challenger (human), round 1");
    output.assert_stderr_contains("Use one file.");
    output.assert_stderr_contains("You are the CHALLENGER");
    let state = env.state_file_json();
    assert_eq!(state["challenger"], json!({"tool": "human", "model": null}));
    assert_eq!(state["exchanges"][1]["response"], "It locks.");
    assert_eq!(state["exchanges"][3]["response"], "It still locks.\n\nAnd a dot . inside, or ..");
    env.assert_replays(&env.latest_debate_id());
}

#[test]
fn end_of_input_ends_the_last_speech() {
    let env = TestEnv::new();
    run_against_human(&env, &["--rounds", "1"]).stdin("It locks.").expect_success();
    assert_eq!(env.state_file_json()["exchanges"][1]["response"], "It locks.");
}

#[test]
fn empty_input_leaves_the_debate_in_progress() {
    for input in ["", "\n\n", ".\n", "  \n.\n"] {
        let env = TestEnv::new();
        let output = run_against_human(&env, &["--rounds", "1"]).stdin(input).expect_exit_code(2);
        output.assert_stderr_contains("`challenger` is awaited, and nobody answered.");
        output.assert_stderr_contains("Go on with: debate resume debate-");
        assert_eq!(env.state_file_json()["status"], "in-progress");
        let output = env.debate(&["resume"]).stdin("It locks.\n.\n").expect_success();
        output.assert_stdout_contains(&["### Verdict"]);
        let turn_counts = env.turn_counts(&env.latest_debate_id());
        assert!(turn_counts.values().all(|times| *times == 1), "{turn_counts:?}");
        env.assert_replays(&env.latest_debate_id());
    }
}

#[test]
fn human_speeches_may_come_in_separate_runs() {
    let env = TestEnv::new();
    run_against_human(&env, &[]).stdin("One.\n.\n").expect_exit_code(2);
    assert_eq!(env.state_file_json()["exchanges"].as_array().unwrap().len(), 3);
    env.debate(&["resume"]).stdin("Two.\n").expect_success();
    assert_eq!(env.state_file_json()["exchanges"].as_array().unwrap().len(), 4);
}

#[test]
fn rejected_human_speech_is_not_recorded() {
    let env = TestEnv::new();
    let agreement = "Great.\n\n```claims\n{\"claims\": []}\n```\n.\n";
    let output = run_against_human(&env, &["--rounds", "1"]).stdin(agreement).expect_exit_code(2);
    output.assert_stderr_contains(
        "[WARN] the reply was not taken: no flaw or overlooked consideration",
    );
    output.assert_stderr_contains("Go on with: debate resume");
    let id = env.latest_debate_id();
    assert_eq!(env.turn_counts(&id).len(), 1);
    let false_concession = "No.\n\n```claims\n{\"claims\": [{\"id\": \"C1\", \"text\": \"x\"}], \
                 \"concedes\": [{\"claim\": \"P1\", \"quote\": \"never said\"}]}\n```\n";
    env.debate(&["resume"])
        .stdin(false_concession)
        .expect_exit_code(2)
        .assert_stderr_contains("does not quote that claim");
    env.debate(&["resume"]).stdin(&speech_with_claim("A flaw.", "C1", &["P1"])).expect_success();
    env.assert_replays(&id);
}

#[test]
fn humans_can_play_both_sides_and_judge() {
    let env = TestEnv::new();
    let mut verdict = super::test_env::verdict_json("con");
    verdict["scores"] = json!({"A": 10, "B": 20});
    let input = format!("For it.\n.\nAgainst it.\n.\n{verdict}\n.\n");
    let args = ["run", "Us?", "--proposer", "human", "--challenger", "host", "--rounds", "1"];
    let output = env.debate(&args).stdin(&input).expect_success();
    output.assert_stdout_contains(&[
        "host had the stronger argument because:",
        "Decided: by one ruling.",
    ]);
    env.assert_replays(&env.latest_debate_id());
}

#[test]
fn human_judge_is_asked_again_after_an_invalid_verdict() {
    let env = TestEnv::new();
    let args = ["run", "Us?", "--proposer", "human", "--challenger", "host", "--rounds", "1"];
    let output = env.debate(&args).stdin("For.\n.\nAgainst.\n.\nBoth.\n.\n").expect_exit_code(2);
    output.assert_stderr_contains("the reply was not taken: PARSE_ERROR:verdict:not_json");
    let ruling = super::test_env::verdict_json("pro").to_string();
    env.debate(&["resume"])
        .stdin(&ruling)
        .expect_success()
        .assert_stdout_contains(&["human had the stronger argument"]);
}

/// The process must end on SIGINT although it waits for a line on stdin.
#[test]
fn ctrl_c_ends_the_wait_for_human_input() {
    let env = TestEnv::new();
    env.debate(&["list"]).expect_success();
    let mut running = run_against_human(&env, &[]).spawn();
    wait_until("the human is asked", || {
        let listed = env.debate(&["list", "--json"]).expect_success().json();
        let id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty() && env.events(&id).len() == 3
    });
    wait_until("the process has exited", || {
        running.send_signal("INT");
        running.has_exited()
    });
    assert_eq!(running.wait().exit_code, Some(2));
}
