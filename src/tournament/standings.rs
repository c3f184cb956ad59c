//! Standings of a tournament: ratings under the names of its file, cross table, and games that are
//! left or failed.
use super::archived_games::{ArchivedGame, GameStatus};
use super::plan::TournamentPlan;
use super::schedule::ScheduledGame;
use crate::debate::Spend;
use crate::rating::{GameTally, Leaderboard, RatingResult};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Standings of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standings {
    /// Name of the tournament.
    pub tournament: String,
    /// Number of all games.
    pub games: usize,
    /// Games with a verdict.
    pub played: usize,
    /// Games that are not over.
    pub begun: usize,
    /// Games that have not started.
    pub left: usize,
    /// Games that failed.
    pub failed: Vec<FailedGame>,
    /// Cost of all games, with failed ones.
    pub spent: Spend,
    /// Ratings by entrant name.
    pub board: Leaderboard,
    /// Results of each pair.
    pub cross: CrossTable,
}

/// A game that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedGame {
    /// Key of the game.
    pub key: String,
    /// Id of the debate, if there is one.
    pub id: Option<String>,
    /// The motion.
    pub motion: String,
    /// Entrant that argued for.
    pub proposer: String,
    /// Entrant that argued against.
    pub challenger: String,
    /// Error message in one line.
    pub why: String,
}

/// Results of each entrant against each other, in rated games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Cross")]
pub struct CrossTable {
    /// Names, in the order of the file.
    pub entrants: Vec<String>,
    /// Row of each entrant with its results against the columns, null against itself.
    pub rows: Vec<Vec<Option<GameTally>>>,
}

/// Computes the standings. `open_errors` has the error messages of games that could not be opened
/// and so are not in the archive.
pub(super) fn compute_standings(
    plan: &TournamentPlan,
    games: &[ScheduledGame],
    archived: &BTreeMap<String, ArchivedGame>,
    open_errors: &BTreeMap<String, String>,
    spent: Spend,
) -> Standings {
    let name = |index: usize| plan.entrants[index].name.clone();
    let size = plan.entrants.len();
    let mut rows = vec![vec![Some(GameTally::default()); size]; size];
    for (index, row) in rows.iter_mut().enumerate() {
        row[index] = None;
    }
    let (mut results, mut failed): (Vec<RatingResult>, Vec<FailedGame>) = (vec![], vec![]);
    let (mut played, mut begun, mut left) = (0, 0, 0);
    for game in games {
        let failure = |id: Option<&String>, reason: &str| FailedGame {
            key: game.key.clone(),
            id: id.cloned(),
            motion: game.motion.clone(),
            proposer: name(game.pro),
            challenger: name(game.con),
            why: reason.to_owned(),
        };
        let Some(archived_game) = archived.get(&game.key) else {
            match open_errors.get(&game.key) {
                Some(reason) => failed.push(failure(None, reason)),
                None => left += 1,
            }
            continue;
        };
        let result = archived_game.rating_result.clone().map(|(it, rulings)| {
            let (pro, con) = (name(game.pro), name(game.con));
            (crate::rating::RatedGame { pro, con, ..it }, rulings)
        });
        if let Ok((it, _)) = &result {
            let points = it.score.points();
            for (entrant, opponent, points) in
                [(game.pro, game.con, points), (game.con, game.pro, 1.0 - points)]
            {
                if let Some(cell) = &mut rows[entrant][opponent] {
                    cell.add_game(points);
                }
            }
        }
        results.push(result);
        match &archived_game.status {
            GameStatus::Played => played += 1,
            GameStatus::Started => begun += 1,
            GameStatus::Failed { reason, .. } => {
                failed.push(failure(Some(&archived_game.id), reason));
            }
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
        board: Leaderboard::from_results(&results),
        cross: CrossTable {
            entrants: plan.entrants.iter().map(|it| it.name.clone()).collect(),
            rows,
        },
    }
}
