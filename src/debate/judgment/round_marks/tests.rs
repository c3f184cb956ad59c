//! Scoring: marks, fouls, help, rulings, votes, confidence, and contested verdicts in numbers.
use crate::debate::body::{AdmissionGrounds, Foul, RulingScores};
use crate::debate::round_marks::{HelpCalls as Calls, help_calls, round_marks, turning_round};
use crate::debate::verdict::{ContestReason, Judgment, VerdictBasis, judgment};
use crate::debate::{
    Body, CitationStatus, Debate, FailureKind, HelpRequest, Role, Seat, Setup, Side, formats,
};
use crate::test_support::debate_fixture::{
    apply_events, arena_with_forfeit, ask_open_turns, citation, debate_setup, due_cues,
    model_participant, open_debate, play_debate, play_to_end, play_until, record_reply,
    record_reply_with, without_roles,
};
use crate::test_support::simulated_players::{
    equal_marks, failed_event, valid_reply, verdict_reply,
};
use Side::{Con, Pro};

fn score_reply(pro: u8, con: u8, fouls: &[Side]) -> Body {
    let foul = |side: &Side| Foul { side: *side, kind: "other".into(), note: String::new() };
    let (pro, con) = (equal_marks(pro), equal_marks(con));
    Body::Score { pro, con, fouls: fouls.iter().map(foul).collect(), comment: "so".into() }
}

/// Adds a seat with this role at the end.
fn with_seat(mut setup: Setup, name: &str, role: Role) -> Setup {
    let seat = Seat {
        name: name.into(),
        role,
        voice: model_participant("opencode"),
        ..setup.seats[10].clone()
    };
    setup.seats.push(seat);
    setup
}

/// A tribunal of three rounds with these marks from every judge, at its verdict phase.
fn tribunal_with_marks(setup: Setup, rounds: [(u8, u8); 3]) -> Debate {
    let mut debate = open_debate(setup);
    for (round, (pro, con)) in (1..).zip(rounds) {
        play_until(&mut debate, round, "score");
        for cue in due_cues(&debate) {
            record_reply(&mut debate, cue, score_reply(pro, con, &[]));
        }
    }
    play_until(&mut debate, 0, "judge");
    debate
}

fn tribunal_without_mirror() -> Setup {
    without_roles(debate_setup(formats::tribunal(), 3), &[Role::Mirror])
}

/// Gives the due rulings, with scores for both sides; `None` times out.
fn give_rulings(debate: &mut Debate, rulings: &[Option<(Side, u8, u8)>]) {
    let first = debate.turns().next().unwrap().0;
    ask_open_turns(debate);
    for (cue, ruling) in due_cues(debate).into_iter().zip(rulings) {
        let Some((side, pro, con)) = *ruling else {
            let timeout = failed_event(debate, cue, FailureKind::TimedOut);
            apply_events(debate, [timeout]);
            continue;
        };
        let Body::Verdict(mut body) = verdict_reply(Some(side), 80, vec![first]) else { panic!() };
        body.scores = Some(RulingScores { pro, con });
        record_reply(debate, cue, Body::Verdict(body));
    }
}

/// Gives the due votes; `None` times out.
fn give_votes(debate: &mut Debate, votes: &[Option<Side>]) {
    ask_open_turns(debate);
    for (cue, vote) in due_cues(debate).into_iter().zip(votes) {
        if let Some(side) = *vote {
            let because = String::new();
            record_reply(debate, cue, Body::Vote { side, confidence: 10, because });
        } else {
            let timeout = failed_event(debate, cue, FailureKind::TimedOut);
            apply_events(debate, [timeout]);
        }
    }
}

#[test]
fn mark_is_the_mean_over_dimensions_and_judges() {
    let mut debate = open_debate(with_seat(tribunal_without_mirror(), "Kit", Role::Judge));
    play_until(&mut debate, 1, "score");
    let judge_cues = due_cues(&debate);
    assert_eq!(judge_cues.len(), 2);
    let mut uneven_scores = score_reply(0, 50, &[]);
    if let Body::Score { pro, .. } = &mut uneven_scores {
        let marks = [("logic", 100), ("rebuttal", 80), ("clarity", 60), ("evidence", 45)];
        *pro = marks.map(|(name, mark)| (name.into(), mark)).into();
    }
    record_reply(&mut debate, judge_cues[0], uneven_scores);
    assert_eq!(round_marks(&debate)[0].pro.given, 712, "in hundredths of a point");
    record_reply(&mut debate, judge_cues[1], score_reply(60, 75, &[]));
    let round = round_marks(&debate)[0];
    assert_eq!((round.pro.given, round.con.given), (656, 625));
    assert_eq!((round.pro.counts, round.con.counts), (656, 625));
}

#[test]
fn foul_costs_two_points_but_not_below_zero() {
    for (fouls, expected) in [
        (&[][..], [(0, 700), (0, 600)]),
        (&[Pro], [(200, 500), (0, 600)]),
        (&[Con, Con], [(0, 700), (400, 200)]),
        (&[Pro, Con, Pro, Pro], [(600, 100), (200, 400)]),
        (&[Pro, Pro, Pro, Pro], [(800, 0), (0, 600)]),
    ] {
        let mut debate = open_debate(tribunal_without_mirror());
        let cue = play_until(&mut debate, 1, "score");
        record_reply(&mut debate, cue, score_reply(70, 60, fouls));
        let round = round_marks(&debate)[0];
        let found = [round.pro, round.con].map(|mark| (mark.fouls, mark.counts));
        assert_eq!(found, expected, "{fouls:?}");
    }
    // A foul called by one of two judges counts half.
    let mut debate = open_debate(with_seat(tribunal_without_mirror(), "Kit", Role::Judge));
    play_until(&mut debate, 1, "score");
    let judge_cues = due_cues(&debate);
    record_reply(&mut debate, judge_cues[0], score_reply(70, 60, &[Pro]));
    record_reply(&mut debate, judge_cues[1], score_reply(70, 60, &[]));
    assert_eq!(round_marks(&debate)[0].pro.fouls, 100);
}

/// Ada requests help in this round, and the judge grants it or admits no one.
fn request_help(debate: &mut Debate, round: u8, from: &str, granted: bool) {
    let cue = play_until(debate, round, "argue");
    let mut body = valid_reply(debate, cue);
    if let Body::Speech { help, .. } = &mut body {
        let (kind, because) = ("technical".into(), "figures".into());
        *help = Some(HelpRequest { kind, from: from.into(), because });
    }
    record_reply(debate, cue, body);
    let admit = play_until(debate, round, "admit");
    let admits = if granted { Some(from.to_owned()) } else { None };
    let grounds =
        AdmissionGrounds { new_information: true, avoids_repetition: true, shifts_balance: true };
    record_reply(debate, admit, Body::Ruling { admits, grounds, because: "so".into() });
}

#[test]
fn granted_help_costs_by_the_share_of_granted_calls() {
    // Whether help was granted in rounds 3 and 5, and its cost in rounds 3 to 6.
    for (granted, expected) in [
        ([true, true], [100, 0, 100, 0]),
        ([false, true], [0, 0, 50, 0]),
        ([true, false], [100, 0, 0, 0]),
        ([false, false], [0, 0, 0, 0]),
    ] {
        let mut debate = open_debate(debate_setup(formats::tribunal(), 10));
        request_help(&mut debate, 3, "Ivy", granted[0]);
        let admit = play_until(&mut debate, 4, "admit");
        let no_admission = Body::Ruling {
            admits: None,
            grounds: AdmissionGrounds::default(),
            because: "no".into(),
        };
        record_reply(&mut debate, admit, no_admission);
        request_help(&mut debate, 5, "Jan", granted[1]);
        play_until(&mut debate, 7, "argue");
        let marks = round_marks(&debate);
        let cost = [3, 4, 5, 6].map(|round: usize| marks[round - 1].pro.reliance);
        assert_eq!(cost, expected, "{granted:?}");
        assert!(marks.iter().all(|round| round.con.reliance == 0), "only the side that asked pays");
        for round in &marks {
            let mark = round.pro;
            assert_eq!(mark.counts, mark.given - mark.fouls - mark.reliance);
        }
        let (calls, granted_now) = help_calls(&debate, admit.position(), Pro);
        assert_eq!((calls, granted_now), (Calls { asked: 1, granted: granted[0].into() }, false));
    }
}

#[test]
fn total_is_weighted_by_judge_share_and_vote_weights() {
    // Marks of 8 to 2 and a ruling of 60 to 40 give the judge's part: 70 of 100.
    let table = [
        // judge share, weights of Hal, Ivy and Jan, votes, audience part, total, winner
        (None, [1, 1, 1], [Pro, Con, Con], 3333, 5167, Pro),
        (None, [1, 1, 1], [Con, Con, Con], 0, 3500, Con),
        (Some(50), [1, 1, 1], [Pro, Pro, Pro], 10_000, 8500, Pro),
        (Some(0), [1, 1, 1], [Pro, Con, Con], 3333, 3333, Con),
        (Some(100), [1, 1, 1], [Con, Con, Con], 0, 7000, Pro),
        (Some(30), [1, 1, 1], [Con, Con, Con], 0, 2100, Con),
        (Some(30), [5, 1, 1], [Pro, Con, Con], 7143, 7100, Pro),
        (Some(0), [2, 1, 1], [Pro, Con, Con], 5000, 5000, Pro), // A tie, broken by the ruling.
        (Some(0), [1, 9, 1], [Pro, Con, Pro], 1818, 1818, Con),
    ];
    for (share, weights, votes, audience, total, winner) in table {
        let mut setup = tribunal_without_mirror();
        setup.judge_share = share;
        for (seat, weight) in (7..).zip(weights) {
            setup.seats[seat].weight = weight;
        }
        let mut debate = tribunal_with_marks(setup, [(80, 20); 3]);
        give_rulings(&mut debate, &[Some((Pro, 60, 40))]);
        give_votes(&mut debate, &votes.map(Some));
        let judgment = judgment(&debate).unwrap();
        let weighted = judgment.weighted_score.unwrap();
        let name = format!("{share:?} {weights:?} {votes:?}");
        assert_eq!((weighted.rounds, weighted.rulings), (Some(8000), Some(6000)), "{name}");
        assert_eq!((weighted.judge, weighted.audience), (Some(7000), Some(audience)), "{name}");
        assert_eq!((weighted.total, judgment.winner), (total, winner), "{name}");
        assert_eq!(weighted.judge_share + weighted.audience_share, 100, "{name}");
        assert_eq!(weighted.judge_share, share.unwrap_or(50), "{name}");
        let dissent_count = votes.iter().filter(|vote| **vote != winner).count();
        assert_eq!(judgment.dissenting_votes.len(), dissent_count, "{name}");
        let basis = if total == 5000 { VerdictBasis::LargerMargin } else { VerdictBasis::Weighed };
        assert_eq!(judgment.basis, basis, "{name}");
    }
}

#[test]
fn missing_parts_are_left_out_of_the_total() {
    let judge = [Some((Con, 40, 60))];
    let finish =
        |mut debate: Debate, rulings: &[Option<(Side, u8, u8)>], votes: &[Option<Side>]| {
            give_rulings(&mut debate, rulings);
            give_votes(&mut debate, votes);
            let weighted = judgment(&debate).unwrap().weighted_score.unwrap();
            (weighted.rounds, weighted.rulings, weighted.audience, weighted.total)
        };
    let marked_debate = || tribunal_with_marks(tribunal_without_mirror(), [(80, 20); 3]);
    // A missing vote counts for neither side.
    let votes = [Some(Pro), None, Some(Con)];
    assert_eq!(finish(marked_debate(), &judge, &votes), (Some(8000), Some(4000), Some(5000), 5500));
    assert_eq!(finish(marked_debate(), &judge, &[None; 3]), (Some(8000), Some(4000), None, 6000));
    // No ruling: the judge's part consists of the marks.
    assert_eq!(
        finish(marked_debate(), &[None], &[Some(Con); 3]),
        (Some(8000), None, Some(0), 4000)
    );
    // No audience.
    let without_audience = tribunal_with_marks(
        without_roles(tribunal_without_mirror(), &[Role::Audience]),
        [(80, 20); 3],
    );
    assert_eq!(finish(without_audience, &judge, &[]), (Some(8000), Some(4000), None, 6000));
    // No marks.
    let mut debate = open_debate(tribunal_without_mirror());
    let failed_phases = ["1.score", "2.score", "3.score"];
    crate::test_support::debate_fixture::play_debate(&mut debate, &failed_phases, |debate| {
        crate::test_support::debate_fixture::first_due_cue(debate, 0, "judge").is_some()
    });
    assert_eq!(finish(debate, &judge, &[Some(Pro); 3]), (None, Some(4000), Some(10_000), 7000));
    // Without a ruling and a vote there is no verdict, whatever the marks.
    let undecided = play_to_end(tribunal_without_mirror(), &["0.judge", "0.vote"]);
    assert!(!round_marks(&undecided).is_empty() && judgment(&undecided).is_none());
}

#[test]
fn judges_count_by_weight_or_by_side_without_scores() {
    let mut setup = with_seat(tribunal_without_mirror(), "Kit", Role::Judge);
    setup.seats.last_mut().unwrap().weight = 1; // Kim has weight 3.
    let mut debate = tribunal_with_marks(setup, [(50, 50); 3]);
    give_rulings(&mut debate, &[Some((Pro, 80, 20)), Some((Con, 40, 60))]);
    play_debate(&mut debate, &["0.judge", "0.vote"], |_| false);
    let weighted = judgment(&debate).unwrap().weighted_score.unwrap();
    assert_eq!(weighted.rulings, Some((8000 * 3 + 4000) / 4));
    let mut debate = tribunal_with_marks(tribunal_without_mirror(), [(50, 50); 3]);
    let (first, judge) = (debate.turns().next().unwrap().0, due_cues(&debate)[0]);
    record_reply(&mut debate, judge, verdict_reply(Some(Con), 80, vec![first]));
    play_debate(&mut debate, &["0.judge", "0.vote"], |_| false);
    assert_eq!(judgment(&debate).unwrap().weighted_score.unwrap().rulings, Some(0));
}

#[test]
fn ties_are_broken_in_order() {
    // Wrong citations of each side, the winner, and the tie-breaker.
    let even_rulings = [Some((Pro, 60, 40)), Some((Con, 40, 60))];
    for (wrong_counts, winner, basis) in [
        ([0, 1], Pro, VerdictBasis::FewerWrongCitations),
        ([2, 1], Con, VerdictBasis::FewerWrongCitations),
        ([1, 1], Pro, VerdictBasis::Proposer),
        ([0, 0], Pro, VerdictBasis::Proposer),
    ] {
        let mut debate = open_debate(debate_setup(formats::tribunal(), 3));
        for count in wrong_counts {
            let cue = due_cues(&debate)[0];
            let body = valid_reply(&debate, cue);
            record_reply_with(
                &mut debate,
                cue,
                body,
                vec![citation("x.rs:1", CitationStatus::NoSuchPath); count],
            );
        }
        for round in 1..=3 {
            let cue = play_until(&mut debate, round, "score");
            record_reply(&mut debate, cue, score_reply(70, 70, &[]));
        }
        play_until(&mut debate, 0, "judge");
        give_rulings(&mut debate, &even_rulings);
        play_debate(&mut debate, &["0.vote"], |_| false);
        let judgment = judgment(&debate).unwrap();
        assert_eq!(judgment.weighted_score.unwrap().total, 5000);
        assert_eq!((judgment.winner, judgment.basis), (winner, basis), "{wrong_counts:?}");
        assert!(judgment.contest_reasons.contains(&ContestReason::Margin));
    }
}

#[test]
fn turning_round_is_where_the_lead_became_final() {
    for (marks, winner, expected) in [
        // The lead changed.
        ([(60, 70), (80, 60), (70, 70)], Pro, 2),
        ([(60, 70), (70, 70), (80, 60)], Pro, 3),
        ([(70, 60), (60, 80), (90, 60)], Pro, 3), // Lost and regained.
        ([(70, 60), (60, 90), (60, 60)], Con, 2),
        ([(70, 70), (70, 60), (90, 60)], Pro, 2), // A tie is no lead.
        // The winner led from the first round: the round that added most.
        ([(70, 60), (90, 60), (70, 60)], Pro, 2),
        ([(90, 60), (60, 80), (70, 65)], Pro, 1),
        // The earliest of equal rounds.
        ([(70, 60), (70, 60), (60, 60)], Pro, 1),
        // The winner never led: the round that lost least.
        ([(60, 70), (60, 65), (60, 70)], Pro, 2),
        ([(70, 70), (70, 70), (70, 70)], Con, 1),
    ] {
        let debate = tribunal_with_marks(tribunal_without_mirror(), marks);
        assert_eq!(turning_round(&debate, winner), Some(expected), "{marks:?} {winner:?}");
    }
    let unmarked = play_to_end(tribunal_without_mirror(), &["1.score", "2.score", "3.score"]);
    assert_eq!(turning_round(&unmarked, Pro), None);
}

#[test]
fn verified_evidence_breaks_a_tie_of_turning_rounds() {
    for (status, expected) in [(CitationStatus::Exact, 2), (CitationStatus::NotFound, 1)] {
        let mut debate = open_debate(tribunal_without_mirror());
        for (round, (pro, con)) in (1..).zip([(70, 60), (70, 60), (70, 60)]) {
            let cue = play_until(&mut debate, round, "argue");
            if round == 2 {
                let body = valid_reply(&debate, cue);
                record_reply_with(&mut debate, cue, body, vec![citation("a.rs:1", status)]);
            }
            let cue = play_until(&mut debate, round, "score");
            record_reply(&mut debate, cue, score_reply(pro, con, &[]));
        }
        assert_eq!(turning_round(&debate, Pro), Some(expected), "{status:?}");
    }
}

/// The judgment of a one-round duel with these judges and rulings, in seat order.
fn judge_duel(seats: &[(&str, Role)], rulings: &[Option<(Side, u8, u8)>]) -> Judgment {
    let duel = without_roles(debate_setup(formats::duel(), 1), &[Role::Mirror, Role::Judge]);
    let seat = |(name, role): &(&str, Role)| Seat {
        name: (*name).into(),
        role: *role,
        weight: 1,
        ..duel.seats[0].clone()
    };
    let seats: Vec<Seat> = duel.seats.iter().cloned().chain(seats.iter().map(seat)).collect();
    let mut debate = open_debate(Setup { seats, ..duel });
    play_until(&mut debate, 0, "judge");
    give_rulings(&mut debate, rulings);
    judgment(&debate).unwrap()
}

const KIM: (&str, Role) = ("Kim", Role::Judge);
const LOU: (&str, Role) = ("Lou", Role::Mirror);
const KIT: (&str, Role) = ("Kit", Role::Judge);
const LEX: (&str, Role) = ("Lex", Role::Mirror);
const KAY: (&str, Role) = ("Kay", Role::Judge);

#[test]
fn confidence_follows_margin_and_agreement() {
    let pro = |margin: u8| Some((Pro, 50 + margin, 50));
    let con = |margin: u8| Some((Con, 50, 50 + margin));
    for (rulings, expected) in [
        // A single ruling: confidence is capped.
        (&[pro(5), None][..], 50),
        (&[pro(12), None], 61),
        (&[pro(17), None], 79),
        (&[pro(40), None], 79),
        // Rulings that agree with swapped sides: the smaller margin counts.
        (&[pro(9), pro(40)], 50),
        (&[pro(10), pro(14)], 61),
        (&[con(15), con(40)], 79),
        (&[pro(20), pro(50)], 92),
        // Rulings that disagree: no better than chance.
        (&[pro(40), con(10)], 50),
    ] {
        let judgment = judge_duel(&[KIM, LOU], rulings);
        assert_eq!(judgment.confidence, Some(expected), "{rulings:?}");
    }
    let forfeited = play_to_end(debate_setup(arena_with_forfeit(), 1), &["1.open/Bob"]);
    assert_eq!(judgment(&forfeited).unwrap().confidence, None, "no judge ruled");
}

#[test]
fn contest_reasons_are_reported() {
    use ContestReason::{Margin, Order, Panel};
    let (pro, con, close) = (Some((Pro, 70, 40)), Some((Con, 40, 70)), Some((Pro, 55, 50)));
    for (seats, rulings, expected) in [
        (&[KIM, LOU][..], &[pro, pro][..], &[][..]),
        (&[KIM, LOU], &[pro, con], &[Order]),
        (&[KIM, LOU], &[close, close], &[Margin]),
        (&[KIM, LOU], &[close, con], &[Order]), // The margin of the winner's ruling counts.
        (&[KIM, LOU], &[close, Some((Con, 50, 53))], &[Order, Margin]),
        (&[KIM, LOU], &[con, None], &[]),
        (&[KIM, KIT], &[pro, con], &[Panel]),
        (&[KIM, KIT, KAY], &[pro, con, pro], &[Panel]),
        (&[KIM, KIT, LOU, LEX], &[pro, pro, con, con], &[Order]),
        (&[KIM, KIT, LOU, LEX], &[pro, con, pro, con], &[Panel]),
        (&[KIM, KIT, LOU, LEX], &[pro, pro, pro, pro], &[]),
    ] {
        let judgment = judge_duel(seats, rulings);
        assert_eq!(judgment.contest_reasons, expected, "{seats:?} {rulings:?}");
        assert_eq!(judgment.is_contested(), !expected.is_empty());
    }
    for (reason, text) in [
        (Order, "it depends on the order in which the sides were shown"),
        (Panel, "the judges do not agree"),
        (Margin, "the margin is small"),
    ] {
        assert_eq!(reason.describe(), text);
    }
}

#[test]
fn panel_majority_decides() {
    let (pro, con) = (Some((Pro, 70, 40)), Some((Con, 40, 70)));
    let judgment = judge_duel(&[KIM, KIT, KAY], &[con, con, pro]);
    assert_eq!((judgment.winner, judgment.basis), (Con, VerdictBasis::Majority));
    assert_eq!(judgment.confidence, Some(50));
    assert!(judgment.dissenting_votes.is_empty(), "only listeners vote");
}

/// Granted help that was never given, and a listener who supports the other side, cost nothing.
#[test]
fn unused_or_opposing_help_costs_nothing() {
    let mut unused_help = open_debate(debate_setup(formats::tribunal(), 10));
    request_help(&mut unused_help, 3, "Ivy", true);
    play_debate(&mut unused_help, &["3.address"], |debate| round_marks(debate).len() == 3);
    assert_eq!(round_marks(&unused_help)[2].pro.reliance, 0);

    let mut setup = debate_setup(formats::tribunal(), 10);
    setup.seats.retain(|seat| !["Hal", "Jan"].contains(&seat.name.as_str()));
    let mut debate = open_debate(setup);
    let cue = play_until(&mut debate, 3, "argue");
    let mut body = valid_reply(&debate, cue);
    if let Body::Speech { help, .. } = &mut body {
        let (kind, from) = ("technical".into(), "Ivy".into());
        *help = Some(HelpRequest { kind, from, because: "figures".into() });
    }
    record_reply(&mut debate, cue, body);
    let cue = play_until(&mut debate, 3, "petition");
    let Body::Petition { claim, novelty, confidence, .. } = valid_reply(&debate, cue) else {
        panic!()
    };
    record_reply(
        &mut debate,
        cue,
        Body::Petition { supports: Some(Con), claim, novelty, confidence },
    );
    play_debate(&mut debate, &[], |debate| round_marks(debate).len() == 3);
    assert!(debate.replies_in(..).any(|(cue, _)| debate.setup().phase(cue).name == "address"));
    assert_eq!(round_marks(&debate)[2].pro.reliance, 0);
}

#[test]
fn silent_side_gets_no_mark() {
    let mut debate = open_debate(tribunal_without_mirror());
    play_debate(&mut debate, &["2.argue/Ada"], |debate| round_marks(debate).len() == 2);
    let marks = round_marks(&debate);
    assert!(marks[0].pro.counts > 0 && marks[1].con.counts > 0);
    assert_eq!(marks[1].pro.counts, 0);
}
