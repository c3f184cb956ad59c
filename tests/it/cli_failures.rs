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

fn failing_line(seat: &str, round: Option<u8>, trouble: &str) -> Value {
    let mut line = json!({"seat": seat, "fail": {"trouble": trouble, "note": "as planned"}});
    if let Some(round) = round {
        line["round"] = round.into();
    }
    line
}

const NO_WINNER: &str = "No verdict was given, and nobody has won.";
const INCOMPLETE: &str = "is incomplete";

fn check_failure(name: &str, fails: Vec<Value>, row: &FailureCase) {
    let lab = TestEnv::new();
    let script = fails.into_iter().fold(SeatScript::new(), SeatScript::prepend);
    lab.write_script(&script);
    let done = lab.debate_run("Does it fail?", &[]).expect_exit_code(row.exit_code);
    done.assert_stdout_contains(row.stdout_parts);
    let id = lab.latest_debate_id();
    let state = lab.state_file_json();
    assert_eq!(state["status"], row.status, "{name}");
    assert_eq!(state["verdict"].is_null(), !row.has_verdict, "{name}");
    assert_eq!(done.stdout.contains("had the stronger argument"), row.has_verdict, "{name}");
    assert_eq!(lab.turn_counts(&id).len(), row.turns_before_and_after.0, "{name}");
    lab.assert_replays(&id);
    // Resume without `--retry` changes nothing.
    let before = lab.events(&id);
    lab.debate(&["resume", &id]).expect_exit_code(row.exit_code);
    assert_eq!(lab.events(&id), before, "{name}");
    check_retry(&lab, &id, name, row, &before);
}

fn check_retry(lab: &TestEnv, id: &str, name: &str, row: &FailureCase, before: &[Value]) {
    lab.write_script(&SeatScript::new());
    let done = lab.debate(&["resume", "--retry"]).expect_success();
    done.assert_stdout_contains(&[
        "### Verdict",
        "proposer had the stronger argument because:",
        "### Recommendation",
    ]);
    assert_eq!(lab.latest_debate_id(), id);
    let events = lab.events(id);
    assert_eq!(&events[..before.len()], before, "{name}: the log only grows");
    let reopened = events.iter().filter(|event| event["event"] == "reopened").count();
    assert_eq!(reopened, 1, "{name}");
    let taken = lab.turn_counts(id);
    assert_eq!(taken.len(), row.turns_before_and_after.1, "{name}: {taken:?}");
    for (turn, times) in taken {
        let wanted = if row.retaken_turns.contains(&turn.as_str()) { 2 } else { 1 };
        assert_eq!(times, wanted, "{name}: turn {turn}");
    }
    check_asked_once(&events, name);
    assert_eq!(lab.state_file_json()["status"], "completed", "{name}");
    assert!(lab.state_file_json()["verdict"].is_object());
    lab.assert_replays(id);
}

/// Checks that no turn is asked twice within a take.
fn check_asked_once(events: &[Value], name: &str) {
    let mut take = vec![];
    for event in events {
        match event["event"].as_str() {
            Some("reopened") => take.clear(),
            Some("asked") => {
                for cue in event["cues"].as_array().unwrap() {
                    let cue = turn_id(cue);
                    assert!(!take.contains(&cue), "{name}: {cue} was asked twice");
                    take.push(cue);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn failed_proposal_aborts_the_debate() {
    let troubles = [("crashed", 1), ("refused", 1), ("not_found", 4), ("not_logged_in", 4)];
    for (trouble, code) in troubles {
        let row = FailureCase {
            status: "aborted",
            exit_code: code,
            stdout_parts: &["Status: aborted", "[WARN] Proposer (script)", "as planned"],
            has_verdict: false,
            turns_before_and_after: (0, 6),
            retaken_turns: &[],
        };
        check_failure(trouble, vec![failing_line("proposer", Some(1), trouble)], &row);
    }
}

#[test]
fn timeout_of_every_turn_is_reported() {
    let row = FailureCase {
        status: "failed",
        exit_code: 1,
        stdout_parts: &["Status: failed", "[ERROR] Debate failed: all tool invocations timed out."],
        has_verdict: false,
        turns_before_and_after: (0, 6),
        retaken_turns: &[],
    };
    check_failure("timed out", vec![failing_line("proposer", None, "timed_out")], &row);
}

#[test]
fn failed_challenger_leaves_the_proposal_uncontested() {
    for trouble in ["crashed", "not_found", "timed_out", "empty"] {
        let row = FailureCase {
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
        check_failure(trouble, vec![failing_line("challenger", Some(1), trouble)], &row);
    }
}

#[test]
fn later_failure_gets_a_verdict_on_completed_rounds() {
    // The rulings on one round are taken again once there are two rounds.
    let again = &["3.0.0.3", "3.0.0.4"];
    let rows = [("proposer", 2, 4), ("challenger", 2, 5)];
    for (seat, round, turns) in rows {
        let row = FailureCase {
            status: "degraded",
            exit_code: 5,
            stdout_parts: &["Rounds: 1", "[WARN] Round 2", INCOMPLETE, "### Verdict"],
            has_verdict: true,
            turns_before_and_after: (turns, 6),
            retaken_turns: again,
        };
        check_failure(seat, vec![failing_line(seat, Some(round), "crashed")], &row);
    }
}

#[test]
fn failed_judge_leaves_no_verdict() {
    let row = FailureCase {
        status: "degraded",
        exit_code: 5,
        stdout_parts: &["Rounds: 2", "[WARN] No judge ruled", NO_WINNER],
        has_verdict: false,
        turns_before_and_after: (4, 6),
        retaken_turns: &[],
    };
    check_failure("judge", vec![failing_line("judge", None, "crashed")], &row);
}

#[test]
fn one_of_two_rulings_is_enough_for_a_verdict() {
    let row = FailureCase {
        status: "degraded",
        exit_code: 5,
        stdout_parts: &["[WARN]", "crashed", "### Verdict", "Decided: by one ruling."],
        has_verdict: true,
        turns_before_and_after: (5, 6),
        retaken_turns: &[],
    };
    check_failure("mirror", vec![failing_line("mirror", None, "crashed")], &row);
}

#[test]
fn failed_scribe_is_replaced_by_a_mechanical_summary() {
    let lab = TestEnv::new();
    lab.write_script(&SeatScript::new().prepend(failing_line("scribe", None, "crashed")));
    let done = lab.debate_run("Sum up?", &["--rounds", "3"]).expect_exit_code(5);
    done.assert_stdout_contains(&[
        "Rounds: 3",
        "[WARN] Scribe (script) crashed in round 3",
        "### Verdict",
    ]);
    let prompt = lab.debate(&["show", "--prompt", "2.3.1.0"]).expect_success();
    prompt.assert_stdout_contains(&["Mechanical summary"]);
}

#[test]
fn turn_over_its_timeout_fails() {
    let lab = TestEnv::new();
    let slow = json!({"seat": "proposer", "text": "Too late.", "delay_ms": 60_000});
    lab.write_script(&SeatScript::new().prepend(slow));
    let done = lab.debate_run("Slow?", &["--turn-timeout", "1"]).expect_exit_code(1);
    done.assert_stdout_contains(&["[ERROR] Debate failed: all tool invocations timed out."]);
    done.assert_stderr_contains("timed out: no answer within 1 s");
}

#[test]
fn script_without_a_matching_line_fails_the_turn() {
    let lab = TestEnv::new();
    lab.write_script(&SeatScript::empty());
    let done = lab.debate_run("Mute?", &[]).expect_exit_code(4);
    done.assert_stdout_contains(&["the script has no line for `proposer`, `propose`, round 1"]);
}

#[test]
fn retry_without_a_failure_is_refused() {
    let lab = TestEnv::new();
    lab.debate_run("Fine?", &["--rounds", "1"]).expect_success();
    let before = lab.events(&lab.latest_debate_id());
    let done: CommandOutput = lab.debate(&["resume", "--retry"]).expect_error(2);
    done.assert_stderr_contains("hint:");
    assert_eq!(lab.events(&lab.latest_debate_id()), before);
}

#[test]
fn resume_of_ended_debate_repeats_result_and_exit_code() {
    let lab = TestEnv::new();
    let first = lab.debate_run("Over?", &["--rounds", "1"]).expect_success();
    let again = lab.debate(&["resume", "last"]).expect_success();
    assert_eq!(first.stdout, again.stdout);
    again.assert_stderr_contains("has ended already");
    lab.debate(&["resume"]).expect_error(2).assert_stderr_contains("there is no unfinished debate");
}

#[test]
fn failed_seat_can_be_handed_to_another_participant() {
    let lab = TestEnv::new();
    lab.write_script(&SeatScript::new().prepend(failing_line(
        "challenger",
        Some(1),
        "not_logged_in",
    )));
    lab.debate_run("Hand over?", &["--rounds", "1"]).expect_exit_code(5);
    std::fs::write(lab.temp_path("other.json"), {
        let text = super::test_env::speech_with_claim("Somebody else.", "C1", &["P1"]);
        json!({"turns": [{"text": text}]}).to_string()
    })
    .unwrap();
    let seat = format!("challenger={}", lab.script_seat("other.json"));
    lab.write_script(&SeatScript::new());
    lab.debate(&["resume", "--retry", "--seat", &seat]).expect_success();
    let said = lab.state_file_json()["exchanges"].clone();
    assert_eq!(said[1]["response"], "Somebody else.");
    lab.assert_replays(&lab.latest_debate_id());
}

#[test]
fn handover_in_an_ended_debate_is_refused_with_a_hint() {
    let lab = TestEnv::new();
    lab.debate_run("Over?", &["--rounds", "1"]).expect_success();
    let done = lab.debate(&["resume", "last", "--seat", "challenger=human"]).output();
    assert_eq!((done.exit_code, done.stdout.as_str()), (Some(2), ""), "{done:#?}");
    done.assert_stderr_contains("hint:");
}
