//! Ratings: the Bradley-Terry fit recovers simulated strengths with intervals of the stated
//! coverage. Also judge agreement (kappa, Wilson interval) and the text of the leaderboard.
use crate::debate::Side;
use crate::rating::agreement::DebateRulings;
use crate::rating::agreement::{judge_agreement, wilson_interval};
use crate::rating::bradley_terry::MEAN_RATING;
use crate::rating::bradley_terry::{FittedRatings, fit_ratings};
use crate::rating::{
    AgreementReference, GameScore, JudgeAgreement, Leaderboard, RatedGame, RatingEstimate,
    UnratedReason, text,
};
use crate::test_support::debate_fixture::Rng;
use std::collections::BTreeMap;

fn rated_game(pro: &str, con: &str, score: GameScore, motion: usize) -> RatedGame {
    RatedGame {
        debate_id: format!("debate-{motion}"),
        motion: format!("Motion {motion}?"),
        pro: pro.into(),
        con: con.into(),
        score,
        biased_judge: false,
    }
}

fn estimate_of<'a>(ratings: &'a FittedRatings, name: &str) -> &'a RatingEstimate {
    let mut estimates = ratings.groups.iter().flatten();
    &estimates.find(|it| it.0 == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// Simulates a round robin on so many motions, with both sides swapped. Strengths are in rating
/// points, and so is `proposer_advantage`.
fn simulate_games(
    strengths: &[f64],
    proposer_advantage: f64,
    motions: usize,
    rng: &mut Rng,
) -> Vec<RatedGame> {
    let mut games = vec![];
    for motion in 0..motions {
        for one in 0..strengths.len() {
            for other in (0..strengths.len()).filter(|other| *other != one) {
                let difference = strengths[one] - strengths[other] + proposer_advantage;
                let win_probability = 1.0 / (1.0 + 10f64.powf(-difference / 400.0));
                let sample = rng.below(1_000_000) as f64 / 1e6;
                let score = if sample < win_probability { GameScore::Pro } else { GameScore::Con };
                games.push(rated_game(&format!("e{one}"), &format!("e{other}"), score, motion));
            }
        }
    }
    games
}

#[test]
fn confidence_intervals_have_the_stated_coverage() {
    let truth = [-150.0, -50.0, 0.0, 60.0, 140.0];
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let (mut within, mut total, mut advantage_within, seeds) = (0, 0, 0, 300u32);
    for seed in 0..seeds {
        let fitted = fit_ratings(&simulate_games(&truth, 40.0, 12, &mut Rng(u64::from(seed))));
        for (nth, true_strength) in truth.iter().enumerate() {
            let estimate = estimate_of(&fitted, &format!("e{nth}"));
            let true_rating = MEAN_RATING + true_strength - mean;
            within += usize::from(estimate.low <= true_rating && true_rating <= estimate.high);
        }
        total += truth.len();
        let advantage = fitted.advantage.unwrap();
        advantage_within += usize::from(advantage.low <= 40.0 && 40.0 <= advantage.high);
    }
    let share = within as f64 / total as f64;
    assert!((0.93..=0.985).contains(&share), "{share} of the intervals contain the true rating");
    let share = advantage_within as f64 / f64::from(seeds);
    assert!((0.91..=0.99).contains(&share), "{share} contain the true advantage");
}

#[test]
fn more_games_narrow_the_intervals() {
    let truth = [-100.0, 100.0, 0.0];
    let mut width = f64::MAX;
    for motions in [3, 30, 300] {
        let fitted = fit_ratings(&simulate_games(&truth, 0.0, motions, &mut Rng(5)));
        let estimate = estimate_of(&fitted, "e1");
        assert!(estimate.high - estimate.low < width);
        width = estimate.high - estimate.low;
    }
    assert!(width < 45.0, "{width}");
}

#[test]
fn four_games_give_overlapping_intervals() {
    let games = [
        rated_game("a", "b", GameScore::Pro, 1),
        rated_game("b", "a", GameScore::Con, 1),
        rated_game("a", "b", GameScore::Pro, 2),
        rated_game("b", "a", GameScore::Pro, 2),
    ];
    let fitted = fit_ratings(&games);
    let (a, b) = (estimate_of(&fitted, "a"), estimate_of(&fitted, "b"));
    assert!(a.value > b.value + 50.0 && a.value < b.value + 300.0, "{a:?} {b:?}");
    assert!((a.value + b.value - 2.0 * MEAN_RATING).abs() < 0.11, "centred on the mean");
    assert!(a.low < b.high, "four games decide nothing: {a:?} {b:?}");
}

#[test]
fn undefeated_entrant_gets_a_finite_wide_interval() {
    let games: Vec<RatedGame> = (0..6)
        .map(|nth| rated_game("best", "rest", GameScore::Pro, nth))
        .chain([rated_game("rest", "best", GameScore::Con, 0)])
        .collect();
    let best = *estimate_of(&fit_ratings(&games), "best");
    assert!(best.value > MEAN_RATING && best.value < MEAN_RATING + 800.0, "{best:?}");
    assert!(best.high.is_finite() && best.high - best.low > 200.0, "{best:?}");
    let one = fit_ratings(&games[..1]);
    assert!(estimate_of(&one, "best").low < MEAN_RATING, "one game is weak evidence");
    assert_eq!(fit_ratings(&[]).groups.len(), 0);
}

#[test]
fn only_draws_give_the_mean_rating() {
    let games =
        [rated_game("a", "b", GameScore::Draw, 1), rated_game("b", "a", GameScore::Draw, 2)];
    let fitted = fit_ratings(&games);
    assert!((estimate_of(&fitted, "a").value - MEAN_RATING).abs() < 0.11);
    assert!(fitted.advantage.unwrap().value.abs() < 0.11);
}

#[test]
fn unconnected_entrants_form_separate_groups() {
    let mut games = vec![
        rated_game("a", "b", GameScore::Pro, 1),
        rated_game("b", "c", GameScore::Pro, 1),
        rated_game("x", "y", GameScore::Con, 1),
    ];
    let names = |fitted: &FittedRatings| -> Vec<Vec<String>> {
        let names =
            |group: &Vec<(String, RatingEstimate)>| group.iter().map(|it| it.0.clone()).collect();
        fitted.groups.iter().map(names).collect()
    };
    let separate = fit_ratings(&games);
    assert_eq!(names(&separate), [vec!["a", "b", "c"], vec!["y", "x"]]);
    for group in &separate.groups {
        let mean = group.iter().map(|it| it.1.value).sum::<f64>() / group.len() as f64;
        assert!((mean - MEAN_RATING).abs() < 0.11, "each group is centred separately");
    }
    games.push(rated_game("c", "x", GameScore::Draw, 2));
    assert_eq!(names(&fit_ratings(&games)).len(), 1);
}

#[test]
fn game_order_and_names_do_not_change_ratings() {
    for seed in 0..20 {
        let mut rng = Rng(seed);
        let games = simulate_games(&[0.0, 80.0, -120.0, 30.0], 20.0, 2, &mut rng);
        let fitted = fit_ratings(&games);
        let mut shuffled = games.clone();
        for index in (1..shuffled.len()).rev() {
            shuffled.swap(index, rng.below(index + 1));
        }
        assert_eq!(fit_ratings(&shuffled), fitted, "exactly the same ratings");
        let new_name = |name: &str| {
            BTreeMap::from([("e0", "zoe"), ("e1", "amy"), ("e2", "max"), ("e3", "bob")])[name]
                .to_owned()
        };
        let renamed_games: Vec<RatedGame> = games
            .iter()
            .map(|it| RatedGame { pro: new_name(&it.pro), con: new_name(&it.con), ..it.clone() })
            .collect();
        let renamed = fit_ratings(&renamed_games);
        for (name, estimate) in fitted.groups.iter().flatten() {
            let renamed_estimate = estimate_of(&renamed, &new_name(name));
            assert!(
                (renamed_estimate.value - estimate.value).abs() < 0.11,
                "{renamed_estimate:?} {estimate:?}"
            );
            assert!(
                (renamed_estimate.low - estimate.low).abs() < 0.11,
                "{renamed_estimate:?} {estimate:?}"
            );
        }
    }
}

#[test]
fn first_speaker_advantage_is_separate_from_ratings() {
    // The proposer always wins, so both entrants are equal.
    let games: Vec<RatedGame> = (0..10)
        .flat_map(|nth| {
            [rated_game("a", "b", GameScore::Pro, nth), rated_game("b", "a", GameScore::Pro, nth)]
        })
        .collect();
    let fitted = fit_ratings(&games);
    assert!((estimate_of(&fitted, "a").value - estimate_of(&fitted, "b").value).abs() < 0.2);
    assert!(fitted.advantage.unwrap().low > 100.0, "{:?}", fitted.advantage);
    // An entrant who wins half of its games as the proposer is weaker than its opponent.
    let games: Vec<RatedGame> = (0..20)
        .flat_map(|nth| {
            let score = if nth % 2 == 0 { GameScore::Pro } else { GameScore::Con };
            let even = rated_game("c", "d", GameScore::Pro, nth);
            let back = rated_game("d", "c", GameScore::Pro, nth);
            [even, back, rated_game("a", "c", score, nth)]
        })
        .collect();
    let fitted = fit_ratings(&games);
    assert!(
        estimate_of(&fitted, "a").value < estimate_of(&fitted, "c").value - 100.0,
        "{fitted:?}"
    );
}

/// Games on one motion with the same result count little more than one game.
#[test]
fn games_clustered_by_motion_widen_the_interval() {
    let games = |clustered: bool| -> Vec<RatedGame> {
        (0..12)
            .flat_map(|motion| {
                (0..8).map(move |nth| {
                    let wins =
                        if clustered { motion % 3 != 0 } else { (motion * 8 + nth) % 3 != 0 };
                    let (score, reversed_score) = if wins {
                        (GameScore::Pro, GameScore::Con)
                    } else {
                        (GameScore::Con, GameScore::Pro)
                    };
                    if nth % 2 == 0 {
                        rated_game("a", "b", score, motion)
                    } else {
                        rated_game("b", "a", reversed_score, motion)
                    }
                })
            })
            .collect()
    };
    let interval_width = |games: &[RatedGame]| {
        let estimate = *estimate_of(&fit_ratings(games), "a");
        estimate.high - estimate.low
    };
    let (spread_width, clustered_width) =
        (interval_width(&games(false)), interval_width(&games(true)));
    assert!(clustered_width > 1.8 * spread_width, "{clustered_width} {spread_width}");
}

fn debate_rulings(judges: &[(&str, Side, Option<Side>)], verdict: Side) -> DebateRulings {
    let judges = judges.iter().map(|it| (it.0.to_owned(), it.1, it.2)).collect();
    DebateRulings { judges, verdict: Some(verdict), audience: None }
}

#[test]
fn judge_agreement_covers_panel_swap_verdict_and_audience() {
    use Side::{Con, Pro};
    let debates = [
        debate_rulings(&[("b", Pro, Some(Pro)), ("a", Pro, None)], Pro),
        debate_rulings(&[("a", Con, None), ("b", Pro, Some(Con))], Pro),
        debate_rulings(&[("b", Con, Some(Con)), ("a", Con, None)], Con),
        DebateRulings { audience: Some(Con), ..debate_rulings(&[("b", Con, Some(Con))], Con) },
    ];
    let agreements = judge_agreement(&debates);
    let row = |between, judge: &str| -> &JudgeAgreement {
        agreements.iter().find(|it| it.between == between && it.judge == judge).unwrap()
    };
    let panel = row(AgreementReference::Panel, "a");
    assert_eq!((panel.other.as_deref(), panel.debates, panel.same), (Some("b"), 3, 2));
    assert_eq!(panel.kappa, Some(0.4), "observed 2/3, expected by chance 4/9");
    assert_eq!(
        (row(AgreementReference::Swapped, "b").same, row(AgreementReference::Swapped, "b").debates),
        (3, 4)
    );
    assert_eq!(
        (row(AgreementReference::Verdict, "a").same, row(AgreementReference::Verdict, "a").debates),
        (2, 3)
    );
    assert_eq!(
        row(AgreementReference::Audience, "b").kappa,
        None,
        "both always chose the same side"
    );
    assert_eq!(
        agreements.iter().filter(|it| it.between == AgreementReference::Audience).count(),
        1
    );
    let (low, high) = wilson_interval(8, 10);
    assert!((low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001, "{low} {high}");
    assert_eq!(wilson_interval(0, 0), (0.0, 1.0));
}

#[test]
fn leaderboard_counts_sides_reasons_and_partial_judges() {
    let rated = |game: RatedGame| {
        Ok((game, debate_rulings(&[("kim", Side::Pro, Some(Side::Pro))], Side::Pro)))
    };
    let biased = RatedGame { biased_judge: true, ..rated_game("a", "b", GameScore::Draw, 2) };
    let results = [
        rated(rated_game("a", "b", GameScore::Pro, 1)),
        rated(rated_game("b", "a", GameScore::Con, 1)),
        rated(biased),
        Err(UnratedReason::Degraded),
        Err(UnratedReason::Demo),
        Err(UnratedReason::Degraded),
    ];
    let leaderboard = Leaderboard::from_results(&results);
    assert_eq!((leaderboard.debates, leaderboard.rated, leaderboard.partial), (6, 3, 1));
    let first = leaderboard.rows().next().unwrap();
    assert_eq!((first.rank, first.entrant.as_str()), (1, "a"));
    let (total, pro) = (first.total, first.as_proposer);
    assert_eq!((total.games, total.wins, total.draws, total.losses), (3, 2, 1, 0));
    assert_eq!((pro.games, pro.wins, first.as_challenger.wins), (2, 1, 1));
    assert_eq!(leaderboard.unrated[0].reason, UnratedReason::Degraded);
    assert_eq!(leaderboard.sides.share, Some(0.5), "one of two decided games");
    let rendered = text::render_leaderboard(&leaderboard);
    for part in ["  1  a ", "2-1-0", "3 of 6 debates are rated", "    2  degraded", "kim", "3/3"] {
        assert!(rendered.contains(part), "no `{part}` in\n{rendered}");
    }
    assert!(rendered.lines().all(|line| line.chars().count() <= 80), "{rendered}");
}

#[test]
fn long_names_keep_the_table_width() {
    let long_name = "x".repeat(60);
    let results: Vec<_> = (0..1200)
        .map(|nth| {
            Ok((
                rated_game(&long_name, "y", GameScore::Con, nth),
                debate_rulings(&[(&long_name, Side::Pro, Some(Side::Con))], Side::Con),
            ))
        })
        .collect();
    let rendered = text::render_leaderboard(&Leaderboard::from_results(&results));
    assert!(rendered.lines().all(|line| line.chars().count() <= 80), "{rendered}");
    assert!(
        text::render_leaderboard(&Leaderboard::from_results(&[]))
            .contains("No debate is rated yet")
    );
}
