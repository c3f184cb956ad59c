//! Outcome of failed turns, for each format and phase: abort, conclude, continue or forfeit.
use crate::debate::{
    Debate, Event, FailureKind, Format, HoldPoint, PauseReason, Role, Side, Spend, Status, Step,
    TranscriptItem, formats, next, status::status, verdict::judgment,
};
use crate::test_support::debate_fixture::{
    apply_events, arena_with_forfeit, cue, debate_setup, due_cues, open_debate, play_debate,
    play_to_end, trace, without_roles,
};

#[track_caller]
fn assert_trace(format: Format, rounds: u8, failed_phases: &[&str], expected: &str) -> Debate {
    let debate =
        play_to_end(without_roles(debate_setup(format, rounds), &[Role::Mirror]), failed_phases);
    assert_eq!(trace(&debate), expected);
    debate
}

#[test]
fn duel_outcome_depends_on_the_failed_phase() {
    let duel = formats::duel;
    assert_trace(duel(), 1, &[], "1.propose 1.challenge 0.judge completed");
    assert_trace(duel(), 2, &[], "1.propose 1.challenge 2.defend 2.follow_up 0.judge completed");
    // Summarized from round 3 on. A failed scribe is skipped.
    let expected = "1.propose 1.challenge 2.defend 2.follow_up 3.summarize 3.defend 3.follow_up \
                4.summarize! 4.defend 4.follow_up 0.judge completed";
    assert_trace(duel(), 4, &["4.summarize"], expected);
    // Without an opening position the debate is aborted.
    let aborted = assert_trace(duel(), 2, &["1.propose"], "1.propose! aborted");
    assert!(aborted.replies_in(..).next().is_none());
    assert!(aborted.failed_turns().all(|(_, failure)| failure.trouble == FailureKind::TimedOut));
    // Without a challenger the position is uncontested, and there is no verdict.
    let uncontested =
        assert_trace(duel(), 2, &["1.challenge"], "1.propose 1.challenge! uncontested");
    assert_eq!((uncontested.replies_in(..).count(), judgment(&uncontested)), (1, None));
    assert_eq!(status(&uncontested), Status::Degraded);
    // Judged on the completed rounds. The incomplete round stays on the record.
    assert_trace(duel(), 3, &["2.defend"], "1.propose 1.challenge 2.defend! 0.judge curtailed");
    assert_trace(
        duel(),
        2,
        &["2.follow_up"],
        "1.propose 1.challenge 2.defend 2.follow_up! 0.judge curtailed",
    );
    let unjudged =
        assert_trace(duel(), 1, &["0.judge"], "1.propose 1.challenge 0.judge! curtailed");
    assert_eq!(judgment(&unjudged), None, "there is no default verdict");
}

#[test]
fn research_continues_with_any_remaining_stance() {
    let research = formats::research;
    let expected = "0.investigate 0.investigate 0.investigate 0.rebut 0.rebut 0.rebut 0.audit 0.judge completed";
    assert_eq!(assert_trace(research(), 1, &[], expected).failed_turns().count(), 0);
    // Failed turns are listed as missing, and the pipeline continues.
    let degraded = assert_trace(
        research(),
        1,
        &["0.investigate/Fay", "0.rebut/Eli", "0.audit"],
        "0.investigate 0.investigate! 0.investigate 0.rebut! 0.rebut 0.rebut 0.audit! 0.judge completed",
    );
    let judge = degraded.turns().next_back().unwrap().0;
    let transcript = degraded.visible_to(judge);
    assert_eq!(
        transcript.iter().filter(|line| matches!(line, TranscriptItem::Missing(_))).count(),
        3
    );
    assert_trace(
        research(),
        1,
        &["0.investigate"],
        "0.investigate! 0.investigate! 0.investigate! aborted",
    );
    assert_trace(
        research(),
        1,
        &["0.rebut"],
        "0.investigate 0.investigate 0.investigate 0.rebut! 0.rebut! 0.rebut! 0.audit 0.judge completed",
    );
    // Without an auditor seat there is no audit.
    let without_auditor =
        play_to_end(without_roles(debate_setup(research(), 1), &[Role::Auditor]), &[]);
    assert!(!trace(&without_auditor).contains("audit"));
    // A debate cancelled at its first hold has no cost.
    let mut setup = debate_setup(research(), 1);
    setup.holds = vec![HoldPoint::Start];
    let mut cancelled = open_debate(setup);
    assert!(matches!(next(&cancelled), Step::Hold { pause: PauseReason::UserHold, .. }));
    apply_events(&mut cancelled, [Event::Cancelled { because: None }]);
    assert_eq!((trace(&cancelled).as_str(), cancelled.spent()), ("cancelled", Spend::default()));
}

/// With `Shortfall::Forfeit` the first missed turn ends the debate.
#[test]
fn first_missed_turn_forfeits_with_shortfall_forfeit() {
    let pro_forfeit =
        assert_trace(arena_with_forfeit(), 3, &["1.open/Ada"], "1.open! forfeited by pro");
    assert_eq!(judgment(&pro_forfeit).unwrap().winner, Side::Con);
    let con_forfeit = "1.open 1.open 2.clash 2.clash! forfeited by con";
    let con_forfeit = assert_trace(arena_with_forfeit(), 3, &["2.clash/Bob"], con_forfeit);
    assert_eq!(judgment(&con_forfeit).unwrap().winner, Side::Pro);
}

/// A missed turn is forfeited, and a side's second forfeit ends the debate. It is judged only if
/// both sides have spoken.
#[test]
fn arena_ends_after_two_forfeits_of_a_side() {
    let expected =
        "1.open 1.open 2.clash 2.clash 3.close 3.close 0.judge 0.vote 0.vote 0.vote completed";
    assert_trace(formats::arena(), 3, &[], expected);
    assert_trace(formats::arena(), 1, &[], "1.open 1.open 0.judge 0.vote 0.vote 0.vote completed");
    // One forfeit per side is tolerated.
    let one_forfeit_each =
        "1.open! 1.open 2.clash 2.clash! 3.close 3.close 0.judge 0.vote 0.vote 0.vote completed";
    let one_forfeit_each =
        assert_trace(formats::arena(), 3, &["1.open/Ada", "2.clash/Bob"], one_forfeit_each);
    assert!(judgment(&one_forfeit_each).is_some());
    // The second forfeit ends it at once, and the speeches before it are judged.
    let two_forfeits =
        "1.open 1.open 2.clash! 2.clash 3.close! 0.judge 0.vote 0.vote 0.vote curtailed";
    let two_forfeits = assert_trace(
        formats::arena(),
        4,
        &["2.clash/Ada", "3.clash/Ada"],
        &two_forfeits.replace("close", "clash"),
    );
    assert!(judgment(&two_forfeits).is_some());
    // If a side never spoke, there is nothing to judge and no winner.
    let con_never_spoke = "1.open 1.open! 2.clash 2.clash! uncontested";
    let con_never_spoke =
        assert_trace(formats::arena(), 3, &["1.open/Bob", "2.clash/Bob"], con_never_spoke);
    assert_eq!(judgment(&con_never_spoke), None);
    let one_round =
        assert_trace(formats::arena(), 1, &["1.open/Bob"], "1.open 1.open! uncontested");
    assert_eq!(judgment(&one_round), None);
    assert_trace(formats::arena(), 1, &["1.open"], "1.open! 1.open! aborted");
    let no_speech = ["1.open", "2.clash/Ada"];
    let no_speech =
        assert_trace(formats::arena(), 3, &no_speech, "1.open! 1.open! 2.clash! aborted");
    assert_eq!(judgment(&no_speech), None);
    // Without a judge the debate still completes, but has no verdict.
    let unjudged = assert_trace(
        formats::arena(),
        1,
        &["0.judge", "0.vote"],
        "1.open 1.open 0.judge! 0.vote! 0.vote! 0.vote! completed",
    );
    assert_eq!(judgment(&unjudged), None);
}

#[test]
fn dialectic_continues_until_concluded() {
    let mut debate = open_debate(debate_setup(formats::dialectic(), 10));
    play_debate(&mut debate, &[], |debate| due_cues(debate)[0].round == 12);
    assert!(debate.turns().count() > 20, "the number of rounds is not a limit");
    apply_events(&mut debate, [Event::Concluded { because: None }]);
    play_debate(&mut debate, &[], |_| false);
    assert!(trace(&debate).ends_with("11.respond 11.challenge 0.insights ended"));
    assert_eq!(judgment(&debate), None, "a dialectic has no winner");
    assert_trace(formats::dialectic(), 10, &["1.challenge"], "1.position 1.challenge! aborted");
    assert_trace(
        formats::dialectic(),
        10,
        &["2.challenge"],
        "1.position 1.challenge 2.respond 2.challenge! 0.insights curtailed",
    );
    // A concluded dialectic can be reopened.
    let from = cue(1, 12, 0, 2);
    apply_events(&mut debate, [Event::Reopened { from }]);
    assert_eq!((due_cues(&debate), debate.take_number()), (vec![from], 1));
}

#[test]
fn tribunal_records_failures_and_continues() {
    let mut debate = open_debate(debate_setup(formats::tribunal(), 10));
    play_debate(
        &mut debate,
        &["1.argue/Ada", "5.argue", "6.score", "4.admit", "0.vote/Hal"],
        |_| false,
    );
    assert_eq!(debate.failed_turns().count(), 6);
    assert!(
        trace(&debate).ends_with(
            "10.argue 10.argue 10.score 0.judge 0.judge 0.vote! 0.vote 0.vote completed"
        )
    );
    assert_trace(formats::tribunal(), 10, &["1.argue"], "1.argue! 1.argue! aborted");
}
