//! Transcript visibility, table-driven: which earlier turns each seat gets in its prompt.
use crate::debate::{Debate, Format, Role, TranscriptItem, formats};
use crate::test_support::debate_fixture::{
    debate_setup, due_cues, open_debate, play_debate, play_until, without_roles,
};

/// Asserts what the first seat due in this phase (`<round>.<phase>`) sees, one word per transcript
/// item (`!` for a missing turn).
#[track_caller]
fn assert_visible(format: Format, failed_phases: &[&str], due_turn: &str, expected: &str) {
    let rounds = if format.name == "tribunal" { 10 } else { 4 };
    let mut debate = open_debate(debate_setup(format, rounds));
    let turn_name = |debate: &Debate, cue| {
        let phase = &debate.setup().phase(cue).name;
        format!("{}.{phase}", cue.round)
    };
    let is_due = |debate: &Debate| {
        due_cues(debate).first().is_some_and(|cue| turn_name(debate, *cue) == due_turn)
    };
    play_debate(&mut debate, failed_phases, is_due);
    let visible = debate.visible_to(due_cues(&debate)[0]).into_iter().map(|item| match item {
        TranscriptItem::Turn(cue, _) => turn_name(&debate, cue),
        TranscriptItem::Missing(cue) => turn_name(&debate, cue) + "!",
        TranscriptItem::Remark(text) => text.into(),
        TranscriptItem::Digest(through) => format!("1-{through}"),
    });
    assert_eq!(visible.collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn long_duel_is_shown_as_digest_plus_last_round() {
    let duel = formats::duel;
    assert_visible(duel(), &[], "1.propose", "");
    assert_visible(duel(), &[], "2.defend", "1.propose 1.challenge");
    assert_visible(duel(), &[], "3.summarize", "1.propose 1.challenge");
    assert_visible(duel(), &[], "3.defend", "3.summarize 2.defend 2.follow_up");
    assert_visible(duel(), &[], "4.summarize", "1.propose 1.challenge 2.defend 2.follow_up");
    assert_visible(duel(), &[], "4.follow_up", "4.summarize 3.defend 3.follow_up 4.defend");
    // Without a written digest the mechanical one is used.
    assert_visible(duel(), &["3.summarize"], "3.defend", "1-1 2.defend 2.follow_up");
    assert_visible(duel(), &["4.summarize"], "4.defend", "1-2 3.defend 3.follow_up");
    let first_rounds = "1.propose 1.challenge 2.defend 2.follow_up 3.defend 3.follow_up";
    assert_visible(duel(), &[], "0.judge", &format!("{first_rounds} 4.defend 4.follow_up"));
}

#[test]
fn without_a_scribe_the_mechanical_digest_is_used() {
    let mut debate = open_debate(without_roles(debate_setup(formats::duel(), 3), &[Role::Scribe]));
    let cue = play_until(&mut debate, 3, "defend");
    assert_eq!(debate.visible_to(cue)[0], TranscriptItem::Digest(1));
}

#[test]
fn seats_of_one_wave_do_not_see_each_other() {
    let stances = "0.investigate 0.investigate 0.investigate";
    assert_visible(formats::research(), &[], "0.investigate", "");
    assert_visible(formats::research(), &[], "0.rebut", stances);
    let all_turns = "0.investigate 0.investigate! 0.investigate 0.rebut 0.rebut 0.rebut 0.audit";
    assert_visible(formats::research(), &["0.investigate/Fay"], "0.judge", all_turns);
}

#[test]
fn debaters_see_speeches_only_and_judges_all_replies() {
    let speeches = "1.argue 1.argue 2.argue 2.argue";
    assert_visible(formats::tribunal(), &[], "3.argue", speeches);
    assert_visible(formats::tribunal(), &[], "3.petition", &format!("{speeches} 3.argue 3.argue"));
    let judge_view = "1.argue 1.argue 1.score 2.argue 2.argue 2.score 3.argue 3.argue";
    assert_visible(
        formats::tribunal(),
        &[],
        "3.admit",
        &format!("{judge_view} 3.petition 3.petition 3.petition"),
    );
    let round_three = "3.argue 3.argue 3.address";
    assert_visible(formats::tribunal(), &[], "4.argue", &format!("{speeches} {round_three}"));
}
