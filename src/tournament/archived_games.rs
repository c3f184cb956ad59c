//! Loads the games of a tournament from the archive, with status and cost. Entry points:
//! [`load_games`], by which `play` skips the games already played, and `load_attempts`, by which
//! `game_runner` resumes an unfinished one.
use super::{GAME_TERM, TournamentPlan};
use crate::app::{App, AppError};
use crate::debate::status::status;
use crate::debate::verdict::judgment;
use crate::debate::{Cue, Debate, Spend, Status};
use crate::engine::DebateQuery;
use crate::rating::{RatingResult, leaderboard};
use std::collections::BTreeMap;
use std::path::Path;

/// Status of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GameStatus {
    /// Completed with a verdict.
    Played,
    /// Started and not over.
    Started,
    /// Ended without a verdict, or degraded.
    Failed {
        /// Message in one line.
        reason: String,
        /// Turn from which it can be reopened.
        reopen_from: Option<Cue>,
    },
}

/// A game as found in the archive.
#[derive(Clone, Debug)]
pub(crate) struct ArchivedGame {
    /// Id of the debate.
    pub id: String,
    pub status: GameStatus,
    /// Rated game and rulings, or why it is not rated.
    pub rating_result: RatingResult,
    /// Cost so far.
    pub spent: Spend,
}

impl ArchivedGame {
    /// Converts a debate to a game.
    pub(crate) fn from_debate(debate: &Debate) -> ArchivedGame {
        ArchivedGame {
            id: debate.setup().id.clone(),
            status: game_status(debate),
            rating_result: leaderboard::rate_debate(debate),
            spent: debate.spent(),
        }
    }

    /// Rank of an attempt. Of several debates about one game, the highest counts.
    fn rank(&self) -> u8 {
        match self.status {
            GameStatus::Played => 2,
            GameStatus::Started => 1,
            GameStatus::Failed { .. } => 0,
        }
    }
}

/// Status of a debate as a game.
pub(crate) fn game_status(debate: &Debate) -> GameStatus {
    match status(debate) {
        Status::InProgress | Status::Paused => GameStatus::Started,
        Status::Completed if judgment(debate).is_some() => GameStatus::Played,
        other => {
            let failure_text = debate.failed_turns().last().map(|(cue, failure)| {
                let (seat, tool) = (debate.seat(cue).title_in_sentence(), debate.tool_at(cue));
                format!("{seat} ({tool}) {}: {}", failure.trouble.as_str(), failure.note)
            });
            let reason = failure_text.unwrap_or_else(|| other.as_str().to_owned());
            GameStatus::Failed { reason, reopen_from: debate.reopen_cue() }
        }
    }
}

/// Loads all games of a tournament by key, and their total cost.
pub(crate) async fn load_games(
    app: &App,
    plan: &TournamentPlan,
    root: &Path,
) -> Result<(BTreeMap<String, ArchivedGame>, Spend), AppError> {
    let mut games: BTreeMap<String, ArchivedGame> = BTreeMap::new();
    let mut spent = Spend::default();
    for (key, archived) in find_games(app, plan, root, None).await? {
        spent += archived.spent;
        keep_better(&mut games, key, archived);
    }
    Ok((games, spent))
}

/// Loads one game.
pub(crate) async fn load_game(
    app: &App,
    plan: &TournamentPlan,
    root: &Path,
    key: &str,
) -> Result<Option<ArchivedGame>, AppError> {
    Ok(load_attempts(app, plan, root, key).await?.0)
}

/// Loads one game, and the ids of all debates that attempted it.
pub(super) async fn load_attempts(
    app: &App,
    plan: &TournamentPlan,
    root: &Path,
    key: &str,
) -> Result<(Option<ArchivedGame>, Vec<String>), AppError> {
    let (mut games, mut ids) = (BTreeMap::new(), vec![]);
    for (key, archived) in find_games(app, plan, root, Some(key.to_owned())).await? {
        ids.push(archived.id.clone());
        keep_better(&mut games, key, archived);
    }
    Ok((games.remove(key), ids))
}

/// Keeps the better attempt. The query returns the most recent first, and that wins a tie.
fn keep_better(games: &mut BTreeMap<String, ArchivedGame>, key: String, archived: ArchivedGame) {
    match games.get(&key) {
        Some(other) if other.rank() >= archived.rank() => {}
        _ => {
            games.insert(key, archived);
        }
    }
}

async fn find_games(
    app: &App,
    plan: &TournamentPlan,
    root: &Path,
    game_key: Option<String>,
) -> Result<Vec<(String, ArchivedGame)>, AppError> {
    let (root, tournament) = (Some(root.to_owned()), Some(plan.name.clone()));
    let query = DebateQuery { root, tournament, game_key, ..DebateQuery::default() };
    let mut games = vec![];
    for card in app.archive().queries.list(&query).await? {
        let (_, debate, flaw) = app.read(&card.id).await?;
        let key = debate.setup().terms.get(GAME_TERM).cloned().unwrap_or_default();
        let mut archived = ArchivedGame::from_debate(&debate);
        if let Some(flaw) = flaw {
            archived.status = GameStatus::Failed {
                reason: format!("its log {}", flaw.message),
                reopen_from: None,
            };
            archived.rating_result = Err(crate::rating::UnratedReason::Flawed);
        }
        games.push((key, archived));
    }
    Ok(games)
}
