//! Failed turns of every seat: output, exit code, state file, and a retry that finishes the debate
//! without asking any seat twice.
use super::lab::{Done, Lab, Script, turn};
use serde_json::{Value, json};

/// Expected result of a failed turn.
struct Row {
    status: &'static str,
    code: i32,
    /// Parts of stdout, in this order.
    says: &'static [&'static str],
    verdict: bool,
    /// Turns in the log before and after the retry.
    turns: (usize, usize),
    again: &'static [&'static str],
}

fn fail(seat: &str, round: Option<u8>, trouble: &str) -> Value {
    let mut line = json!({"seat": seat, "fail": {"trouble": trouble, "note": "as planned"}});
    if let Some(round) = round {
        line["round"] = round.into();
    }
    line
}

const NO_WINNER: &str = "No verdict was given, and nobody has won.";
const INCOMPLETE: &str = "is incomplete";

fn check(name: &str, fails: Vec<Value>, row: &Row) {
    let lab = Lab::new();
    let script = fails.into_iter().fold(Script::new(), Script::first);
    lab.write(&script);
    let done = lab.run("Does it fail?", &[]).ends(row.code);
    done.says(row.says);
    let id = lab.last();
    let state = lab.state();
    assert_eq!(state["status"], row.status, "{name}");
    assert_eq!(state["verdict"].is_null(), !row.verdict, "{name}");
    assert_eq!(done.out.contains("had the stronger argument"), row.verdict, "{name}");
    assert_eq!(lab.turns_taken(&id).len(), row.turns.0, "{name}");
    lab.replays(&id);
    // Resume without `--retry` changes nothing.
    let before = lab.events(&id);
    lab.debate(&["resume", &id]).ends(row.code);
    assert_eq!(lab.events(&id), before, "{name}");
    retried(&lab, &id, name, row, &before);
}

fn retried(lab: &Lab, id: &str, name: &str, row: &Row, before: &[Value]) {
    lab.write(&Script::new());
    let done = lab.debate(&["resume", "--retry"]).success();
    done.says(&[
        "### Verdict",
        "proposer had the stronger argument because:",
        "### Recommendation",
    ]);
    assert_eq!(lab.last(), id);
    let events = lab.events(id);
    assert_eq!(&events[..before.len()], before, "{name}: the log only grows");
    let reopened = events.iter().filter(|event| event["event"] == "reopened").count();
    assert_eq!(reopened, 1, "{name}");
    let taken = lab.turns_taken(id);
    assert_eq!(taken.len(), row.turns.1, "{name}: {taken:?}");
    for (turn, times) in taken {
        let wanted = if row.again.contains(&turn.as_str()) { 2 } else { 1 };
        assert_eq!(times, wanted, "{name}: turn {turn}");
    }
    asked_once(&events, name);
    assert_eq!(lab.state()["status"], "completed", "{name}");
    assert!(lab.state()["verdict"].is_object());
    lab.replays(id);
}

/// Checks that no turn is asked twice within a take.
fn asked_once(events: &[Value], name: &str) {
    let mut take = vec![];
    for event in events {
        match event["event"].as_str() {
            Some("reopened") => take.clear(),
            Some("asked") => {
                for cue in event["cues"].as_array().unwrap() {
                    let cue = turn(cue);
                    assert!(!take.contains(&cue), "{name}: {cue} was asked twice");
                    take.push(cue);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn without_a_proposal_there_is_nothing_to_debate() {
    let troubles = [("crashed", 1), ("refused", 1), ("not_found", 4), ("not_logged_in", 4)];
    for (trouble, code) in troubles {
        let row = Row {
            status: "aborted",
            code,
            says: &["Status: aborted", "[WARN] Proposer (script)", "as planned"],
            verdict: false,
            turns: (0, 6),
            again: &[],
        };
        check(trouble, vec![fail("proposer", Some(1), trouble)], &row);
    }
}

#[test]
fn when_everyone_timed_out_it_is_said_in_so_many_words() {
    let row = Row {
        status: "failed",
        code: 1,
        says: &["Status: failed", "[ERROR] Debate failed: all tool invocations timed out."],
        verdict: false,
        turns: (0, 6),
        again: &[],
    };
    check("timed out", vec![fail("proposer", None, "timed_out")], &row);
}

#[test]
fn a_challenger_that_never_answers_leaves_the_proposal_uncontested() {
    for trouble in ["crashed", "not_found", "timed_out", "empty"] {
        let row = Row {
            status: "degraded",
            code: 5,
            says: &[
                "Status: degraded-success",
                "[WARN] Challenger failed. Showing proposer's uncontested position.",
                "Use one file.",
                NO_WINNER,
            ],
            verdict: false,
            turns: (1, 6),
            again: &[],
        };
        check(trouble, vec![fail("challenger", Some(1), trouble)], &row);
    }
}

#[test]
fn a_later_failure_leaves_a_verdict_on_what_was_completed() {
    // The rulings on one round are taken again once there are two rounds.
    let again = &["3.0.0.3", "3.0.0.4"];
    let rows = [("proposer", 2, 4), ("challenger", 2, 5)];
    for (seat, round, turns) in rows {
        let row = Row {
            status: "degraded",
            code: 5,
            says: &["Rounds: 1", "[WARN] Round 2", INCOMPLETE, "### Verdict"],
            verdict: true,
            turns: (turns, 6),
            again,
        };
        check(seat, vec![fail(seat, Some(round), "crashed")], &row);
    }
}

#[test]
fn without_a_judge_there_is_no_verdict() {
    let row = Row {
        status: "degraded",
        code: 5,
        says: &["Rounds: 2", "[WARN] No judge ruled", NO_WINNER],
        verdict: false,
        turns: (4, 6),
        again: &[],
    };
    check("judge", vec![fail("judge", None, "crashed")], &row);
}

#[test]
fn one_of_two_rulings_is_enough_and_the_other_can_be_had_later() {
    let row = Row {
        status: "degraded",
        code: 5,
        says: &["[WARN]", "crashed", "### Verdict", "Decided: by one ruling."],
        verdict: true,
        turns: (5, 6),
        again: &[],
    };
    check("mirror", vec![fail("mirror", None, "crashed")], &row);
}

#[test]
fn a_lost_summary_is_made_from_the_record() {
    let lab = Lab::new();
    lab.write(&Script::new().first(fail("scribe", None, "crashed")));
    let done = lab.run("Sum up?", &["--rounds", "3"]).ends(5);
    done.says(&["Rounds: 3", "[WARN] Scribe (script) crashed in round 3", "### Verdict"]);
    let prompt = lab.debate(&["show", "--prompt", "2.3.1.0"]).success();
    prompt.says(&["Mechanical summary"]);
}

#[test]
fn a_turn_that_takes_too_long_has_failed() {
    let lab = Lab::new();
    let slow = json!({"seat": "proposer", "text": "Too late.", "delay_ms": 60_000});
    lab.write(&Script::new().first(slow));
    let done = lab.run("Slow?", &["--turn-timeout", "1"]).ends(1);
    done.says(&["[ERROR] Debate failed: all tool invocations timed out."]);
    done.warns("timed out: no answer within 1 s");
}

#[test]
fn a_script_without_a_line_fails_the_turn_and_names_it() {
    let lab = Lab::new();
    lab.write(&Script::empty());
    let done = lab.run("Mute?", &[]).ends(4);
    done.says(&["the script has no line for `proposer`, `propose`, round 1"]);
}

#[test]
fn there_is_nothing_to_retry_where_nothing_failed() {
    let lab = Lab::new();
    lab.run("Fine?", &["--rounds", "1"]).success();
    let before = lab.events(&lab.last());
    let done: Done = lab.debate(&["resume", "--retry"]).fails_with(2);
    done.warns("hint:");
    assert_eq!(lab.events(&lab.last()), before);
}

#[test]
fn resuming_what_has_ended_shows_its_result_and_its_code() {
    let lab = Lab::new();
    let first = lab.run("Over?", &["--rounds", "1"]).success();
    let again = lab.debate(&["resume", "last"]).success();
    assert_eq!(first.out, again.out);
    again.warns("has ended already");
    lab.debate(&["resume"]).fails_with(2).warns("there is no unfinished debate");
}

#[test]
fn a_failed_seat_can_be_handed_to_someone_else() {
    let lab = Lab::new();
    lab.write(&Script::new().first(fail("challenger", Some(1), "not_logged_in")));
    lab.run("Hand over?", &["--rounds", "1"]).ends(5);
    std::fs::write(lab.outside("other.json"), {
        let text = super::lab::speech("Somebody else.", "C1", &["P1"]);
        json!({"turns": [{"text": text}]}).to_string()
    })
    .unwrap();
    let seat = format!("challenger={}", lab.seat("other.json"));
    lab.write(&Script::new());
    lab.debate(&["resume", "--retry", "--seat", &seat]).success();
    let said = lab.state()["exchanges"].clone();
    assert_eq!(said[1]["response"], "Somebody else.");
    lab.replays(&lab.last());
}

#[test]
fn handing_over_a_seat_of_an_ended_debate_is_refused_with_a_hint() {
    let lab = Lab::new();
    lab.run("Over?", &["--rounds", "1"]).success();
    let done = lab.debate(&["resume", "last", "--seat", "challenger=human"]).done();
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{done:#?}");
    done.warns("hint:");
}
