//! Outcome of failed turns, for each format and phase: abort, conclude, continue or forfeit.
use crate::scene::{apply, cue, due, open, played, run, setup, silence_loses, trace, without};
use debate_mcp::debate::{
    Debate, Event, FailureKind, Format, HoldPoint, PauseReason, Role, Side, Spend, Status, Step,
    TranscriptItem, formats, next, status::status, verdict::judgment,
};

#[track_caller]
fn check(format: Format, rounds: u8, down: &[&str], expected: &str) -> Debate {
    let debate = played(without(setup(format, rounds), &[Role::Mirror]), down);
    assert_eq!(trace(&debate), expected);
    debate
}

#[test]
fn a_duel_ends_as_its_rows_say() {
    let duel = formats::duel;
    check(duel(), 1, &[], "1.propose 1.challenge 0.judge completed");
    check(duel(), 2, &[], "1.propose 1.challenge 2.defend 2.follow_up 0.judge completed");
    // Summarized from round 3 on. A failed scribe is skipped.
    let long = "1.propose 1.challenge 2.defend 2.follow_up 3.summarize 3.defend 3.follow_up \
                4.summarize! 4.defend 4.follow_up 0.judge completed";
    check(duel(), 4, &["4.summarize"], long);
    // Without an opening position the debate is aborted.
    let nothing = check(duel(), 2, &["1.propose"], "1.propose! aborted");
    assert!(nothing.replies_in(..).next().is_none());
    assert!(nothing.failed_turns().all(|(_, failure)| failure.trouble == FailureKind::TimedOut));
    // Without a challenger the position is uncontested, and there is no verdict.
    let alone = check(duel(), 2, &["1.challenge"], "1.propose 1.challenge! uncontested");
    assert_eq!((alone.replies_in(..).count(), judgment(&alone)), (1, None));
    assert_eq!(status(&alone), Status::Degraded);
    // Judged on the completed rounds. The incomplete round stays on the record.
    check(duel(), 3, &["2.defend"], "1.propose 1.challenge 2.defend! 0.judge curtailed");
    check(
        duel(),
        2,
        &["2.follow_up"],
        "1.propose 1.challenge 2.defend 2.follow_up! 0.judge curtailed",
    );
    let unjudged = check(duel(), 1, &["0.judge"], "1.propose 1.challenge 0.judge! curtailed");
    assert_eq!(judgment(&unjudged), None, "never a default verdict");
}

#[test]
fn research_goes_on_with_any_stance_it_has() {
    let research = formats::research;
    let all = "0.investigate 0.investigate 0.investigate 0.rebut 0.rebut 0.rebut 0.audit 0.judge completed";
    assert_eq!(check(research(), 1, &[], all).failed_turns().count(), 0);
    // Failed turns are listed as missing, and the pipeline continues.
    let degraded = check(
        research(),
        1,
        &["0.investigate/Fay", "0.rebut/Eli", "0.audit"],
        "0.investigate 0.investigate! 0.investigate 0.rebut! 0.rebut 0.rebut 0.audit! 0.judge completed",
    );
    let judge = degraded.turns().next_back().unwrap().0;
    let heard = degraded.visible_to(judge);
    assert_eq!(heard.iter().filter(|line| matches!(line, TranscriptItem::Missing(_))).count(), 3);
    check(
        research(),
        1,
        &["0.investigate"],
        "0.investigate! 0.investigate! 0.investigate! aborted",
    );
    check(
        research(),
        1,
        &["0.rebut"],
        "0.investigate 0.investigate 0.investigate 0.rebut! 0.rebut! 0.rebut! 0.audit 0.judge completed",
    );
    // Without an auditor seat there is no audit.
    let plain = played(without(setup(research(), 1), &[Role::Auditor]), &[]);
    assert!(!trace(&plain).contains("audit"));
    // A debate cancelled at its first hold has no cost.
    let mut planned = setup(research(), 1);
    planned.holds = vec![HoldPoint::Start];
    let mut declined = open(planned);
    assert!(matches!(next(&declined), Step::Hold { pause: PauseReason::UserHold, .. }));
    apply(&mut declined, [Event::Cancelled { because: None }]);
    assert_eq!((trace(&declined).as_str(), declined.spent()), ("cancelled", Spend::default()));
}

/// With `Shortfall::Forfeit` the first missed turn ends the debate.
#[test]
fn whoever_is_silent_where_silence_loses_has_lost() {
    let gone = check(silence_loses(), 3, &["1.open/Ada"], "1.open! forfeited by pro");
    assert_eq!(judgment(&gone).unwrap().winner, Side::Con);
    let late = "1.open 1.open 2.clash 2.clash! forfeited by con";
    let late = check(silence_loses(), 3, &["2.clash/Bob"], late);
    assert_eq!(judgment(&late).unwrap().winner, Side::Pro);
}

/// A missed turn is forfeited, and a side's second forfeit ends the debate. It is judged only if
/// both sides have spoken.
#[test]
fn in_the_arena_two_forfeits_of_a_side_end_it() {
    let all =
        "1.open 1.open 2.clash 2.clash 3.close 3.close 0.judge 0.vote 0.vote 0.vote completed";
    check(formats::arena(), 3, &[], all);
    check(formats::arena(), 1, &[], "1.open 1.open 0.judge 0.vote 0.vote 0.vote completed");
    // One forfeit per side is tolerated.
    let once =
        "1.open! 1.open 2.clash 2.clash! 3.close 3.close 0.judge 0.vote 0.vote 0.vote completed";
    let once = check(formats::arena(), 3, &["1.open/Ada", "2.clash/Bob"], once);
    assert!(judgment(&once).is_some());
    // The second forfeit ends it at once, and the speeches before it are judged.
    let twice = "1.open 1.open 2.clash! 2.clash 3.close! 0.judge 0.vote 0.vote 0.vote curtailed";
    let twice = check(
        formats::arena(),
        4,
        &["2.clash/Ada", "3.clash/Ada"],
        &twice.replace("close", "clash"),
    );
    assert!(judgment(&twice).is_some());
    // If a side never spoke, there is nothing to judge and no winner.
    let silent = "1.open 1.open! 2.clash 2.clash! uncontested";
    let silent = check(formats::arena(), 3, &["1.open/Bob", "2.clash/Bob"], silent);
    assert_eq!(judgment(&silent), None);
    let alone = check(formats::arena(), 1, &["1.open/Bob"], "1.open 1.open! uncontested");
    assert_eq!(judgment(&alone), None);
    check(formats::arena(), 1, &["1.open"], "1.open! 1.open! aborted");
    let nobody = ["1.open", "2.clash/Ada"];
    let nobody = check(formats::arena(), 3, &nobody, "1.open! 1.open! 2.clash! aborted");
    assert_eq!(judgment(&nobody), None);
    // Without a judge the debate still completes, but has no verdict.
    let unjudged = check(
        formats::arena(),
        1,
        &["0.judge", "0.vote"],
        "1.open 1.open 0.judge! 0.vote! 0.vote! 0.vote! completed",
    );
    assert_eq!(judgment(&unjudged), None);
}

#[test]
fn dialectic_goes_on_until_it_is_ended() {
    let mut debate = open(setup(formats::dialectic(), 10));
    run(&mut debate, &[], |debate| due(debate)[0].round == 12);
    assert!(debate.turns().count() > 20, "the rounds asked for are only advice");
    apply(&mut debate, [Event::Concluded { because: None }]);
    run(&mut debate, &[], |_| false);
    assert!(trace(&debate).ends_with("11.respond 11.challenge 0.insights ended"));
    assert_eq!(judgment(&debate), None, "never a winner");
    check(formats::dialectic(), 10, &["1.challenge"], "1.position 1.challenge! aborted");
    check(
        formats::dialectic(),
        10,
        &["2.challenge"],
        "1.position 1.challenge 2.respond 2.challenge! 0.insights curtailed",
    );
    // A concluded dialectic can be reopened.
    let from = cue(1, 12, 0, 2);
    apply(&mut debate, [Event::Reopened { from }]);
    assert_eq!((due(&debate), debate.take_number()), (vec![from], 1));
}

#[test]
fn tribunal_records_and_continues() {
    let mut debate = open(setup(formats::tribunal(), 10));
    run(&mut debate, &["1.argue/Ada", "5.argue", "6.score", "4.admit", "0.vote/Hal"], |_| false);
    assert_eq!(debate.failed_turns().count(), 6);
    assert!(
        trace(&debate).ends_with(
            "10.argue 10.argue 10.score 0.judge 0.judge 0.vote! 0.vote 0.vote completed"
        )
    );
    check(formats::tribunal(), 10, &["1.argue"], "1.argue! 1.argue! aborted");
}
