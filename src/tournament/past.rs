//! Loads the games of a tournament from the archive, with status and cost.
use super::{GAME, Plan};
use crate::debate::status::status;
use crate::debate::verdict::judgment;
use crate::debate::{Cue, Debate, Spend, Status};
use crate::engine::{App, AppError, DebateQuery};
use crate::rating::{Reading, board};
use std::collections::BTreeMap;
use std::path::Path;

/// Status of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// Completed with a verdict.
    Played,
    /// Started and not over.
    Begun,
    /// Ended without a verdict, or degraded.
    Failed {
        /// Message in one line.
        why: String,
        /// Turn from which it can be reopened.
        from: Option<Cue>,
    },
}

/// A game as found in the archive.
#[derive(Clone, Debug)]
pub struct Past {
    /// Id of the debate.
    pub id: String,
    pub known: Known,
    /// Rated game and rulings, or why it is not rated.
    pub reading: Reading,
    /// Cost so far.
    pub spent: Spend,
}

impl Past {
    /// Converts a debate to a game.
    pub fn of(debate: &Debate) -> Past {
        Past {
            id: debate.setup().id.clone(),
            known: known(debate),
            reading: board::reading(debate),
            spent: debate.spent(),
        }
    }

    /// Rank of an attempt. Of several debates about one game, the highest counts.
    fn worth(&self) -> u8 {
        match self.known {
            Known::Played => 2,
            Known::Begun => 1,
            Known::Failed { .. } => 0,
        }
    }
}

/// Status of a debate as a game.
pub fn known(debate: &Debate) -> Known {
    match status(debate) {
        Status::InProgress | Status::Paused => Known::Begun,
        Status::Completed if judgment(debate).is_some() => Known::Played,
        other => {
            let missing = debate.failed_turns().last().map(|(cue, failure)| {
                let (seat, tool) = (debate.seat(cue).title_in_sentence(), debate.tool_at(cue));
                format!("{seat} ({tool}) {}: {}", failure.trouble.as_str(), failure.note)
            });
            let why = missing.unwrap_or_else(|| other.as_str().to_owned());
            Known::Failed { why, from: debate.reopen_cue() }
        }
    }
}

/// Loads all games of a tournament by key, and their total cost.
pub fn past(
    desk: &App,
    plan: &Plan,
    root: &Path,
) -> Result<(BTreeMap<String, Past>, Spend), AppError> {
    let mut games: BTreeMap<String, Past> = BTreeMap::new();
    let mut spent = Spend::default();
    for (key, past) in found(desk, plan, root, None)? {
        spent += past.spent;
        keep(&mut games, key, past);
    }
    Ok((games, spent))
}

/// Loads one game.
pub fn now(desk: &App, plan: &Plan, root: &Path, key: &str) -> Result<Option<Past>, AppError> {
    Ok(attempts(desk, plan, root, key)?.0)
}

/// Loads one game, and the ids of all debates that attempted it.
pub(super) fn attempts(
    desk: &App,
    plan: &Plan,
    root: &Path,
    key: &str,
) -> Result<(Option<Past>, Vec<String>), AppError> {
    let (mut games, mut ids) = (BTreeMap::new(), vec![]);
    for (key, past) in found(desk, plan, root, Some(key.to_owned()))? {
        ids.push(past.id.clone());
        keep(&mut games, key, past);
    }
    Ok((games.remove(key), ids))
}

/// Keeps the better attempt. The query returns the most recent first, and that wins a tie.
fn keep(games: &mut BTreeMap<String, Past>, key: String, past: Past) {
    match games.get(&key) {
        Some(other) if other.worth() >= past.worth() => {}
        _ => {
            games.insert(key, past);
        }
    }
}

fn found(
    desk: &App,
    plan: &Plan,
    root: &Path,
    game: Option<String>,
) -> Result<Vec<(String, Past)>, AppError> {
    let (root, tournament) = (Some(root.to_owned()), Some(plan.name.clone()));
    let query = DebateQuery { root, tournament, game_key: game, ..DebateQuery::default() };
    let mut all = vec![];
    for card in desk.archive().list(&query)? {
        let (_, debate, flaw) = desk.read(&card.id)?;
        let key = debate.setup().terms.get(GAME).cloned().unwrap_or_default();
        let mut past = Past::of(&debate);
        if let Some(flaw) = flaw {
            past.known = Known::Failed { why: format!("its log {}", flaw.message), from: None };
            past.reading = Err(crate::rating::Unrated::Flawed);
        }
        all.push((key, past));
    }
    Ok(all)
}
