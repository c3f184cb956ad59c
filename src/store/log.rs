//! Appending an event, durably, by whoever holds the lease.
use super::archive::Database;
use super::exports::Exports;
use super::project;
use super::schema::broken;
use crate::debate::{Debate, Event};
use crate::engine::{ArchiveError, Clock, Log, LogError, Recorded};
use rusqlite::{OptionalExtension, TransactionBehavior, params};
use std::sync::Arc;

/// A debate held for writing. Dropping it gives it up.
pub(super) struct SqliteLog {
    pub(super) database: Arc<Database>,
    pub(super) exports: Arc<Exports>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) row: i64,
    pub(super) epoch: i64,
    pub(super) seq: u64,
    /// As the log has it, for the tables.
    pub(super) debate: Debate,
}

impl Log for SqliteLog {
    fn append(&mut self, event: &Event) -> Result<u64, LogError> {
        let seq = self.seq + 1;
        let recorded = Recorded { seq, at: self.clock.now(), event: event.clone() };
        let mut after = self.debate.clone();
        after.apply(event.clone()).map_err(|illegal| LogError::Broken(illegal.to_string()))?;
        self.write(&recorded, &after)?;
        self.debate = after;
        self.seq = seq;
        self.exports.changed(self.row);
        Ok(seq)
    }
}

impl SqliteLog {
    /// The event, what it adds to the tables, and a heartbeat, or nothing at all.
    fn write(&self, recorded: &Recorded, after: &Debate) -> Result<(), LogError> {
        let body = serde_json::to_string(&recorded.event)
            .map_err(|error| LogError::Broken(error.to_string()))?;
        let seq = recorded.seq.cast_signed();
        let written = self.database.with(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(broken)?;
            let epoch: Option<i64> = change
                .prepare_cached("SELECT epoch FROM leases WHERE debate_id = ?1")
                .and_then(|mut statement| {
                    statement.query_row([self.row], |row| row.get(0)).optional()
                })
                .map_err(broken)?;
            if epoch != Some(self.epoch) {
                return Ok(false);
            }
            change
                .prepare_cached("UPDATE leases SET beat_at = ?2 WHERE debate_id = ?1")
                .and_then(|mut statement| statement.execute(params![self.row, recorded.at]))
                .map_err(broken)?;
            change
                .prepare_cached(
                    "INSERT INTO events (debate_id, seq, at, body) VALUES (?1, ?2, ?3, ?4)",
                )
                .and_then(|mut statement| {
                    statement.execute(params![self.row, seq, recorded.at, body])
                })
                .map_err(broken)?;
            project::project(&change, self.row, after, recorded)?;
            change.commit().map_err(broken)?;
            Ok(true)
        });
        match written {
            Ok(true) => Ok(()),
            Ok(false) => Err(LogError::Lost),
            Err(ArchiveError::Broken(why)) => Err(LogError::Broken(why)),
            Err(other) => Err(LogError::Broken(other.to_string())),
        }
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        let _ = self.database.with(|connection| {
            connection
                .execute(
                    "UPDATE leases SET holder = NULL WHERE debate_id = ?1 AND epoch = ?2",
                    params![self.row, self.epoch],
                )
                .and_then(|_| {
                    connection.execute("DELETE FROM live WHERE debate_id = ?1", [self.row])
                })
                .map_err(broken)
        });
    }
}
