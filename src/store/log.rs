//! Appends events to a debate's log. Each append is one transaction that checks the lease, inserts
//! the events and updates the projections. [`SqliteLog`] implements the engine's `Log` port.
use super::command_queue;
use super::exports::ExportWriter;
use super::lease::Lease;
use super::lease_monitor::{LeaseMonitor, LeaseSubscription};
use super::projections;
use super::schema::sqlite_error;
use crate::debate::{Debate, Event};
use crate::engine::{
    ArchiveError, BoxFuture, LeaseSignal, Log, LogError, QueuedCommandId, RecordedEvent,
};
use rusqlite::{Connection, TransactionBehavior, params};
use std::sync::Arc;

/// The log of a debate opened for writing. Dropping it releases the lease.
pub(super) struct SqliteLog {
    pub(super) lease: Lease,
    pub(super) lease_monitor: Arc<LeaseMonitor>,
    pub(super) subscription: Arc<LeaseSubscription>,
    pub(super) exports: Arc<ExportWriter>,
    pub(super) seq: u64,
    /// State of the debate after the last event, for the projections.
    pub(super) debate: Debate,
}

impl Log for SqliteLog {
    fn append(&mut self, events: &[Event]) -> Result<u64, LogError> {
        // Without a queued command the result is never `None`.
        Ok(self.append_events(events, None)?.unwrap_or(self.seq))
    }

    fn next_signal(&self) -> BoxFuture<'static, LeaseSignal> {
        Box::pin(self.subscription.clone().next_call())
    }

    fn append_for_command(
        &mut self,
        wish: QueuedCommandId,
        events: &[Event],
    ) -> Result<Option<u64>, LogError> {
        self.append_events(events, Some(wish))
    }

    fn refuse_command(&mut self, wish: QueuedCommandId, why: &str) {
        let (lease, answer) = (&self.lease, Err(why.to_owned()));
        let _ = lease.database.with_connection(|connection| {
            command_queue::store_answer(connection, wish, &answer, lease.clock.now())
        });
    }
}

impl SqliteLog {
    fn append_events(
        &mut self,
        events: &[Event],
        wish: Option<QueuedCommandId>,
    ) -> Result<Option<u64>, LogError> {
        let Some(debate) = self.write_transaction(events, wish)? else { return Ok(None) };
        self.debate = debate;
        self.seq += events.len() as u64;
        // An `Asked` event changes nothing in the exported files.
        if events.iter().any(|event| !matches!(event, Event::Asked { .. })) {
            self.exports.schedule(self.lease.debate_row);
        }
        Ok(Some(self.seq))
    }

    /// Writes the events, their projections and the answer to a queued command in one transaction.
    /// Returns the new state of the debate; none if the command was withdrawn.
    fn write_transaction(
        &self,
        events: &[Event],
        wish: Option<QueuedCommandId>,
    ) -> Result<Option<Debate>, LogError> {
        let lease = &self.lease;
        let written = lease.database.with_connection(|connection| {
            let change = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            if let Some(by) = lease.lost_to(&change)? {
                return Ok(Err(by));
            }
            let at = lease.clock.now();
            if let Some(wish) = wish
                && !command_queue::store_answer(&change, wish, &Ok(()), at)?
            {
                return Ok(Ok(None));
            }
            let recorded = RecordedEvent::number_events(self.seq, events, at);
            let debate =
                insert_events(&change, lease.debate_row, self.debate.clone(), &recorded, at)?;
            change.commit().map_err(sqlite_error)?;
            Ok(Ok(Some(debate)))
        });
        match written {
            Ok(Ok(debate)) => Ok(debate),
            Ok(Err(by)) => Err(LogError::LeaseLost { by }),
            Err(ArchiveError::Storage(why)) => Err(LogError::WriteFailed(why)),
            Err(other) => Err(LogError::WriteFailed(other.to_string())),
        }
    }
}

/// Inserts events and updates the projections. Returns the new state of the debate.
pub(super) fn insert_events(
    change: &Connection,
    row: i64,
    mut debate: Debate,
    events: &[RecordedEvent],
    now: i64,
) -> Result<Debate, ArchiveError> {
    for RecordedEvent { seq, at, event } in events {
        let wrong = |why: String| ArchiveError::Storage(why);
        debate.apply(event.clone()).map_err(|illegal| wrong(illegal.to_string()))?;
        let body = serde_json::to_string(event).map_err(|error| wrong(error.to_string()))?;
        change
            .prepare_cached("INSERT INTO events (debate_id, seq, at, body) VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut statement| statement.execute(params![row, seq.cast_signed(), *at, body]))
            .map_err(sqlite_error)?;
        projections::apply_event(change, row, &debate, event, *at)?;
    }
    projections::update_debate_row(change, row, &debate, now)?;
    Ok(debate)
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        self.lease_monitor.unsubscribe(&self.lease);
        self.lease.release();
    }
}
