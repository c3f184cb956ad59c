//! The judgment: how rulings and votes are combined, and which tie-break decides if they disagree.
use crate::debate::body::RulingScores;
use crate::debate::ledger::{claims_to_check, tally};
use crate::debate::verdict::{VerdictBasis, judgment, leading_ruling};
use crate::debate::{Body, CitationStatus, Cue, Debate, Role, Side, formats};
use crate::test_support::debate_fixture::{
    arena_with_forfeit, citation, debate_setup, open_debate, play_to_end, play_until, record_reply,
    record_reply_with, speech, without_roles,
};
use crate::test_support::simulated_players::verdict_reply;
use Side::{Con, Pro};
use VerdictBasis::{
    Agreement, FewerUnanswered, FewerWrongCitations, Forfeit, LargerMargin, Majority, Proposer,
    Weighed,
};

/// A duel with these claims, turn by turn, and this number of wrong citations per side.
fn argued_duel<const N: usize>(claims: [&str; N], wrong_citations: [usize; 2]) -> (Debate, Cue) {
    let mut debate = open_debate(debate_setup(formats::duel(), N as u8 / 2));
    let phases = [(1, "propose"), (1, "challenge"), (2, "defend"), (2, "follow_up")];
    for (index, (claims, (round, phase))) in claims.into_iter().zip(phases).enumerate() {
        let cue = play_until(&mut debate, round, phase);
        let wrong_citations = wrong_citations.get(index).copied().unwrap_or_default();
        let citations = vec![citation("x.rs:1", CitationStatus::NoSuchPath); wrong_citations];
        record_reply_with(&mut debate, cue, speech(claims, &[], &[]), citations);
    }
    let judge = play_until(&mut debate, 0, "judge");
    (debate, judge)
}

/// A ruling whose scores differ by `apart`.
fn ruling_with_margin(side: Side, margin: u8, cites: Cue) -> Body {
    let Body::Verdict(mut body) = verdict_reply(Some(side), 80, vec![cites]) else { panic!() };
    let (high, low) = (50 + margin, 50);
    body.scores = Some(match side {
        Pro => RulingScores { pro: high, con: low },
        Con => RulingScores { pro: low, con: high },
    });
    Body::Verdict(body)
}

/// Checks the judgment after these rulings of the judge and its mirror, each with a margin.
#[track_caller]
fn assert_judgment(
    (mut debate, judge): (Debate, Cue),
    rulings: [(Side, u8); 2],
    expected: (Side, VerdictBasis, bool),
) {
    let first = debate.turns().next().unwrap().0;
    for ((side, margin), seat) in rulings.into_iter().zip([10, 11]) {
        record_reply(&mut debate, Cue { seat, ..judge }, ruling_with_margin(side, margin, first));
    }
    let judgment = judgment(&debate).unwrap();
    assert_eq!((judgment.winner, judgment.basis, judgment.is_contested()), expected);
}

#[test]
fn single_ruling_decides() {
    for side in [Pro, Con] {
        let mut debate =
            open_debate(without_roles(debate_setup(formats::duel(), 1), &[Role::Mirror]));
        let judge = play_until(&mut debate, 0, "judge");
        let first = debate.turns().next().unwrap().0;
        assert_eq!(judgment(&debate), None, "no judgment before a ruling");
        // With a confidence of zero.
        record_reply(&mut debate, judge, verdict_reply(Some(side), 0, vec![first]));
        let judgment = judgment(&debate).unwrap();
        assert_eq!((judgment.winner, judgment.basis), (side, VerdictBasis::Ruling));
        assert!(!judgment.is_contested() && judgment.dissenting_votes.is_empty());
        assert_eq!(leading_ruling(&debate, side).unwrap().0, judge);
        assert!(leading_ruling(&debate, side.other()).is_none());
    }
}

#[test]
fn agreeing_judge_and_mirror_are_uncontested() {
    for side in [Pro, Con] {
        let even = argued_duel(["p", "c>p"], [0, 5]);
        assert_judgment(even, [(side, 10), (side, 40)], (side, Agreement, false));
    }
}

#[test]
fn tie_breaks_apply_in_order() {
    let split = [(Pro, 10), (Con, 10)];
    let (pro_by_far, con_by_far) = ([(Pro, 20), (Con, 10)], [(Pro, 10), (Con, 20)]);
    let swapped = [(Con, 10), (Pro, 10)];
    // First tie-break: fewer wrong citations, whatever else favours the other side.
    assert_judgment(argued_duel(["p", "c"], [0, 1]), con_by_far, (Pro, FewerWrongCitations, true));
    assert_judgment(
        argued_duel(["p", "c>p"], [2, 1]),
        pro_by_far,
        (Con, FewerWrongCitations, true),
    );
    // Second: fewer unanswered opposing claims.
    assert_judgment(argued_duel(["p q", "c"], [1, 1]), con_by_far, (Pro, FewerUnanswered, true));
    let ignored = || argued_duel(["p", "c>p", "q", "d>q"], [0, 0]); // Ada never answered c.
    assert_judgment(ignored(), pro_by_far, (Con, FewerUnanswered, true));
    assert_judgment(ignored(), split, (Con, FewerUnanswered, true));
    // Third: the larger margin.
    let even = || argued_duel(["p", "c>p"], [0, 0]);
    assert_judgment(even(), pro_by_far, (Pro, LargerMargin, true));
    assert_judgment(even(), con_by_far, (Con, LargerMargin, true));
    // Last: the proposal stands.
    assert_judgment(argued_duel(["p", "c>p"], [3, 3]), split, (Pro, Proposer, true));
    assert_judgment(even(), swapped, (Pro, Proposer, true));
}

#[test]
fn mirror_with_less_weight_cannot_cause_a_tie() {
    let mut setup = debate_setup(formats::duel(), 1);
    setup.seats[11].weight = 1;
    let mut debate = open_debate(setup);
    let judge = play_until(&mut debate, 0, "judge");
    assert_judgment((debate, judge), [(Con, 1), (Pro, 50)], (Con, Majority, true));
}

#[test]
fn verdict_text_comes_from_the_unswapped_judge() {
    let (mut debate, judge) = argued_duel(["p", "c"], [0, 0]);
    let first = debate.turns().next().unwrap().0;
    let mirror = Cue { seat: 11, ..judge };
    record_reply(&mut debate, mirror, ruling_with_margin(Con, 1, first));
    assert_eq!(leading_ruling(&debate, Con).unwrap().0, mirror, "the only ruling");
    record_reply(&mut debate, judge, ruling_with_margin(Con, 1, first));
    assert_eq!(leading_ruling(&debate, Con).unwrap().0, judge);
}

#[test]
fn marks_and_votes_decide_without_a_ruling() {
    let unruled = play_to_end(debate_setup(formats::tribunal(), 7), &["0.judge"]);
    let judgment = judgment(&unruled).unwrap();
    assert_eq!((judgment.winner, judgment.basis), (Con, Weighed));
    // Without any ruling or vote there is no judgment, whatever the marks.
    let undecided = play_to_end(debate_setup(formats::tribunal(), 7), &["0.judge", "0.vote"]);
    assert_eq!(crate::debate::verdict::judgment(&undecided), None);
}

#[test]
fn forfeit_decides_without_a_ruling() {
    let debate = play_to_end(debate_setup(arena_with_forfeit(), 2), &["2.close/Bob"]);
    let judgment = judgment(&debate).unwrap();
    assert_eq!((judgment.winner, judgment.basis), (Pro, Forfeit));
    for (basis, text) in [
        (Forfeit, "the other side fell silent"),
        (VerdictBasis::Ruling, "by one ruling"),
        (Agreement, "both rulings, with the sides swapped, agree"),
        (Majority, "by the majority of the rulings"),
        (Weighed, "by marks, rulings and votes, weighed together"),
        (FewerWrongCitations, "tie-break: fewer wrong citations"),
        (FewerUnanswered, "tie-break: fewer opposing claims left unanswered"),
        (LargerMargin, "tie-break: the ruling with the larger margin"),
        (Proposer, "tie-break: nothing else tells the sides apart, so the proposal stands"),
    ] {
        assert_eq!(basis.describe(), text);
    }
}

#[test]
fn claims_without_a_turn_to_answer_are_not_ignored() {
    // Asserts how many opposing claims each side has ignored.
    fn assert_ignored<const N: usize>(claims: [&str; N], expected: [usize; 2]) {
        let (debate, _) = argued_duel(claims, [0, 0]);
        assert_eq!([Pro, Con].map(|side| tally(&debate, side).ignored), expected, "{claims:?}");
    }
    assert_ignored(["p", "c>p"], [0, 0]); // Ada has no turn left to answer Bob.
    assert_ignored(["p q", "c"], [0, 2]);
    assert_ignored(["p", "c>p d", "q>c", "e>q"], [1, 0]); // d could be answered, e could not.
    assert_ignored(["p", "c>p", "q>c", "c>q d"], [0, 0]);
    assert_ignored(["", "c", "", "d"], [1, 0]);
    // A side without a turn ignores nothing.
    let silent = play_to_end(debate_setup(formats::duel(), 1), &["1.challenge"]);
    assert_eq!(tally(&silent, Con).ignored, 0);
    let even = argued_duel(["p", "c>p"], [0, 0]);
    assert_judgment(even, [(Pro, 20), (Con, 10)], (Pro, LargerMargin, true));
}

#[test]
fn judge_checks_at_most_12_claims() {
    for (claimed, checked) in [(11, 11), (12, 12), (13, 12)] {
        let claims: Vec<String> = (1..=claimed).map(|number| format!("p{number}")).collect();
        let mut debate = open_debate(debate_setup(formats::duel(), 1));
        let cue = play_until(&mut debate, 1, "propose");
        record_reply(&mut debate, cue, speech(&claims.join(" "), &[], &[]));
        assert_eq!(claims_to_check(&debate, Cue::END).len(), checked);
    }
}
