//! Appending an event, durably, by whoever holds the lease.
use super::exports::Exports;
use super::lease::Lease;
use super::lookout::{Ear, Lookout};
use super::project;
use super::schema::broken;
use super::wishes;
use crate::debate::{Debate, Event};
use crate::engine::{ArchiveError, Boxed, Call, Log, LogError, Recorded, WishId};
use rusqlite::{Connection, TransactionBehavior, params};
use std::sync::Arc;

/// A debate held for writing. Dropping it gives it up.
pub(super) struct SqliteLog {
    pub(super) lease: Lease,
    pub(super) lookout: Arc<Lookout>,
    pub(super) ear: Arc<Ear>,
    pub(super) exports: Arc<Exports>,
    pub(super) seq: u64,
    /// As the log has it, for the tables.
    pub(super) debate: Debate,
}

impl Log for SqliteLog {
    fn append(&mut self, events: &[Event]) -> Result<u64, LogError> {
        // Only a wish can have been withdrawn.
        Ok(self.add(events, None)?.unwrap_or(self.seq))
    }

    fn called(&self) -> Boxed<'static, Call> {
        Box::pin(self.ear.clone().called())
    }

    fn fulfil(&mut self, wish: WishId, events: &[Event]) -> Result<Option<u64>, LogError> {
        self.add(events, Some(wish))
    }

    fn refuse(&mut self, wish: WishId, why: &str) {
        let (lease, answer) = (&self.lease, Err(why.to_owned()));
        let _ = lease
            .database
            .with(|connection| wishes::answer(connection, wish, &answer, lease.clock.now()));
    }
}

impl SqliteLog {
    fn add(&mut self, events: &[Event], wish: Option<WishId>) -> Result<Option<u64>, LogError> {
        let Some(debate) = self.write(events, wish)? else { return Ok(None) };
        self.debate = debate;
        self.seq += events.len() as u64;
        // That someone was asked is nothing to read yet.
        if events.iter().any(|event| !matches!(event, Event::Asked { .. })) {
            self.exports.changed(self.lease.row);
        }
        Ok(Some(self.seq))
    }

    /// The events, what they add to the tables, and that a wish is granted by them, or nothing at
    /// all. Returns the debate they lead to; none, if the wish was withdrawn.
    fn write(&self, events: &[Event], wish: Option<WishId>) -> Result<Option<Debate>, LogError> {
        let lease = &self.lease;
        let written = lease.database.with(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(broken)?;
            if let Some(by) = lease.lost(&change)? {
                return Ok(Err(by));
            }
            let at = lease.clock.now();
            if let Some(wish) = wish
                && !wishes::answer(&change, wish, &Ok(()), at)?
            {
                return Ok(Ok(None));
            }
            let recorded = Recorded::after(self.seq, events, at);
            let debate = insert(&change, lease.row, self.debate.clone(), &recorded, at)?;
            change.commit().map_err(broken)?;
            Ok(Ok(Some(debate)))
        });
        match written {
            Ok(Ok(debate)) => Ok(debate),
            Ok(Err(by)) => Err(LogError::Lost { by }),
            Err(ArchiveError::Broken(why)) => Err(LogError::Broken(why)),
            Err(other) => Err(LogError::Broken(other.to_string())),
        }
    }
}

/// Writes events and what they add to the tables. Returns the debate they lead to.
pub(super) fn insert(
    change: &Connection,
    row: i64,
    mut debate: Debate,
    events: &[Recorded],
    now: i64,
) -> Result<Debate, ArchiveError> {
    for Recorded { seq, at, event } in events {
        let wrong = |why: String| ArchiveError::Broken(why);
        debate.apply(event.clone()).map_err(|illegal| wrong(illegal.to_string()))?;
        let body = serde_json::to_string(event).map_err(|error| wrong(error.to_string()))?;
        change
            .prepare_cached("INSERT INTO events (debate_id, seq, at, body) VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut statement| statement.execute(params![row, seq.cast_signed(), *at, body]))
            .map_err(broken)?;
        project::project(change, row, &debate, event, *at)?;
    }
    project::card(change, row, &debate, now)?;
    Ok(debate)
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        self.lookout.leave(&self.lease);
        self.lease.give_up();
    }
}
