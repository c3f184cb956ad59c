//! Transcript visibility, table-driven: which earlier turns each seat gets in its prompt.
use crate::scene::{due, open, run, setup, until, without};
use debate_mcp::debate::{Debate, Format, Role, TranscriptItem, formats};

/// Asserts what the first seat due at `at` hears, one word per transcript item (`!` for missing).
#[track_caller]
fn check(format: Format, down: &[&str], at: &str, expected: &str) {
    let rounds = if format.name == "tribunal" { 10 } else { 4 };
    let mut debate = open(setup(format, rounds));
    let name = |debate: &Debate, cue| {
        let phase = &debate.setup().phase(cue).name;
        format!("{}.{phase}", cue.round)
    };
    let here = |debate: &Debate| due(debate).first().is_some_and(|cue| name(debate, *cue) == at);
    run(&mut debate, down, here);
    let heard = debate.visible_to(due(&debate)[0]).into_iter().map(|line| match line {
        TranscriptItem::Turn(cue, _) => name(&debate, cue),
        TranscriptItem::Missing(cue) => name(&debate, cue) + "!",
        TranscriptItem::Remark(text) => text.into(),
        TranscriptItem::Digest(through) => format!("1-{through}"),
    });
    assert_eq!(heard.collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn a_long_duel_is_heard_as_a_digest_and_the_last_round() {
    let duel = formats::duel;
    check(duel(), &[], "1.propose", "");
    check(duel(), &[], "2.defend", "1.propose 1.challenge");
    check(duel(), &[], "3.summarize", "1.propose 1.challenge");
    check(duel(), &[], "3.defend", "3.summarize 2.defend 2.follow_up");
    check(duel(), &[], "4.summarize", "1.propose 1.challenge 2.defend 2.follow_up");
    check(duel(), &[], "4.follow_up", "4.summarize 3.defend 3.follow_up 4.defend");
    // Without a written digest the mechanical one is used.
    check(duel(), &["3.summarize"], "3.defend", "1-1 2.defend 2.follow_up");
    check(duel(), &["4.summarize"], "4.defend", "1-2 3.defend 3.follow_up");
    let whole = "1.propose 1.challenge 2.defend 2.follow_up 3.defend 3.follow_up";
    check(duel(), &[], "0.judge", &format!("{whole} 4.defend 4.follow_up"));
}

#[test]
fn without_a_scribe_the_record_sums_itself_up() {
    let mut debate = open(without(setup(formats::duel(), 3), &[Role::Scribe]));
    let cue = until(&mut debate, 3, "defend");
    assert_eq!(debate.visible_to(cue)[0], TranscriptItem::Digest(1));
}

#[test]
fn those_who_speak_at_once_do_not_hear_each_other() {
    let stances = "0.investigate 0.investigate 0.investigate";
    check(formats::research(), &[], "0.investigate", "");
    check(formats::research(), &[], "0.rebut", stances);
    let all = "0.investigate 0.investigate! 0.investigate 0.rebut 0.rebut 0.rebut 0.audit";
    check(formats::research(), &["0.investigate/Fay"], "0.judge", all);
}

#[test]
fn debaters_hear_what_is_said_aloud_and_the_court_its_papers_too() {
    let aloud = "1.argue 1.argue 2.argue 2.argue";
    check(formats::tribunal(), &[], "3.argue", aloud);
    check(formats::tribunal(), &[], "3.petition", &format!("{aloud} 3.argue 3.argue"));
    let papers = "1.argue 1.argue 1.score 2.argue 2.argue 2.score 3.argue 3.argue";
    check(
        formats::tribunal(),
        &[],
        "3.admit",
        &format!("{papers} 3.petition 3.petition 3.petition"),
    );
    let next = "3.argue 3.argue 3.address";
    check(formats::tribunal(), &[], "4.argue", &format!("{aloud} {next}"));
}
