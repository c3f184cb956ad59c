//! Failed turns of every seat: output, exit code, state file, and a retry that finishes the debate
//! without asking any seat twice.
use super::test_env::{CommandOutput, SeatScript, TestEnv, turn_id};
use serde_json::{Value, json};

/// Expected result of a failed turn.
struct FailureCase {
    status: &'static str,
    exit_code: i32,
    /// Parts of stdout, in this order.
    stdout_parts: &'static [&'static str],
    has_verdict: bool,
    /// Turns in the log before and after the retry.
    turns_before_and_after: (usize, usize),
    retaken_turns: &'static [&'static str],
}

fn failing_line(seat: &str, round: Option<u8>, failure_kind: &str) -> Value {
    let mut line = json!({"seat": seat, "fail": {"trouble": failure_kind, "note": "as planned"}});
    if let Some(round) = round {
        line["round"] = round.into();
    }
    line
}

const NO_WINNER: &str = "No verdict was given, and nobody has won.";
const INCOMPLETE: &str = "is incomplete";

fn check_failure(name: &str, failing_lines: Vec<Value>, case: &FailureCase) {
    let env = TestEnv::new();
    let script = failing_lines.into_iter().fold(SeatScript::new(), SeatScript::prepend);
    env.write_script(&script);
    let output = env.debate_run("Does it fail?", &[]).expect_exit_code(case.exit_code);
    output.assert_stdout_contains(case.stdout_parts);
    let id = env.latest_debate_id();
    let state = env.state_file_json();
    assert_eq!(state["status"], case.status, "{name}");
    assert_eq!(state["verdict"].is_null(), !case.has_verdict, "{name}");
    assert_eq!(output.stdout.contains("had the stronger argument"), case.has_verdict, "{name}");
    assert_eq!(env.turn_counts(&id).len(), case.turns_before_and_after.0, "{name}");
    env.assert_replays(&id);
    // Resume without `--retry` changes nothing.
    let before = env.events(&id);
    env.debate(&["resume", &id]).expect_exit_code(case.exit_code);
    assert_eq!(env.events(&id), before, "{name}");
    check_retry(&env, &id, name, case, &before);
}

fn check_retry(env: &TestEnv, id: &str, name: &str, case: &FailureCase, before: &[Value]) {
    env.write_script(&SeatScript::new());
    let output = env.debate(&["resume", "--retry"]).expect_success();
    output.assert_stdout_contains(&[
        "### Verdict",
        "proposer had the stronger argument because:",
        "### Recommendation",
    ]);
    assert_eq!(env.latest_debate_id(), id);
    let events = env.events(id);
    assert_eq!(&events[..before.len()], before, "{name}: the log only grows");
    let reopened = events.iter().filter(|event| event["event"] == "reopened").count();
    assert_eq!(reopened, 1, "{name}");
    let turn_counts = env.turn_counts(id);
    assert_eq!(turn_counts.len(), case.turns_before_and_after.1, "{name}: {turn_counts:?}");
    for (turn, times) in turn_counts {
        let expected = if case.retaken_turns.contains(&turn.as_str()) { 2 } else { 1 };
        assert_eq!(times, expected, "{name}: turn {turn}");
    }
    check_asked_once(&events, name);
    assert_eq!(env.state_file_json()["status"], "completed", "{name}");
    assert!(env.state_file_json()["verdict"].is_object());
    env.assert_replays(id);
}

/// Checks that no turn is asked twice within a take.
fn check_asked_once(events: &[Value], name: &str) {
    let mut asked_turns = vec![];
    for event in events {
        match event["event"].as_str() {
            Some("reopened") => asked_turns.clear(),
            Some("asked") => {
                for cue in event["cues"].as_array().unwrap() {
                    let cue = turn_id(cue);
                    assert!(!asked_turns.contains(&cue), "{name}: {cue} was asked twice");
                    asked_turns.push(cue);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn failed_proposal_aborts_the_debate() {
    let failures = [("crashed", 1), ("refused", 1), ("not_found", 4), ("not_logged_in", 4)];
    for (failure_kind, code) in failures {
        let case = FailureCase {
            status: "aborted",
            exit_code: code,
            stdout_parts: &["Status: aborted", "[WARN] Proposer (script)", "as planned"],
            has_verdict: false,
            turns_before_and_after: (0, 6),
            retaken_turns: &[],
        };
        check_failure(failure_kind, vec![failing_line("proposer", Some(1), failure_kind)], &case);
    }
}

#[test]
fn timeout_of_every_turn_is_reported() {
    let case = FailureCase {
        status: "failed",
        exit_code: 1,
        stdout_parts: &["Status: failed", "[ERROR] Debate failed: all tool invocations timed out."],
        has_verdict: false,
        turns_before_and_after: (0, 6),
        retaken_turns: &[],
    };
    check_failure("timed out", vec![failing_line("proposer", None, "timed_out")], &case);
}

#[test]
fn failed_challenger_leaves_the_proposal_uncontested() {
    for failure_kind in ["crashed", "not_found", "timed_out", "empty"] {
        let case = FailureCase {
            status: "degraded",
            exit_code: 5,
            stdout_parts: &[
                "Status: degraded-success",
                "[WARN] Challenger failed. Showing proposer's uncontested position.",
                "Use one file.",
                NO_WINNER,
            ],
            has_verdict: false,
            turns_before_and_after: (1, 6),
            retaken_turns: &[],
        };
        check_failure(failure_kind, vec![failing_line("challenger", Some(1), failure_kind)], &case);
    }
}

#[test]
fn later_failure_gets_a_verdict_on_completed_rounds() {
    // The rulings on one round are taken again once there are two rounds.
    let retaken_turns = &["3.0.0.3", "3.0.0.4"];
    let cases = [("proposer", 2, 4), ("challenger", 2, 5)];
    for (seat, round, turns) in cases {
        let case = FailureCase {
            status: "degraded",
            exit_code: 5,
            stdout_parts: &["Rounds: 1", "[WARN] Round 2", INCOMPLETE, "### Verdict"],
            has_verdict: true,
            turns_before_and_after: (turns, 6),
            retaken_turns,
        };
        check_failure(seat, vec![failing_line(seat, Some(round), "crashed")], &case);
    }
}

#[test]
fn failed_judge_leaves_no_verdict() {
    let case = FailureCase {
        status: "degraded",
        exit_code: 5,
        stdout_parts: &["Rounds: 2", "[WARN] No judge ruled", NO_WINNER],
        has_verdict: false,
        turns_before_and_after: (4, 6),
        retaken_turns: &[],
    };
    check_failure("judge", vec![failing_line("judge", None, "crashed")], &case);
}

#[test]
fn one_of_two_rulings_is_enough_for_a_verdict() {
    let case = FailureCase {
        status: "degraded",
        exit_code: 5,
        stdout_parts: &["[WARN]", "crashed", "### Verdict", "Decided: by one ruling."],
        has_verdict: true,
        turns_before_and_after: (5, 6),
        retaken_turns: &[],
    };
    check_failure("mirror", vec![failing_line("mirror", None, "crashed")], &case);
}

#[test]
fn failed_scribe_is_replaced_by_a_mechanical_summary() {
    let env = TestEnv::new();
    env.write_script(&SeatScript::new().prepend(failing_line("scribe", None, "crashed")));
    let output = env.debate_run("Sum up?", &["--rounds", "3"]).expect_exit_code(5);
    output.assert_stdout_contains(&[
        "Rounds: 3",
        "[WARN] Scribe (script) crashed in round 3",
        "### Verdict",
    ]);
    let prompt = env.debate(&["show", "--prompt", "2.3.1.0"]).expect_success();
    prompt.assert_stdout_contains(&["Mechanical summary"]);
}

#[test]
fn turn_over_its_timeout_fails() {
    let env = TestEnv::new();
    let slow = json!({"seat": "proposer", "text": "Too late.", "delay_ms": 60_000});
    env.write_script(&SeatScript::new().prepend(slow));
    let output = env.debate_run("Slow?", &["--turn-timeout", "1"]).expect_exit_code(1);
    output.assert_stdout_contains(&["[ERROR] Debate failed: all tool invocations timed out."]);
    output.assert_stderr_contains("timed out: no answer within 1 s");
}

#[test]
fn script_without_a_matching_line_fails_the_turn() {
    let env = TestEnv::new();
    env.write_script(&SeatScript::empty());
    let output = env.debate_run("Mute?", &[]).expect_exit_code(4);
    output.assert_stdout_contains(&["the script has no line for `proposer`, `propose`, round 1"]);
}

#[test]
fn retry_without_a_failure_is_refused() {
    let env = TestEnv::new();
    env.debate_run("Fine?", &["--rounds", "1"]).expect_success();
    let before = env.events(&env.latest_debate_id());
    let output: CommandOutput = env.debate(&["resume", "--retry"]).expect_error(2);
    output.assert_stderr_contains("hint:");
    assert_eq!(env.events(&env.latest_debate_id()), before);
}

#[test]
fn resume_of_ended_debate_repeats_result_and_exit_code() {
    let env = TestEnv::new();
    let first_run = env.debate_run("Over?", &["--rounds", "1"]).expect_success();
    let resumed = env.debate(&["resume", "last"]).expect_success();
    assert_eq!(first_run.stdout, resumed.stdout);
    resumed.assert_stderr_contains("has ended already");
    env.debate(&["resume"]).expect_error(2).assert_stderr_contains("there is no unfinished debate");
}

#[test]
fn failed_seat_can_be_handed_to_another_participant() {
    let env = TestEnv::new();
    env.write_script(&SeatScript::new().prepend(failing_line(
        "challenger",
        Some(1),
        "not_logged_in",
    )));
    env.debate_run("Hand over?", &["--rounds", "1"]).expect_exit_code(5);
    std::fs::write(env.temp_path("other.json"), {
        let text = super::test_env::speech_with_claim("Somebody else.", "C1", &["P1"]);
        json!({"turns": [{"text": text}]}).to_string()
    })
    .unwrap();
    let seat = format!("challenger={}", env.script_seat("other.json"));
    env.write_script(&SeatScript::new());
    env.debate(&["resume", "--retry", "--seat", &seat]).expect_success();
    let exchanges = env.state_file_json()["exchanges"].clone();
    assert_eq!(exchanges[1]["response"], "Somebody else.");
    env.assert_replays(&env.latest_debate_id());
}

#[test]
fn handover_in_an_ended_debate_is_refused_with_a_hint() {
    let env = TestEnv::new();
    env.debate_run("Over?", &["--rounds", "1"]).expect_success();
    let output = env.debate(&["resume", "last", "--seat", "challenger=human"]).output();
    assert_eq!((output.exit_code, output.stdout.as_str()), (Some(2), ""), "{output:#?}");
    output.assert_stderr_contains("hint:");
}
