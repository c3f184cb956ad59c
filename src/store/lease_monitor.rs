//! Background thread for all leases of this process: polls for take-overs and queued commands, and
//! writes the lease heartbeats. A poll is one `PRAGMA data_version`, which changes when another
//! connection has written; only then are the tables queried. The main type is [`LeaseMonitor`].
use super::command_queue;
use super::database::Database;
use super::lease::{self, Lease};
use super::schema::sqlite_error;
use crate::engine::{ArchiveError, Clock, LeaseSignal, QueuedCommandId};
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// The leases of this process, by row and epoch, each with its subscription.
#[derive(Default)]
pub(super) struct LeaseMonitor {
    subscriptions: Mutex<HashMap<(i64, i64), Arc<LeaseSubscription>>>,
    /// The next poll queries the tables even if `data_version` is unchanged.
    poll_requested: AtomicBool,
    /// Wakes the thread. Dropping the sender stops it.
    wake_sender: Mutex<Option<Sender<()>>>,
}

/// Receives take-overs and commands for one lease.
pub(super) struct LeaseSubscription {
    lease: Lease,
    pending: Mutex<PendingCalls>,
    notify: Notify,
}

#[derive(Default)]
struct PendingCalls {
    lost: Option<String>,
    calls: VecDeque<LeaseSignal>,
    /// Requests that were delivered and are still in the table, so that none is delivered twice.
    delivered: HashSet<QueuedCommandId>,
}

impl LeaseSubscription {
    fn lock_pending(&self) -> MutexGuard<'_, PendingCalls> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next call. A lost lease comes before everything else, and is returned on every
    /// call from then on.
    pub(super) async fn next_call(self: Arc<LeaseSubscription>) -> LeaseSignal {
        loop {
            {
                let mut pending = self.lock_pending();
                if let Some(new_holder) = pending.lost.clone() {
                    return LeaseSignal::Lost { new_holder };
                }
                if let Some(call) = pending.calls.pop_front() {
                    return call;
                }
            }
            self.notify.notified().await;
        }
    }

    /// Delivers a take-over or new commands of this lease. Commands that cannot be parsed are
    /// answered with an error.
    fn deliver(
        &self,
        connection: &Connection,
        queued: &[command_queue::QueuedCommands],
    ) -> Result<(), ArchiveError> {
        if let Some(new_holder) = self.lease.lost_to(connection)? {
            if self.lock_pending().lost.is_none() {
                let Lease { debate_row, epoch, .. } = self.lease;
                tracing::debug!(debate_row, epoch, new_holder = %new_holder, "lease lost");
            }
            self.lock_pending().lost = Some(new_holder);
            self.notify.notify_one();
            return Ok(());
        }
        let own_requests =
            || queued.iter().filter(|entry| entry.debate_row == self.lease.debate_row);
        let mut pending = self.lock_pending();
        pending.delivered.retain(|id| own_requests().any(|entry| entry.id == *id));
        for command_queue::QueuedCommands { id, body, .. } in own_requests() {
            if pending.delivered.insert(*id) {
                match serde_json::from_str(body) {
                    Ok(commands) => {
                        let debate_row = self.lease.debate_row;
                        tracing::debug!(debate_row, command = id.0, "command delivered");
                        pending.calls.push_back(LeaseSignal::Commands { id: *id, commands });
                        self.notify.notify_one();
                    }
                    Err(error) => {
                        let (debate_row, command) = (self.lease.debate_row, id.0);
                        let reason = "unreadable";
                        tracing::info!(debate_row, command, reason, "remote command refused");
                        let message = format!(
                            "the process that runs the debate has another version of this program \
                             and cannot read the command ({error}); update it, or take the debate \
                             over"
                        );
                        let now = self.lease.clock.now();
                        command_queue::store_answer(connection, *id, &Err(message), now)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl LeaseMonitor {
    fn lock_subscriptions(&self) -> MutexGuard<'_, HashMap<(i64, i64), Arc<LeaseSubscription>>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts monitoring a lease.
    pub(super) fn subscribe(&self, lease: Lease) -> Arc<LeaseSubscription> {
        let key = (lease.debate_row, lease.epoch);
        let subscription =
            Arc::new(LeaseSubscription { lease, pending: Mutex::default(), notify: Notify::new() });
        self.lock_subscriptions().insert(key, subscription.clone());
        // Commands may have been queued before this lease was acquired.
        self.poll_requested.store(true, Ordering::Release);
        subscription
    }

    /// Stops monitoring a lease.
    pub(super) fn unsubscribe(&self, lease: &Lease) {
        self.lock_subscriptions().remove(&(lease.debate_row, lease.epoch));
    }

    /// Polls at once. Needed after a write of this process, which does not change `data_version` on
    /// its own connection.
    pub(super) fn wake(&self) {
        self.poll_requested.store(true, Ordering::Release);
        if let Some(thread) = &*self.wake_sender.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = thread.send(());
        }
    }

    /// Starts the thread that polls and writes heartbeats.
    pub(super) fn start(
        self: &Arc<LeaseMonitor>,
        database: Arc<Database>,
        clock: Arc<dyn Clock>,
        name: String,
    ) {
        let (sender, receiver) = mpsc::channel();
        *self.wake_sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        // A weak reference, so that the thread ends when the archive is dropped.
        let monitor = Arc::downgrade(self);
        std::thread::spawn(move || {
            let (mut version, mut last_heartbeat) = (None, Instant::now());
            loop {
                let wake = receiver.recv_timeout(POLL_INTERVAL);
                if wake == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
                let Some(monitor) = monitor.upgrade() else { return };
                if monitor.lock_subscriptions().is_empty() {
                    continue;
                }
                if is_heartbeat_due(last_heartbeat.elapsed()) {
                    last_heartbeat = Instant::now();
                    let renewed = database.with_connection(|connection| {
                        let statement = "UPDATE leases SET beat_at = ?2 WHERE holder = ?1";
                        let values = params![name, clock.now()];
                        connection.execute(statement, values).map_err(sqlite_error)
                    });
                    match renewed {
                        Ok(leases) => tracing::debug!(leases, "lease heartbeat"),
                        Err(error) => tracing::debug!(%error, "lease heartbeat failed"),
                    }
                }
                // A failed poll is retried. Correctness does not depend on it: appends check the
                // lease.
                let _ =
                    database.with_connection(|connection| monitor.poll(connection, &mut version));
            }
        });
    }

    fn poll(
        &self,
        connection: &Connection,
        last_version: &mut Option<i64>,
    ) -> Result<(), ArchiveError> {
        let version = connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
            .map_err(sqlite_error)?;
        let is_requested = self.poll_requested.swap(false, Ordering::AcqRel);
        if *last_version == Some(version) && !is_requested {
            return Ok(());
        }
        let subscriptions: Vec<Arc<LeaseSubscription>> =
            self.lock_subscriptions().values().cloned().collect();
        let result = command_queue::list_pending(connection).and_then(|queued| {
            subscriptions
                .iter()
                .try_for_each(|subscription| subscription.deliver(connection, &queued))
        });
        match &result {
            Ok(()) => *last_version = Some(version),
            Err(_) => *last_version = None,
        }
        result
    }
}

/// Whether the next heartbeat is due this long after the last one.
fn is_heartbeat_due(elapsed: Duration) -> bool {
    elapsed >= HEARTBEAT_INTERVAL
}

const _: () =
    assert!(HEARTBEAT_INTERVAL.as_millis() * 3 < lease::LEASE_TIMEOUT_MS.unsigned_abs() as u128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeat_is_due_every_5_s() {
        assert_eq!(HEARTBEAT_INTERVAL, Duration::from_secs(5));
        assert!(is_heartbeat_due(HEARTBEAT_INTERVAL));
        assert!(!is_heartbeat_due(
            HEARTBEAT_INTERVAL.checked_sub(Duration::from_millis(1)).unwrap()
        ));
    }
}
