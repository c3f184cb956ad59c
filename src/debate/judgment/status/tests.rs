//! Status of a debate: status words, notices, labels, rigor line and completed rounds.
use crate::debate::status::{
    ALL_TIMED_OUT, NO_EXCHANGES, UNCONTESTED_WARNING, UNVERIFIED_RIGOR, completed_rounds, labels,
    notices, rigor, side_name, status,
};
use crate::debate::{
    Amendment, CitationStatus, Debate, DebateOutcome, Event, FailureKind, Format, HoldPoint,
    Origin, Participant, Role, Setup, Side, Status, Step, formats, next,
};
use crate::test_support::debate_fixture::{
    apply_events, arena_with_forfeit, ask_open_turns, citation, cost_budget, cue, debate_setup,
    due_cues, model_participant, open_debate, play_debate, play_to_end, play_until,
    record_reply_with, speech, without_roles,
};
use crate::test_support::simulated_players::{amended_event, failed_event, valid_reply};

fn duel_setup() -> Setup {
    without_roles(debate_setup(formats::duel(), 2), &[Role::Mirror])
}

/// Plays a debate in which these turns time out, and checks its status and notices.
#[track_caller]
fn assert_status(format: Format, failing: &[&str], expected: &str, expected_notices: &[&str]) {
    let debate = play_to_end(without_roles(debate_setup(format, 2), &[Role::Mirror]), failing);
    assert_eq!(
        (status(&debate).as_str(), notices(&debate)),
        (expected, expected_notices.iter().map(|t| (*t).into()).collect())
    );
}

#[test]
fn every_outcome_has_its_status_and_notices() {
    assert_status(formats::duel(), &[], "completed", &[]);
    assert_status(
        formats::duel(),
        &["1.propose"],
        "failed",
        &[
            "[ERROR] Debate failed: all tool invocations timed out.",
            "[WARN] Proposer (claude) timed out in round 1: down",
        ],
    );
    assert_status(
        formats::duel(),
        &["1.challenge"],
        "degraded",
        &[
            "[WARN] Challenger failed. Showing proposer's uncontested position.",
            "[WARN] Challenger (codex) timed out in round 1: down",
        ],
    );
    assert_status(
        formats::duel(),
        &["2.defend"],
        "degraded",
        &[
            "[WARN] Round 2 is incomplete (`defend` failed); the result rests on the completed rounds.",
            "[WARN] Proposer (claude) timed out in round 2: down",
        ],
    );
    assert_status(
        formats::duel(),
        &["0.judge"],
        "degraded",
        &[
            "[WARN] No judge ruled; both positions are shown without a verdict.",
            "[WARN] Judge (gemini) timed out: down",
        ],
    );
    assert_status(
        formats::research(),
        &["0.rebut/Eli"],
        "degraded",
        &["[WARN] Advocate (gemini) timed out: down"],
    );
    assert_status(
        formats::dialectic(),
        &["1.challenge"],
        "aborted",
        &["[WARN] Sub Agent (gemini) timed out in round 1: down"],
    );
    assert_status(
        arena_with_forfeit(),
        &["1.open/Bob"],
        "degraded",
        &["[WARN] Challenger (codex) timed out in round 1: down"],
    );
}

#[test]
fn empty_debate_is_failed_or_aborted_by_cause() {
    for (kind, expected, notice) in [
        (FailureKind::TimedOut, Status::Failed, ALL_TIMED_OUT),
        (FailureKind::NotFound, Status::Aborted, NO_EXCHANGES),
    ] {
        let mut debate = open_debate(duel_setup());
        ask_open_turns(&mut debate);
        let failure = failed_event(&debate, due_cues(&debate)[0], kind);
        apply_events(&mut debate, [failure]);
        assert_eq!((status(&debate), notices(&debate).len()), (Status::InProgress, 1));
        play_debate(&mut debate, &[], |_| false);
        assert_eq!((status(&debate), notices(&debate)[0].as_str()), (expected, notice));
    }
    assert_eq!(NO_EXCHANGES, "[ERROR] Debate failed: no successful exchanges were recorded.");
    assert_eq!(
        UNCONTESTED_WARNING,
        "[WARN] Challenger failed. Showing proposer's uncontested position."
    );
}

#[test]
fn unfinished_debate_is_in_progress_or_paused() {
    let mut setup = duel_setup();
    setup.holds = vec![HoldPoint::Start];
    let mut debate = open_debate(setup);
    assert_eq!(status(&debate), Status::Paused);
    let Step::Hold { next: held_cue, .. } = next(&debate) else { panic!() };
    apply_events(&mut debate, [Event::Continued { before: held_cue.position() }]);
    assert_eq!(status(&debate), Status::InProgress);
    play_debate(&mut debate, &[], |debate| debate.turns().count() == 1);
    apply_events(&mut debate, [amended_event(Amendment::Limit { budget: cost_budget(2) })]);
    assert_eq!(status(&debate), Status::InProgress);
    play_debate(&mut debate, &[], |debate| matches!(next(debate), Step::Hold { .. }));
    assert_eq!(status(&debate), Status::Paused, "the budget is spent");
    apply_events(&mut debate, [Event::Cancelled { because: None }]);
    assert_eq!((status(&debate), notices(&debate)), (Status::Cancelled, vec![]));
    let mut concluded = open_debate(duel_setup());
    play_until(&mut concluded, 2, "defend");
    apply_events(&mut concluded, [Event::Concluded { because: None }]);
    play_debate(&mut concluded, &[], |_| false);
    assert_eq!(
        (concluded.outcome(), status(&concluded)),
        (Some(&DebateOutcome::Ended), Status::Completed)
    );
}

#[test]
fn cancel_and_conclude_keep_their_reason() {
    let reason = |text: &str| Some(text.to_owned());
    let mut debate = open_debate(duel_setup());
    play_debate(&mut debate, &[], |debate| debate.turns().count() == 2);
    apply_events(&mut debate, [Event::Cancelled { because: reason("one side was away for 90 s") }]);
    assert_eq!(debate.end_reason(), Some("one side was away for 90 s"));
    assert_eq!(notices(&debate), ["[INFO] Cancelled: one side was away for 90 s"]);
    // After reopening, the reason is gone.
    let from = debate.reopen_cue().unwrap();
    apply_events(&mut debate, [Event::Reopened { from }]);
    assert_eq!(debate.end_reason(), None);
    apply_events(&mut debate, [Event::Concluded { because: reason("all is said") }]);
    play_debate(&mut debate, &[], |_| false);
    assert_eq!(notices(&debate), ["[INFO] Concluded: all is said"]);
    assert_eq!(debate.end_reason(), Some("all is said"));
}

#[test]
fn old_cancelled_event_without_reason_round_trips() {
    let old: Event = serde_json::from_str(r#"{"event":"cancelled"}"#).unwrap();
    assert_eq!(old, Event::Cancelled { because: None });
    assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"event":"cancelled"}"#);
    let with_reason = Event::Cancelled { because: Some("no bot came".into()) };
    let json = serde_json::to_string(&with_reason).unwrap();
    assert_eq!(json, r#"{"event":"cancelled","because":"no bot came"}"#);
    assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), with_reason);
}

#[test]
fn status_has_a_stored_and_a_displayed_word() {
    for (status, word, result_word, is_over) in [
        (Status::InProgress, "in-progress", "in-progress", false),
        (Status::Paused, "paused", "paused", false),
        (Status::Completed, "completed", "success", true),
        (Status::Degraded, "degraded", "degraded-success", true),
        (Status::Aborted, "aborted", "aborted", true),
        (Status::Failed, "failed", "failed", true),
        (Status::Cancelled, "cancelled", "cancelled", true),
    ] {
        assert_eq!(
            (status.as_str(), status.as_result_str(), status.is_over()),
            (word, result_word, is_over)
        );
        assert_eq!(serde_json::to_value(status).unwrap(), word);
    }
}

#[test]
fn side_is_named_by_tool_unless_both_are_equal() {
    let side_names = |debate: &Debate| [Side::Pro, Side::Con].map(|side| side_name(debate, side));
    assert_eq!(side_names(&open_debate(duel_setup())), ["claude", "codex"]);
    let mut setup = duel_setup();
    setup.seats[1].voice =
        Participant::Model { tool: "claude".into(), model: Some("haiku".into()) };
    assert_eq!(side_names(&open_debate(setup)), ["proposer", "challenger"]);
    // Named after the participant who spoke last, not the one who is seated now.
    let mut debate = open_debate(duel_setup());
    play_until(&mut debate, 2, "defend");
    apply_events(
        &mut debate,
        [amended_event(Amendment::Seat { seat: 0, voice: model_participant("codex") })],
    );
    assert_eq!(side_names(&debate), ["claude", "codex"]);
    play_until(&mut debate, 2, "follow_up");
    assert_eq!(side_names(&debate), ["proposer", "challenger"]);
}

#[test]
fn labels_mark_demo_single_model_and_imported() {
    let labels_with = |edit: fn(&mut Setup)| {
        let mut setup = duel_setup();
        edit(&mut setup);
        labels(&open_debate(setup))
    };
    assert_eq!(labels_with(|_| {}), Vec::<&str>::new());
    assert_eq!(labels_with(|s| s.seats[1].voice = model_participant("claude")), ["single-model"]);
    let haiku = |s: &mut Setup| {
        s.seats[1].voice =
            Participant::Model { tool: "claude".into(), model: Some("haiku".into()) };
    };
    assert_eq!(labels_with(haiku), Vec::<&str>::new());
    assert_eq!(labels_with(|s| s.seats[10].voice = model_participant("demo")), ["demo"]);
    // Without a model name, another model cannot be assumed.
    let claude_model =
        |model: &str| Participant::Model { tool: "claude".into(), model: Some(model.into()) };
    assert_eq!(labels_with(|s| s.seats[10].voice = model_participant("claude")), ["partial-judge"]);
    for (judge, expected) in
        [(model_participant("claude"), &["partial-judge"][..]), (claude_model("opus"), &[])]
    {
        let mut setup = duel_setup();
        (setup.seats[0].voice, setup.seats[10].voice) = (claude_model("haiku"), judge);
        assert_eq!(labels(&open_debate(setup)), expected);
    }
    assert_eq!(labels_with(|s| s.origin = Origin::Transcript { id: None }), ["imported"]);
    let all_labels = |s: &mut Setup| {
        s.seats[0].voice = model_participant("demo");
        s.seats[1].voice = model_participant("demo");
        s.origin = Origin::Transcript { id: Some("x".into()) };
    };
    assert_eq!(labels_with(all_labels), ["demo", "single-model", "imported"]);
}

#[test]
fn rigor_line_counts_citations() {
    let mut debate = open_debate(duel_setup());
    assert_eq!(rigor(&debate), UNVERIFIED_RIGOR);
    assert_eq!(
        UNVERIFIED_RIGOR,
        "Structured perspective comparison (prompt-enforced adversarial rules, no deterministic \
         verification)"
    );
    let found = [
        CitationStatus::Exact,
        CitationStatus::Near,
        CitationStatus::NotFound,
        CitationStatus::Ambiguous,
        CitationStatus::Located,
    ];
    let citations = found.map(|found| citation("x", found)).into();
    record_reply_with(&mut debate, cue(0, 1, 0, 0), speech("p", &[], &[]), citations);
    let expected = "Structured perspective comparison (rules enforced in code; 5 citations, \
                    2 verified, 1 wrong, 1 ambiguous)";
    assert_eq!(rigor(&debate), expected);
}

#[test]
fn round_is_complete_when_both_sides_spoke() {
    for (failing, complete) in
        [(&[][..], 2), (&["2.follow_up"], 1), (&["1.challenge"], 0), (&["0.judge"], 2)]
    {
        assert_eq!(completed_rounds(&play_to_end(duel_setup(), failing)), complete, "{failing:?}");
    }
}

#[test]
fn two_bots_are_not_labelled_single_model() {
    let mut arena = debate_setup(formats::arena(), 2);
    arena.seats[0].voice = Participant::Bot;
    arena.seats[1].voice = Participant::Bot;
    assert_eq!(labels(&open_debate(arena)), Vec::<&str>::new());
}

#[test]
fn rigor_line_counts_citations_of_advocates() {
    let mut debate = open_debate(debate_setup(formats::research(), 1));
    let first = play_until(&mut debate, 0, "investigate");
    let body = valid_reply(&debate, first);
    record_reply_with(&mut debate, first, body, vec![citation("x", CitationStatus::Exact)]);
    assert!(rigor(&debate).contains("1 citations, 1 verified"));
}
