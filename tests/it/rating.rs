//! Ratings: the Bradley-Terry fit recovers simulated strengths with intervals of the stated
//! coverage. Also judge agreement (kappa, Wilson interval) and the text of the leaderboard.
use crate::debate_fixture::Rng;
use debate_mcp::debate::Side;
use debate_mcp::rating::agreement::{judge_agreement, wilson_interval};
use debate_mcp::rating::bradley_terry::MEAN_RATING;
use debate_mcp::rating::{
    AgreementReference, DebateRulings, FittedRatings, GameScore, JudgeAgreement, Leaderboard,
    RatedGame, RatingEstimate, UnratedReason, fit_ratings, text,
};
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

fn estimate_of<'a>(strengths: &'a FittedRatings, name: &str) -> &'a RatingEstimate {
    let mut all = strengths.groups.iter().flatten();
    &all.find(|it| it.0 == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// Simulates a round robin on so many motions, with both sides swapped. Strengths are in rating
/// points; `first` is the advantage of the proposer.
fn simulate_games(strengths: &[f64], first: f64, motions: usize, rng: &mut Rng) -> Vec<RatedGame> {
    let mut games = vec![];
    for motion in 0..motions {
        for one in 0..strengths.len() {
            for other in (0..strengths.len()).filter(|other| *other != one) {
                let apart = strengths[one] - strengths[other] + first;
                let chance = 1.0 / (1.0 + 10f64.powf(-apart / 400.0));
                let drawn = rng.below(1_000_000) as f64 / 1e6;
                let score = if drawn < chance { GameScore::Pro } else { GameScore::Con };
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
    let (mut within, mut all, mut first_within, seeds) = (0, 0, 0, 300u32);
    for seed in 0..seeds {
        let fitted = fit_ratings(&simulate_games(&truth, 40.0, 12, &mut Rng(u64::from(seed))));
        for (nth, true_strength) in truth.iter().enumerate() {
            let it = estimate_of(&fitted, &format!("e{nth}"));
            let wanted = MEAN_RATING + true_strength - mean;
            within += usize::from(it.low <= wanted && wanted <= it.high);
        }
        all += truth.len();
        let first = fitted.advantage.unwrap();
        first_within += usize::from(first.low <= 40.0 && 40.0 <= first.high);
    }
    let share = within as f64 / all as f64;
    assert!((0.93..=0.985).contains(&share), "{share} of the intervals hold");
    let share = first_within as f64 / f64::from(seeds);
    assert!((0.91..=0.99).contains(&share), "{share} of those of speaking first hold");
}

#[test]
fn more_games_narrow_the_intervals() {
    let truth = [-100.0, 100.0, 0.0];
    let mut before = f64::MAX;
    for motions in [3, 30, 300] {
        let fitted = fit_ratings(&simulate_games(&truth, 0.0, motions, &mut Rng(5)));
        let it = estimate_of(&fitted, "e1");
        assert!(it.high - it.low < before);
        before = it.high - it.low;
    }
    assert!(before < 45.0, "{before}");
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
    assert!((a.value + b.value - 2.0 * MEAN_RATING).abs() < 0.11, "centred");
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
    assert!(estimate_of(&one, "best").low < MEAN_RATING, "one game says little");
    assert_eq!(fit_ratings(&[]).groups.len(), 0);
}

#[test]
fn draws_only_give_the_middle_rating() {
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
    let apart = fit_ratings(&games);
    assert_eq!(names(&apart), [vec!["a", "b", "c"], vec!["y", "x"]]);
    for group in &apart.groups {
        let mean = group.iter().map(|it| it.1.value).sum::<f64>() / group.len() as f64;
        assert!((mean - MEAN_RATING).abs() < 0.11, "each is centred by itself");
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
        let mut mixed = games.clone();
        for at in (1..mixed.len()).rev() {
            mixed.swap(at, rng.below(at + 1));
        }
        assert_eq!(fit_ratings(&mixed), fitted, "to the last digit");
        let other = |name: &str| {
            BTreeMap::from([("e0", "zoe"), ("e1", "amy"), ("e2", "max"), ("e3", "bob")])[name]
                .to_owned()
        };
        let named: Vec<RatedGame> = games
            .iter()
            .map(|it| RatedGame { pro: other(&it.pro), con: other(&it.con), ..it.clone() })
            .collect();
        let renamed = fit_ratings(&named);
        for (name, estimate) in fitted.groups.iter().flatten() {
            let again = estimate_of(&renamed, &other(name));
            assert!((again.value - estimate.value).abs() < 0.11, "{again:?} {estimate:?}");
            assert!((again.low - estimate.low).abs() < 0.11, "{again:?} {estimate:?}");
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
                    let (score, back) = if wins {
                        (GameScore::Pro, GameScore::Con)
                    } else {
                        (GameScore::Con, GameScore::Pro)
                    };
                    if nth % 2 == 0 {
                        rated_game("a", "b", score, motion)
                    } else {
                        rated_game("b", "a", back, motion)
                    }
                })
            })
            .collect()
    };
    let wide = |games: &[RatedGame]| {
        let it = *estimate_of(&fit_ratings(games), "a");
        it.high - it.low
    };
    let (apart, together) = (wide(&games(false)), wide(&games(true)));
    assert!(together > 1.8 * apart, "{together} {apart}");
}

fn debate_rulings(judges: &[(&str, Side, Option<Side>)], verdict: Side) -> DebateRulings {
    let judges = judges.iter().map(|it| (it.0.to_owned(), it.1, it.2)).collect();
    DebateRulings { judges, verdict: Some(verdict), audience: None }
}

#[test]
fn judge_agreement_covers_panel_swap_verdict_and_audience() {
    use Side::{Con, Pro};
    let benches = [
        debate_rulings(&[("b", Pro, Some(Pro)), ("a", Pro, None)], Pro),
        debate_rulings(&[("a", Con, None), ("b", Pro, Some(Con))], Pro),
        debate_rulings(&[("b", Con, Some(Con)), ("a", Con, None)], Con),
        DebateRulings { audience: Some(Con), ..debate_rulings(&[("b", Con, Some(Con))], Con) },
    ];
    let found = judge_agreement(&benches);
    let row = |between, judge: &str| -> &JudgeAgreement {
        found.iter().find(|it| it.between == between && it.judge == judge).unwrap()
    };
    let panel = row(AgreementReference::Panel, "a");
    assert_eq!((panel.other.as_deref(), panel.debates, panel.same), (Some("b"), 3, 2));
    assert_eq!(panel.kappa, Some(0.4), "of 2/3 where chance would give 4/9");
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
    assert_eq!(found.iter().filter(|it| it.between == AgreementReference::Audience).count(), 1);
    let (low, high) = wilson_interval(8, 10);
    assert!((low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001, "{low} {high}");
    assert_eq!(wilson_interval(0, 0), (0.0, 1.0));
}

#[test]
fn leaderboard_counts_sides_reasons_and_partial_judges() {
    let rated = |game: RatedGame| {
        Ok((game, debate_rulings(&[("kim", Side::Pro, Some(Side::Pro))], Side::Pro)))
    };
    let partial = RatedGame { biased_judge: true, ..rated_game("a", "b", GameScore::Draw, 2) };
    let readings = [
        rated(rated_game("a", "b", GameScore::Pro, 1)),
        rated(rated_game("b", "a", GameScore::Con, 1)),
        rated(partial),
        Err(UnratedReason::Degraded),
        Err(UnratedReason::Demo),
        Err(UnratedReason::Degraded),
    ];
    let board = Leaderboard::from_results(&readings);
    assert_eq!((board.debates, board.rated, board.partial), (6, 3, 1));
    let first = board.rows().next().unwrap();
    assert_eq!((first.rank, first.entrant.as_str()), (1, "a"));
    let (total, pro) = (first.total, first.as_proposer);
    assert_eq!((total.games, total.wins, total.draws, total.losses), (3, 2, 1, 0));
    assert_eq!((pro.games, pro.wins, first.as_challenger.wins), (2, 1, 1));
    assert_eq!(board.unrated[0].reason, UnratedReason::Degraded);
    assert_eq!(board.sides.share, Some(0.5), "one of two that were decided");
    let shown = text::render_leaderboard(&board);
    for part in ["  1  a ", "2-1-0", "3 of 6 debates are rated", "    2  degraded", "kim", "3/3"] {
        assert!(shown.contains(part), "no `{part}` in\n{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn long_names_keep_the_table_width() {
    let long = "x".repeat(60);
    let readings: Vec<_> = (0..1200)
        .map(|nth| {
            Ok((
                rated_game(&long, "y", GameScore::Con, nth),
                debate_rulings(&[(&long, Side::Pro, Some(Side::Con))], Side::Con),
            ))
        })
        .collect();
    let shown = text::render_leaderboard(&Leaderboard::from_results(&readings));
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(
        text::render_leaderboard(&Leaderboard::from_results(&[]))
            .contains("No debate is rated yet")
    );
}
