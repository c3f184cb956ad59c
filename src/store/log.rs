//! Appends events to a debate's log. Each append is one transaction that checks the lease, inserts
//! the events and updates the projections. [`SqliteLog`] implements the engine's `Log` port.
use super::command_queue;
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
    pub(super) seq: u64,
    /// State of the debate after the last event, for the projections.
    pub(super) debate: Debate,
}

impl Log for SqliteLog {
    fn append<'a>(&'a mut self, events: &'a [Event]) -> BoxFuture<'a, Result<u64, LogError>> {
        // Without a queued command the result is never `None`.
        Box::pin(async move { Ok(self.append_events(events, None)?.unwrap_or(self.seq)) })
    }

    fn next_signal(&self) -> BoxFuture<'static, LeaseSignal> {
        Box::pin(self.subscription.clone().next_call())
    }

    fn append_for_command<'a>(
        &'a mut self,
        command_id: QueuedCommandId,
        events: &'a [Event],
    ) -> BoxFuture<'a, Result<Option<u64>, LogError>> {
        Box::pin(async move { self.append_events(events, Some(command_id)) })
    }

    fn refuse_command<'a>(
        &'a mut self,
        command_id: QueuedCommandId,
        message: &'a str,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let id = &self.debate.setup().id;
            tracing::debug!(debate = %id, command = command_id.0, "command refused");
            let (lease, answer) = (&self.lease, Err(message.to_owned()));
            let _ = lease.database.with_connection(|connection| {
                command_queue::store_answer(connection, command_id, &answer, lease.clock.now())
            });
        })
    }
}

impl SqliteLog {
    fn append_events(
        &mut self,
        events: &[Event],
        command_id: Option<QueuedCommandId>,
    ) -> Result<Option<u64>, LogError> {
        let Some(debate) = self.write_transaction(events, command_id)? else { return Ok(None) };
        let id = &debate.setup().id;
        for (seq, event) in (self.seq + 1..).zip(events) {
            tracing::debug!(debate = %id, seq, event = %event.name(), "event appended");
        }
        if let Some(QueuedCommandId(command)) = command_id {
            tracing::debug!(debate = %id, command, "command answered");
        }
        self.debate = debate;
        self.seq += events.len() as u64;
        Ok(Some(self.seq))
    }

    /// Writes the events, their projections and the answer to a queued command in one transaction.
    /// Returns the new state of the debate; none if the command was withdrawn.
    fn write_transaction(
        &self,
        events: &[Event],
        command_id: Option<QueuedCommandId>,
    ) -> Result<Option<Debate>, LogError> {
        let lease = &self.lease;
        let result = lease.database.with_connection(|connection| {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(sqlite_error)?;
            if let Some(new_holder) = lease.lost_to(&transaction)? {
                return Ok(Err(new_holder));
            }
            let now = lease.clock.now();
            if let Some(command_id) = command_id
                && !command_queue::store_answer(&transaction, command_id, &Ok(()), now)?
            {
                return Ok(Ok(None));
            }
            let recorded = RecordedEvent::number_events(self.seq, events, now);
            let debate =
                insert_events(&transaction, lease.debate_row, self.debate.clone(), &recorded, now)?;
            transaction.commit().map_err(sqlite_error)?;
            Ok(Ok(Some(debate)))
        });
        match result {
            Ok(Ok(debate)) => Ok(debate),
            Ok(Err(new_holder)) => {
                let id = &self.debate.setup().id;
                tracing::info!(debate = %id, new_holder = %new_holder, "lease lost");
                Err(LogError::LeaseLost { by: new_holder })
            }
            Err(ArchiveError::Storage(message)) => Err(LogError::WriteFailed(message)),
            Err(error) => Err(LogError::WriteFailed(error.to_string())),
        }
    }
}

/// Inserts events and updates the projections. Returns the new state of the debate.
pub(super) fn insert_events(
    transaction: &Connection,
    row: i64,
    mut debate: Debate,
    events: &[RecordedEvent],
    now: i64,
) -> Result<Debate, ArchiveError> {
    for RecordedEvent { seq, at, event } in events {
        let storage_error = |message: String| ArchiveError::Storage(message);
        debate.apply(event.clone()).map_err(|illegal| storage_error(illegal.to_string()))?;
        let body =
            serde_json::to_string(event).map_err(|error| storage_error(error.to_string()))?;
        transaction
            .prepare_cached("INSERT INTO events (debate_id, seq, at, body) VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut statement| statement.execute(params![row, seq.cast_signed(), *at, body]))
            .map_err(sqlite_error)?;
        projections::apply_event(transaction, row, &debate, event, *at)?;
    }
    projections::update_debate_row(transaction, row, &debate, now)?;
    Ok(debate)
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        self.lease_monitor.unsubscribe(&self.lease);
        self.lease.release();
    }
}
