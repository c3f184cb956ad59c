//! What a tournament comes to so far: ratings under the names of its file, who beat whom, and what is
//! left or could not be played.
use super::file::Plan;
use super::past::{Known, Past};
use super::schedule::Game;
use crate::debate::Spend;
use crate::rating::{Board, Reading, Tally};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standings {
    /// What it is called.
    pub tournament: String,
    /// Games there are.
    pub games: usize,
    /// Games that came to a verdict.
    pub played: usize,
    /// Games that were begun and are not over.
    pub begun: usize,
    /// Games nobody has begun.
    pub left: usize,
    /// Games that failed, and why.
    pub failed: Vec<FailedGame>,
    /// What all of them have cost, those that failed included.
    pub spent: Spend,
    /// Ratings, by the names in the file.
    pub board: Board,
    /// Who beat whom.
    pub cross: Cross,
}

/// A game that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedGame {
    /// Its key.
    pub key: String,
    /// The debate, if there is one.
    pub id: Option<String>,
    /// What about.
    pub motion: String,
    /// Who argued for.
    pub proposer: String,
    /// Who argued against.
    pub challenger: String,
    /// In a line.
    pub why: String,
}

/// Every entrant against every other, over the rated games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cross {
    /// In the order of the file.
    pub entrants: Vec<String>,
    /// A row for each, with how it fared against each of the columns; none against itself.
    pub rows: Vec<Vec<Option<Tally>>>,
}

/// The standings these games come to, with why those could not be played of which the archive knows
/// nothing.
pub fn standings(
    plan: &Plan,
    games: &[Game],
    past: &BTreeMap<String, Past>,
    broken: &BTreeMap<String, String>,
    spent: Spend,
) -> Standings {
    let name = |nth: usize| plan.entrants[nth].name.clone();
    let size = plan.entrants.len();
    let mut rows = vec![vec![Some(Tally::default()); size]; size];
    for (nth, row) in rows.iter_mut().enumerate() {
        row[nth] = None;
    }
    let (mut readings, mut failed): (Vec<Reading>, Vec<FailedGame>) = (vec![], vec![]);
    let (mut played, mut begun, mut left) = (0, 0, 0);
    for game in games {
        let failure = |id: Option<&String>, why: &str| FailedGame {
            key: game.key.clone(),
            id: id.cloned(),
            motion: game.motion.clone(),
            proposer: name(game.pro),
            challenger: name(game.con),
            why: why.to_owned(),
        };
        let Some(known) = past.get(&game.key) else {
            match broken.get(&game.key) {
                Some(why) => failed.push(failure(None, why)),
                None => left += 1,
            }
            continue;
        };
        let named = known.reading.clone().map(|(it, bench)| {
            let (pro, con) = (name(game.pro), name(game.con));
            (crate::rating::Game { pro, con, ..it }, bench)
        });
        if let Ok((it, _)) = &named {
            let points = it.score.points();
            for (own, other, points) in
                [(game.pro, game.con, points), (game.con, game.pro, 1.0 - points)]
            {
                if let Some(cell) = &mut rows[own][other] {
                    cell.note(points);
                }
            }
        }
        readings.push(named);
        match &known.known {
            Known::Played => played += 1,
            Known::Begun => begun += 1,
            Known::Failed { why, .. } => failed.push(failure(Some(&known.id), why)),
        }
    }
    Standings {
        tournament: plan.name.clone(),
        games: games.len(),
        played,
        begun,
        left,
        failed,
        spent,
        board: Board::of(&readings),
        cross: Cross { entrants: plan.entrants.iter().map(|it| it.name.clone()).collect(), rows },
    }
}
