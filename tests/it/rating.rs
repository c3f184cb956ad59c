//! Ratings: the Bradley-Terry fit recovers simulated strengths with intervals of the stated
//! coverage. Also judge agreement (kappa, Wilson interval) and the text of the leaderboard.
use crate::scene::Rng;
use debate_mcp::debate::Side;
use debate_mcp::rating::agreement::{agreement, wilson};
use debate_mcp::rating::strengths::MIDDLE;
use debate_mcp::rating::{
    Agreement, Bench, Between, Board, Estimate, Game, Score, Strengths, Unrated, strengths, text,
};
use std::collections::BTreeMap;

fn game(pro: &str, con: &str, score: Score, motion: usize) -> Game {
    Game {
        debate: format!("debate-{motion}"),
        motion: format!("Motion {motion}?"),
        pro: pro.into(),
        con: con.into(),
        score,
        partial: false,
    }
}

fn of<'a>(strengths: &'a Strengths, name: &str) -> &'a Estimate {
    let mut all = strengths.groups.iter().flatten();
    &all.find(|it| it.0 == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// Simulates a round robin on so many motions, with both sides swapped. Strengths are in rating
/// points; `first` is the advantage of the proposer.
fn simulated(strengths: &[f64], first: f64, motions: usize, rng: &mut Rng) -> Vec<Game> {
    let mut games = vec![];
    for motion in 0..motions {
        for one in 0..strengths.len() {
            for other in (0..strengths.len()).filter(|other| *other != one) {
                let apart = strengths[one] - strengths[other] + first;
                let chance = 1.0 / (1.0 + 10f64.powf(-apart / 400.0));
                let drawn = rng.below(1_000_000) as f64 / 1e6;
                let score = if drawn < chance { Score::Pro } else { Score::Con };
                games.push(game(&format!("e{one}"), &format!("e{other}"), score, motion));
            }
        }
    }
    games
}

#[test]
fn known_strengths_lie_within_their_intervals_as_often_as_is_said() {
    let truth = [-150.0, -50.0, 0.0, 60.0, 140.0];
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let (mut within, mut all, mut first_within, seeds) = (0, 0, 0, 300u32);
    for seed in 0..seeds {
        let fitted = strengths(&simulated(&truth, 40.0, 12, &mut Rng(u64::from(seed))));
        for (nth, true_strength) in truth.iter().enumerate() {
            let it = of(&fitted, &format!("e{nth}"));
            let wanted = MIDDLE + true_strength - mean;
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
fn more_games_make_narrower_intervals_around_the_truth() {
    let truth = [-100.0, 100.0, 0.0];
    let mut before = f64::MAX;
    for motions in [3, 30, 300] {
        let fitted = strengths(&simulated(&truth, 0.0, motions, &mut Rng(5)));
        let it = of(&fitted, "e1");
        assert!(it.high - it.low < before);
        before = it.high - it.low;
    }
    assert!(before < 45.0, "{before}");
}

#[test]
fn three_to_one_is_stronger_but_nobody_can_be_sure() {
    let games = [
        game("a", "b", Score::Pro, 1),
        game("b", "a", Score::Con, 1),
        game("a", "b", Score::Pro, 2),
        game("b", "a", Score::Pro, 2),
    ];
    let fitted = strengths(&games);
    let (a, b) = (of(&fitted, "a"), of(&fitted, "b"));
    assert!(a.value > b.value + 50.0 && a.value < b.value + 300.0, "{a:?} {b:?}");
    assert!((a.value + b.value - 2.0 * MIDDLE).abs() < 0.11, "centred");
    assert!(a.low < b.high, "four games decide nothing: {a:?} {b:?}");
}

#[test]
fn whoever_never_lost_has_a_strength_with_a_wide_interval() {
    let games: Vec<Game> = (0..6)
        .map(|nth| game("best", "rest", Score::Pro, nth))
        .chain([game("rest", "best", Score::Con, 0)])
        .collect();
    let best = *of(&strengths(&games), "best");
    assert!(best.value > MIDDLE && best.value < MIDDLE + 800.0, "{best:?}");
    assert!(best.high.is_finite() && best.high - best.low > 200.0, "{best:?}");
    let one = strengths(&games[..1]);
    assert!(of(&one, "best").low < MIDDLE, "one game says little");
    assert_eq!(strengths(&[]).groups.len(), 0);
}

#[test]
fn draws_alone_leave_everybody_in_the_middle() {
    let games = [game("a", "b", Score::Draw, 1), game("b", "a", Score::Draw, 2)];
    let fitted = strengths(&games);
    assert!((of(&fitted, "a").value - MIDDLE).abs() < 0.11);
    assert!(fitted.advantage.unwrap().value.abs() < 0.11);
}

#[test]
fn those_whom_no_game_connects_are_kept_apart() {
    let mut games = vec![
        game("a", "b", Score::Pro, 1),
        game("b", "c", Score::Pro, 1),
        game("x", "y", Score::Con, 1),
    ];
    let names = |fitted: &Strengths| -> Vec<Vec<String>> {
        let names = |group: &Vec<(String, Estimate)>| group.iter().map(|it| it.0.clone()).collect();
        fitted.groups.iter().map(names).collect()
    };
    let apart = strengths(&games);
    assert_eq!(names(&apart), [vec!["a", "b", "c"], vec!["y", "x"]]);
    for group in &apart.groups {
        let mean = group.iter().map(|it| it.1.value).sum::<f64>() / group.len() as f64;
        assert!((mean - MIDDLE).abs() < 0.11, "each is centred by itself");
    }
    games.push(game("c", "x", Score::Draw, 2));
    assert_eq!(names(&strengths(&games)).len(), 1);
}

#[test]
fn neither_the_order_of_games_nor_names_matter() {
    for seed in 0..20 {
        let mut rng = Rng(seed);
        let games = simulated(&[0.0, 80.0, -120.0, 30.0], 20.0, 2, &mut rng);
        let fitted = strengths(&games);
        let mut mixed = games.clone();
        for at in (1..mixed.len()).rev() {
            mixed.swap(at, rng.below(at + 1));
        }
        assert_eq!(strengths(&mixed), fitted, "to the last digit");
        let other = |name: &str| {
            BTreeMap::from([("e0", "zoe"), ("e1", "amy"), ("e2", "max"), ("e3", "bob")])[name]
                .to_owned()
        };
        let named: Vec<Game> = games
            .iter()
            .map(|it| Game { pro: other(&it.pro), con: other(&it.con), ..it.clone() })
            .collect();
        let renamed = strengths(&named);
        for (name, estimate) in fitted.groups.iter().flatten() {
            let again = of(&renamed, &other(name));
            assert!((again.value - estimate.value).abs() < 0.11, "{again:?} {estimate:?}");
            assert!((again.low - estimate.low).abs() < 0.11, "{again:?} {estimate:?}");
        }
    }
}

#[test]
fn who_speaks_first_is_no_stronger_for_it() {
    // The proposer always wins, so both entrants are equal.
    let games: Vec<Game> = (0..10)
        .flat_map(|nth| [game("a", "b", Score::Pro, nth), game("b", "a", Score::Pro, nth)])
        .collect();
    let fitted = strengths(&games);
    assert!((of(&fitted, "a").value - of(&fitted, "b").value).abs() < 0.2);
    assert!(fitted.advantage.unwrap().low > 100.0, "{:?}", fitted.advantage);
    // An entrant who wins half of its games as the proposer is weaker than its opponent.
    let games: Vec<Game> = (0..20)
        .flat_map(|nth| {
            let score = if nth % 2 == 0 { Score::Pro } else { Score::Con };
            let even = game("c", "d", Score::Pro, nth);
            let back = game("d", "c", Score::Pro, nth);
            [even, back, game("a", "c", score, nth)]
        })
        .collect();
    let fitted = strengths(&games);
    assert!(of(&fitted, "a").value < of(&fitted, "c").value - 100.0, "{fitted:?}");
}

/// Games on one motion with the same result count little more than one game.
#[test]
fn games_that_hang_together_by_motion_say_less() {
    let games = |clustered: bool| -> Vec<Game> {
        (0..12)
            .flat_map(|motion| {
                (0..8).map(move |nth| {
                    let wins =
                        if clustered { motion % 3 != 0 } else { (motion * 8 + nth) % 3 != 0 };
                    let (score, back) =
                        if wins { (Score::Pro, Score::Con) } else { (Score::Con, Score::Pro) };
                    if nth % 2 == 0 {
                        game("a", "b", score, motion)
                    } else {
                        game("b", "a", back, motion)
                    }
                })
            })
            .collect()
    };
    let wide = |games: &[Game]| {
        let it = *of(&strengths(games), "a");
        it.high - it.low
    };
    let (apart, together) = (wide(&games(false)), wide(&games(true)));
    assert!(together > 1.8 * apart, "{together} {apart}");
}

fn bench(judges: &[(&str, Side, Option<Side>)], verdict: Side) -> Bench {
    let judges = judges.iter().map(|it| (it.0.to_owned(), it.1, it.2)).collect();
    Bench { judges, verdict: Some(verdict), audience: None }
}

#[test]
fn judges_are_compared_with_each_other_themselves_the_verdict_and_the_audience() {
    use Side::{Con, Pro};
    let benches = [
        bench(&[("b", Pro, Some(Pro)), ("a", Pro, None)], Pro),
        bench(&[("a", Con, None), ("b", Pro, Some(Con))], Pro),
        bench(&[("b", Con, Some(Con)), ("a", Con, None)], Con),
        Bench { audience: Some(Con), ..bench(&[("b", Con, Some(Con))], Con) },
    ];
    let found = agreement(&benches);
    let row = |between, judge: &str| -> &Agreement {
        found.iter().find(|it| it.between == between && it.judge == judge).unwrap()
    };
    let panel = row(Between::Panel, "a");
    assert_eq!((panel.other.as_deref(), panel.debates, panel.same), (Some("b"), 3, 2));
    assert_eq!(panel.kappa, Some(0.4), "of 2/3 where chance would give 4/9");
    assert_eq!((row(Between::Swapped, "b").same, row(Between::Swapped, "b").debates), (3, 4));
    assert_eq!((row(Between::Verdict, "a").same, row(Between::Verdict, "a").debates), (2, 3));
    assert_eq!(row(Between::Audience, "b").kappa, None, "both always chose the same side");
    assert_eq!(found.iter().filter(|it| it.between == Between::Audience).count(), 1);
    let (low, high) = wilson(8, 10);
    assert!((low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001, "{low} {high}");
    assert_eq!(wilson(0, 0), (0.0, 1.0));
}

#[test]
fn the_board_counts_sides_reasons_and_those_who_judged_themselves() {
    let rated = |game: Game| Ok((game, bench(&[("kim", Side::Pro, Some(Side::Pro))], Side::Pro)));
    let partial = Game { partial: true, ..game("a", "b", Score::Draw, 2) };
    let readings = [
        rated(game("a", "b", Score::Pro, 1)),
        rated(game("b", "a", Score::Con, 1)),
        rated(partial),
        Err(Unrated::Degraded),
        Err(Unrated::Demo),
        Err(Unrated::Degraded),
    ];
    let board = Board::of(&readings);
    assert_eq!((board.debates, board.rated, board.partial), (6, 3, 1));
    let first = board.rows().next().unwrap();
    assert_eq!((first.rank, first.entrant.as_str()), (1, "a"));
    let (total, pro) = (first.total, first.as_proposer);
    assert_eq!((total.games, total.wins, total.draws, total.losses), (3, 2, 1, 0));
    assert_eq!((pro.games, pro.wins, first.as_challenger.wins), (2, 1, 1));
    assert_eq!(board.unrated[0].reason, Unrated::Degraded);
    assert_eq!(board.sides.share, Some(0.5), "one of two that were decided");
    let shown = text::board(&board);
    for part in ["  1  a ", "2-1-0", "3 of 6 debates are rated", "    2  degraded", "kim", "3/3"] {
        assert!(shown.contains(part), "no `{part}` in\n{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn a_long_name_does_not_break_the_table() {
    let long = "x".repeat(60);
    let readings: Vec<_> = (0..1200)
        .map(|nth| {
            Ok((
                game(&long, "y", Score::Con, nth),
                bench(&[(&long, Side::Pro, Some(Side::Con))], Side::Con),
            ))
        })
        .collect();
    let shown = text::board(&Board::of(&readings));
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(text::board(&Board::of(&[])).contains("No debate is rated yet"));
}
