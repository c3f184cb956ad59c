//! Status of a debate: status words, notices, labels, rigor line and completed rounds.
use crate::players::{amended, failed, good};
use crate::scene::{
    apply, citation, cue, due, model, money, open, played, put, run, say_with, setup,
    silence_loses, speech, until, without,
};
use debate_mcp::debate::status::{
    ALL_TIMED_OUT, NO_EXCHANGES, UNCONTESTED_WARNING, UNVERIFIED_RIGOR, completed_rounds, labels,
    notices, rigor, side_name, status,
};
use debate_mcp::debate::{
    Amendment, CitationStatus, Debate, DebateOutcome, Event, FailureKind, Format, HoldPoint,
    Origin, Participant, Role, Setup, Side, Status, Step, formats, next,
};
use debate_mcp::report::record::render_record;

fn duel() -> Setup {
    without(setup(formats::duel(), 2), &[Role::Mirror])
}

/// Plays a debate in which these turns time out, and checks its status and notices.
#[track_caller]
fn check(format: Format, down: &[&str], expected: &str, told: &[&str]) {
    let debate = played(without(setup(format, 2), &[Role::Mirror]), down);
    assert_eq!(
        (status(&debate).as_str(), notices(&debate)),
        (expected, told.iter().map(|t| (*t).into()).collect())
    );
}

#[test]
fn every_end_has_its_word_and_its_notices() {
    check(formats::duel(), &[], "completed", &[]);
    check(
        formats::duel(),
        &["1.propose"],
        "failed",
        &[
            "[ERROR] Debate failed: all tool invocations timed out.",
            "[WARN] Proposer (claude) timed out in round 1: down",
        ],
    );
    check(
        formats::duel(),
        &["1.challenge"],
        "degraded",
        &[
            "[WARN] Challenger failed. Showing proposer's uncontested position.",
            "[WARN] Challenger (codex) timed out in round 1: down",
        ],
    );
    check(
        formats::duel(),
        &["2.defend"],
        "degraded",
        &[
            "[WARN] Round 2 is incomplete (`defend` failed); the result rests on the completed rounds.",
            "[WARN] Proposer (claude) timed out in round 2: down",
        ],
    );
    check(
        formats::duel(),
        &["0.judge"],
        "degraded",
        &[
            "[WARN] No judge ruled; both positions are shown without a verdict.",
            "[WARN] Judge (gemini) timed out: down",
        ],
    );
    check(
        formats::research(),
        &["0.rebut/Eli"],
        "degraded",
        &["[WARN] Advocate (gemini) timed out: down"],
    );
    check(
        formats::dialectic(),
        &["1.challenge"],
        "aborted",
        &["[WARN] Sub Agent (gemini) timed out in round 1: down"],
    );
    check(
        silence_loses(),
        &["1.open/Bob"],
        "degraded",
        &["[WARN] Challenger (codex) timed out in round 1: down"],
    );
}

#[test]
fn nothing_said_is_told_by_what_went_wrong() {
    for (trouble, word, line) in [
        (FailureKind::TimedOut, Status::Failed, ALL_TIMED_OUT),
        (FailureKind::NotFound, Status::Aborted, NO_EXCHANGES),
    ] {
        let mut debate = open(duel());
        put(&mut debate);
        let lost = failed(&debate, due(&debate)[0], trouble);
        apply(&mut debate, [lost]);
        assert_eq!((status(&debate), notices(&debate).len()), (Status::InProgress, 1));
        run(&mut debate, &[], |_| false);
        assert_eq!((status(&debate), notices(&debate)[0].as_str()), (word, line));
    }
    assert_eq!(NO_EXCHANGES, "[ERROR] Debate failed: no successful exchanges were recorded.");
    assert_eq!(
        UNCONTESTED_WARNING,
        "[WARN] Challenger failed. Showing proposer's uncontested position."
    );
}

#[test]
fn a_debate_that_is_not_over_is_in_progress_or_paused() {
    let mut held = duel();
    held.holds = vec![HoldPoint::Start];
    let mut debate = open(held);
    assert_eq!(status(&debate), Status::Paused);
    let Step::Hold { next: at, .. } = next(&debate) else { panic!() };
    apply(&mut debate, [Event::Continued { before: at.position() }]);
    assert_eq!(status(&debate), Status::InProgress);
    run(&mut debate, &[], |debate| debate.turns().count() == 1);
    apply(&mut debate, [amended(Amendment::Limit { budget: money(2) })]);
    assert_eq!(status(&debate), Status::InProgress);
    run(&mut debate, &[], |debate| matches!(next(debate), Step::Hold { .. }));
    assert_eq!(status(&debate), Status::Paused, "it is spent");
    apply(&mut debate, [Event::Cancelled { because: None }]);
    assert_eq!((status(&debate), notices(&debate)), (Status::Cancelled, vec![]));
    let mut early = open(duel());
    until(&mut early, 2, "defend");
    apply(&mut early, [Event::Concluded { because: None }]);
    run(&mut early, &[], |_| false);
    assert_eq!((early.outcome(), status(&early)), (Some(&DebateOutcome::Ended), Status::Completed));
}

#[test]
fn whoever_cuts_a_debate_short_can_say_why() {
    let why = |text: &str| Some(text.to_owned());
    let mut debate = open(duel());
    run(&mut debate, &[], |debate| debate.turns().count() == 2);
    apply(&mut debate, [Event::Cancelled { because: why("one side was away for 90 s") }]);
    assert_eq!(debate.end_reason(), Some("one side was away for 90 s"));
    assert_eq!(notices(&debate), ["[INFO] Cancelled: one side was away for 90 s"]);
    assert!(render_record(&debate).contains("cancelled: one side was away for 90 s"));
    // After reopening, the reason is gone.
    let from = debate.reopen_cue().unwrap();
    apply(&mut debate, [Event::Reopened { from }]);
    assert_eq!(debate.end_reason(), None);
    apply(&mut debate, [Event::Concluded { because: why("all is said") }]);
    run(&mut debate, &[], |_| false);
    assert_eq!(notices(&debate), ["[INFO] Concluded: all is said"]);
    assert_eq!(debate.end_reason(), Some("all is said"));
}

#[test]
fn a_cancellation_of_earlier_versions_is_read_and_written_as_it_was() {
    let old: Event = serde_json::from_str(r#"{"event":"cancelled"}"#).unwrap();
    assert_eq!(old, Event::Cancelled { because: None });
    assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"event":"cancelled"}"#);
    let told = Event::Cancelled { because: Some("no bot came".into()) };
    let json = serde_json::to_string(&told).unwrap();
    assert_eq!(json, r#"{"event":"cancelled","because":"no bot came"}"#);
    assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), told);
}

#[test]
fn a_status_is_stored_in_one_word_and_told_in_another() {
    for (status, word, told, over) in [
        (Status::InProgress, "in-progress", "in-progress", false),
        (Status::Paused, "paused", "paused", false),
        (Status::Completed, "completed", "success", true),
        (Status::Degraded, "degraded", "degraded-success", true),
        (Status::Aborted, "aborted", "aborted", true),
        (Status::Failed, "failed", "failed", true),
        (Status::Cancelled, "cancelled", "cancelled", true),
    ] {
        assert_eq!((status.as_str(), status.as_result_str(), status.is_over()), (word, told, over));
        assert_eq!(serde_json::to_value(status).unwrap(), word);
    }
}

#[test]
fn a_side_is_named_by_its_tool_unless_both_are_the_same() {
    let named = |debate: &Debate| [Side::Pro, Side::Con].map(|side| side_name(debate, side));
    assert_eq!(named(&open(duel())), ["claude", "codex"]);
    let mut same = duel();
    same.seats[1].voice = Participant::Model { tool: "claude".into(), model: Some("haiku".into()) };
    assert_eq!(named(&open(same)), ["proposer", "challenger"]);
    // Named after the participant who spoke last, not the one who is seated now.
    let mut debate = open(duel());
    until(&mut debate, 2, "defend");
    apply(&mut debate, [amended(Amendment::Seat { seat: 0, voice: model("codex") })]);
    assert_eq!(named(&debate), ["claude", "codex"]);
    until(&mut debate, 2, "follow_up");
    assert_eq!(named(&debate), ["proposer", "challenger"]);
}

#[test]
fn where_a_debate_comes_from_is_told() {
    let with = |spoil: fn(&mut Setup)| {
        let mut setup = duel();
        spoil(&mut setup);
        labels(&open(setup))
    };
    assert_eq!(with(|_| {}), Vec::<&str>::new());
    assert_eq!(with(|s| s.seats[1].voice = model("claude")), ["single-model"]);
    let haiku = |s: &mut Setup| {
        s.seats[1].voice =
            Participant::Model { tool: "claude".into(), model: Some("haiku".into()) };
    };
    assert_eq!(with(haiku), Vec::<&str>::new());
    assert_eq!(with(|s| s.seats[10].voice = model("demo")), ["demo"]);
    // Without a model name, another model cannot be assumed.
    let named =
        |model: &str| Participant::Model { tool: "claude".into(), model: Some(model.into()) };
    assert_eq!(with(|s| s.seats[10].voice = model("claude")), ["partial-judge"]);
    for (judge, expected) in [(model("claude"), &["partial-judge"][..]), (named("opus"), &[])] {
        let mut setup = duel();
        (setup.seats[0].voice, setup.seats[10].voice) = (named("haiku"), judge);
        assert_eq!(labels(&open(setup)), expected);
    }
    assert_eq!(with(|s| s.origin = Origin::Transcript { id: None }), ["imported"]);
    let all = |s: &mut Setup| {
        s.seats[0].voice = model("demo");
        s.seats[1].voice = model("demo");
        s.origin = Origin::Transcript { id: Some("x".into()) };
    };
    assert_eq!(with(all), ["demo", "single-model", "imported"]);
}

#[test]
fn how_far_it_can_be_trusted_is_one_line() {
    let mut debate = open(duel());
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
    say_with(&mut debate, cue(0, 1, 0, 0), speech("p", &[], &[]), citations);
    let expected = "Structured perspective comparison (rules enforced in code; 5 citations, \
                    2 verified, 1 wrong, 1 ambiguous)";
    assert_eq!(rigor(&debate), expected);
}

#[test]
fn a_round_is_complete_when_both_have_spoken() {
    for (down, complete) in
        [(&[][..], 2), (&["2.follow_up"], 1), (&["1.challenge"], 0), (&["0.judge"], 2)]
    {
        assert_eq!(completed_rounds(&played(duel(), down)), complete, "{down:?}");
    }
}

#[test]
fn two_remote_bots_are_not_one_model() {
    let mut arena = setup(formats::arena(), 2);
    arena.seats[0].voice = Participant::Bot;
    arena.seats[1].voice = Participant::Bot;
    assert_eq!(labels(&open(arena)), Vec::<&str>::new());
}

#[test]
fn what_advocates_cite_counts_too() {
    let mut debate = open(setup(formats::research(), 1));
    let first = until(&mut debate, 0, "investigate");
    let body = good(&debate, first);
    say_with(&mut debate, first, body, vec![citation("x", CitationStatus::Exact)]);
    assert!(rigor(&debate).contains("1 citations, 1 verified"));
}
