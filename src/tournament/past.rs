//! What the archive holds of a tournament: which games were played, which were begun, which failed,
//! and what all of that has cost.
use super::{GAME, Plan};
use crate::debate::standing::status;
use crate::debate::verdict::judgment;
use crate::debate::{Cue, Debate, Spend, Status};
use crate::engine::{Desk, DeskError, Query};
use crate::rating::{Reading, board};
use std::collections::BTreeMap;
use std::path::Path;

/// How a game stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// It was played whole and came to a verdict.
    Played,
    /// It was begun.
    Begun,
    /// It ended without a whole verdict.
    Failed {
        /// In a line.
        why: String,
        /// Where it could be gone on with.
        from: Option<Cue>,
    },
}

/// What is known of one game.
#[derive(Clone, Debug)]
pub struct Past {
    /// The debate.
    pub id: String,
    /// How it stands.
    pub known: Known,
    /// What it comes to, if it was played.
    pub reading: Reading,
    /// What it has cost so far.
    pub spent: Spend,
}

impl Past {
    /// What a debate comes to as a game.
    pub fn of(debate: &Debate) -> Past {
        Past {
            id: debate.setup().id.clone(),
            known: known(debate),
            reading: board::reading(debate),
            spent: debate.spent(),
        }
    }

    /// The better of two debates about one game is the one that counts.
    fn worth(&self) -> u8 {
        match self.known {
            Known::Played => 2,
            Known::Begun => 1,
            Known::Failed { .. } => 0,
        }
    }
}

/// How a debate stands as a game.
pub fn known(debate: &Debate) -> Known {
    match status(debate) {
        Status::InProgress | Status::Paused => Known::Begun,
        Status::Completed if judgment(debate).is_some() => Known::Played,
        other => {
            let missing = debate.missing().last().map(|(cue, failure)| {
                let (seat, tool) = (debate.seat(cue).word(), debate.tool(cue));
                format!("{seat} ({tool}) {}: {}", failure.trouble.word(), failure.note)
            });
            let why = missing.unwrap_or_else(|| other.word().to_owned());
            Known::Failed { why, from: debate.reopens_at() }
        }
    }
}

/// Every game of a tournament that is in the archive, by its key, and what all of them have cost.
pub fn past(
    desk: &Desk,
    plan: &Plan,
    root: &Path,
) -> Result<(BTreeMap<String, Past>, Spend), DeskError> {
    let mut games: BTreeMap<String, Past> = BTreeMap::new();
    let mut spent = Spend::default();
    for (key, past) in found(desk, plan, root, None)? {
        spent += past.spent;
        keep(&mut games, key, past);
    }
    Ok((games, spent))
}

/// One game, as it stands now.
pub fn now(desk: &Desk, plan: &Plan, root: &Path, key: &str) -> Result<Option<Past>, DeskError> {
    Ok(attempts(desk, plan, root, key)?.0)
}

/// One game as it stands now, and the ids of all debates in which it was attempted.
pub(super) fn attempts(
    desk: &Desk,
    plan: &Plan,
    root: &Path,
    key: &str,
) -> Result<(Option<Past>, Vec<String>), DeskError> {
    let (mut games, mut ids) = (BTreeMap::new(), vec![]);
    for (key, past) in found(desk, plan, root, Some(key.to_owned()))? {
        ids.push(past.id.clone());
        keep(&mut games, key, past);
    }
    Ok((games.remove(key), ids))
}

/// The one touched last comes first, and stays unless another is better.
fn keep(games: &mut BTreeMap<String, Past>, key: String, past: Past) {
    match games.get(&key) {
        Some(other) if other.worth() >= past.worth() => {}
        _ => {
            games.insert(key, past);
        }
    }
}

fn found(
    desk: &Desk,
    plan: &Plan,
    root: &Path,
    game: Option<String>,
) -> Result<Vec<(String, Past)>, DeskError> {
    let (root, tournament) = (Some(root.to_owned()), Some(plan.name.clone()));
    let query = Query { root, tournament, game, ..Query::default() };
    let mut all = vec![];
    for card in desk.archive().list(&query)? {
        let (_, debate, flaw) = desk.read(&card.id)?;
        let key = debate.setup().terms.get(GAME).cloned().unwrap_or_default();
        let mut past = Past::of(&debate);
        if let Some(flaw) = flaw {
            past.known = Known::Failed { why: format!("its log {}", flaw.why), from: None };
            past.reading = Err(crate::rating::Unrated::Flawed);
        }
        all.push((key, past));
    }
    Ok(all)
}
