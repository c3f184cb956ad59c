//! Outcome of failed turns, for each format and phase: abort, conclude, continue or forfeit.
use crate::debate_fixture::{
    apply_events, arena_with_forfeit, cue, debate_setup, due_cues, open_debate, play_debate,
    play_to_end, trace, without_roles,
};
use debate_mcp::debate::{
    Debate, Event, FailureKind, Format, HoldPoint, PauseReason, Role, Side, Spend, Status, Step,
    TranscriptItem, formats, next, status::status, verdict::judgment,
};

#[track_caller]
fn assert_trace(format: Format, rounds: u8, down: &[&str], expected: &str) -> Debate {
    let debate = play_to_end(without_roles(debate_setup(format, rounds), &[Role::Mirror]), down);
    assert_eq!(trace(&debate), expected);
    debate
}

#[test]
fn duel_outcome_depends_on_the_failed_phase() {
    let duel = formats::duel;
    assert_trace(duel(), 1, &[], "1.propose 1.challenge 0.judge completed");
    assert_trace(duel(), 2, &[], "1.propose 1.challenge 2.defend 2.follow_up 0.judge completed");
    // Summarized from round 3 on. A failed scribe is skipped.
    let long = "1.propose 1.challenge 2.defend 2.follow_up 3.summarize 3.defend 3.follow_up \
                4.summarize! 4.defend 4.follow_up 0.judge completed";
    assert_trace(duel(), 4, &["4.summarize"], long);
    // Without an opening position the debate is aborted.
    let nothing = assert_trace(duel(), 2, &["1.propose"], "1.propose! aborted");
    assert!(nothing.replies_in(..).next().is_none());
    assert!(nothing.failed_turns().all(|(_, failure)| failure.trouble == FailureKind::TimedOut));
    // Without a challenger the position is uncontested, and there is no verdict.
    let alone = assert_trace(duel(), 2, &["1.challenge"], "1.propose 1.challenge! uncontested");
    assert_eq!((alone.replies_in(..).count(), judgment(&alone)), (1, None));
    assert_eq!(status(&alone), Status::Degraded);
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
    assert_eq!(judgment(&unjudged), None, "never a default verdict");
}

#[test]
fn research_continues_with_any_remaining_stance() {
    let research = formats::research;
    let all = "0.investigate 0.investigate 0.investigate 0.rebut 0.rebut 0.rebut 0.audit 0.judge completed";
    assert_eq!(assert_trace(research(), 1, &[], all).failed_turns().count(), 0);
    // Failed turns are listed as missing, and the pipeline continues.
    let degraded = assert_trace(
        research(),
        1,
        &["0.investigate/Fay", "0.rebut/Eli", "0.audit"],
        "0.investigate 0.investigate! 0.investigate 0.rebut! 0.rebut 0.rebut 0.audit! 0.judge completed",
    );
    let judge = degraded.turns().next_back().unwrap().0;
    let heard = degraded.visible_to(judge);
    assert_eq!(heard.iter().filter(|line| matches!(line, TranscriptItem::Missing(_))).count(), 3);
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
    let plain = play_to_end(without_roles(debate_setup(research(), 1), &[Role::Auditor]), &[]);
    assert!(!trace(&plain).contains("audit"));
    // A debate cancelled at its first hold has no cost.
    let mut planned = debate_setup(research(), 1);
    planned.holds = vec![HoldPoint::Start];
    let mut declined = open_debate(planned);
    assert!(matches!(next(&declined), Step::Hold { pause: PauseReason::UserHold, .. }));
    apply_events(&mut declined, [Event::Cancelled { because: None }]);
    assert_eq!((trace(&declined).as_str(), declined.spent()), ("cancelled", Spend::default()));
}

/// With `Shortfall::Forfeit` the first missed turn ends the debate.
#[test]
fn missed_turn_forfeits_where_silence_loses() {
    let gone = assert_trace(arena_with_forfeit(), 3, &["1.open/Ada"], "1.open! forfeited by pro");
    assert_eq!(judgment(&gone).unwrap().winner, Side::Con);
    let late = "1.open 1.open 2.clash 2.clash! forfeited by con";
    let late = assert_trace(arena_with_forfeit(), 3, &["2.clash/Bob"], late);
    assert_eq!(judgment(&late).unwrap().winner, Side::Pro);
}

/// A missed turn is forfeited, and a side's second forfeit ends the debate. It is judged only if
/// both sides have spoken.
#[test]
fn arena_ends_after_two_forfeits_of_a_side() {
    let all =
        "1.open 1.open 2.clash 2.clash 3.close 3.close 0.judge 0.vote 0.vote 0.vote completed";
    assert_trace(formats::arena(), 3, &[], all);
    assert_trace(formats::arena(), 1, &[], "1.open 1.open 0.judge 0.vote 0.vote 0.vote completed");
    // One forfeit per side is tolerated.
    let once =
        "1.open! 1.open 2.clash 2.clash! 3.close 3.close 0.judge 0.vote 0.vote 0.vote completed";
    let once = assert_trace(formats::arena(), 3, &["1.open/Ada", "2.clash/Bob"], once);
    assert!(judgment(&once).is_some());
    // The second forfeit ends it at once, and the speeches before it are judged.
    let twice = "1.open 1.open 2.clash! 2.clash 3.close! 0.judge 0.vote 0.vote 0.vote curtailed";
    let twice = assert_trace(
        formats::arena(),
        4,
        &["2.clash/Ada", "3.clash/Ada"],
        &twice.replace("close", "clash"),
    );
    assert!(judgment(&twice).is_some());
    // If a side never spoke, there is nothing to judge and no winner.
    let silent = "1.open 1.open! 2.clash 2.clash! uncontested";
    let silent = assert_trace(formats::arena(), 3, &["1.open/Bob", "2.clash/Bob"], silent);
    assert_eq!(judgment(&silent), None);
    let alone = assert_trace(formats::arena(), 1, &["1.open/Bob"], "1.open 1.open! uncontested");
    assert_eq!(judgment(&alone), None);
    assert_trace(formats::arena(), 1, &["1.open"], "1.open! 1.open! aborted");
    let nobody = ["1.open", "2.clash/Ada"];
    let nobody = assert_trace(formats::arena(), 3, &nobody, "1.open! 1.open! 2.clash! aborted");
    assert_eq!(judgment(&nobody), None);
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
    assert!(debate.turns().count() > 20, "the rounds asked for are only advice");
    apply_events(&mut debate, [Event::Concluded { because: None }]);
    play_debate(&mut debate, &[], |_| false);
    assert!(trace(&debate).ends_with("11.respond 11.challenge 0.insights ended"));
    assert_eq!(judgment(&debate), None, "never a winner");
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
