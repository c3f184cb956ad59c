//! Reads and finds debates, without their lease.
use super::{App, AppError};
use crate::debate::{Debate, LogFlaw, next};
use crate::engine::ports::{DebateQuery, StoredDebate};
use std::path::Path;

impl App {
    /// Reads a debate without its lease. The flaw says from which event on the log is invalid.
    pub async fn read(
        &self,
        id: &str,
    ) -> Result<(StoredDebate, Debate, Option<LogFlaw>), AppError> {
        let stored = self.archive.events.read(id).await?;
        let (debate, flaw) = replay_stored(stored.clone())?;
        Ok((stored, debate, flaw))
    }

    /// Resolves a full or abbreviated id, or finds the newest debate of a repository.
    pub async fn resolve_debate(
        &self,
        id: Option<&str>,
        unfinished: bool,
        root: &Path,
    ) -> Result<String, AppError> {
        if let Some(id) = id.filter(|id| *id != "last") {
            return Ok(self.archive.queries.resolve_id(id).await?);
        }
        let query_root = Some(root.to_owned());
        let query =
            DebateQuery { root: query_root, unfinished, limit: Some(1), ..DebateQuery::default() };
        let newest = self.archive.queries.list(&query).await?.into_iter().next();
        newest
            .map(|card| card.id)
            .ok_or_else(|| AppError::NoDebateHere { unfinished, root: root.display().to_string() })
    }

    /// Whether an awaited turn is past its deadline.
    pub fn is_overdue(&self, debate: &Debate) -> bool {
        let now = self.clock.now();
        next(debate).open_cues().any(|cue| {
            debate.seat(cue).voice.is_awaited() && debate.deadline(cue).is_some_and(|at| at <= now)
        })
    }
}

/// Replays a stored log. The flaw says from which event on it is invalid.
pub(super) fn replay_stored(stored: StoredDebate) -> Result<(Debate, Option<LogFlaw>), AppError> {
    let events = stored.events.into_iter().map(|recorded| recorded.event);
    let (debate, flaw) = Debate::replay_lenient(stored.setup, events)?;
    let unreadable = stored.first_unreadable.map(|(seq, message)| LogFlaw { seq, message });
    Ok((debate, flaw.or(unreadable)))
}
