//! Background thread for all leases of this process: polls for take-overs and queued commands, and
//! writes the lease heartbeats. A poll is one `PRAGMA data_version`, which changes when another
//! connection has written; only then are the tables queried. The main type is [`LeaseMonitor`].
use super::archive::Database;
use super::command_queue;
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
                let mut heard = self.lock_pending();
                if let Some(by) = heard.lost.clone() {
                    return LeaseSignal::Lost { new_holder: by };
                }
                if let Some(call) = heard.calls.pop_front() {
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
        wished: &[command_queue::QueuedCommands],
    ) -> Result<(), ArchiveError> {
        if let Some(by) = self.lease.lost_to(connection)? {
            self.lock_pending().lost = Some(by);
            self.notify.notify_one();
            return Ok(());
        }
        let own = || wished.iter().filter(|left| left.debate_row == self.lease.debate_row);
        let mut heard = self.lock_pending();
        heard.delivered.retain(|wish| own().any(|left| left.id == *wish));
        for command_queue::QueuedCommands { id: wish, body, .. } in own() {
            if heard.delivered.insert(*wish) {
                match serde_json::from_str(body) {
                    Ok(commands) => {
                        heard.calls.push_back(LeaseSignal::Commands { id: *wish, commands });
                        self.notify.notify_one();
                    }
                    Err(error) => command_queue::store_answer(
                        connection,
                        *wish,
                        &Err(format!(
                            "the version of this program that plays the debate cannot read the \
                             wish ({error}); update it, or take the debate over"
                        )),
                        self.lease.clock.now(),
                    )
                    .map(drop)?,
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
        let ear =
            Arc::new(LeaseSubscription { lease, pending: Mutex::default(), notify: Notify::new() });
        self.lock_subscriptions().insert(key, ear.clone());
        // Commands may have been queued before this lease was acquired.
        self.poll_requested.store(true, Ordering::Release);
        ear
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
        let lookout = Arc::downgrade(self);
        std::thread::spawn(move || {
            let (mut version, mut beat) = (None, Instant::now());
            loop {
                let poked = receiver.recv_timeout(POLL_INTERVAL);
                if poked == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
                let Some(lookout) = lookout.upgrade() else { return };
                if lookout.lock_subscriptions().is_empty() {
                    continue;
                }
                if beat.elapsed() >= HEARTBEAT_INTERVAL {
                    beat = Instant::now();
                    let _ = database.with_connection(|connection| {
                        let beat = params![name, clock.now()];
                        let statement = "UPDATE leases SET beat_at = ?2 WHERE holder = ?1";
                        connection.execute(statement, beat).map_err(sqlite_error)
                    });
                }
                // A failed poll is retried. Correctness does not depend on it: appends check the
                // lease.
                let _ =
                    database.with_connection(|connection| lookout.poll(connection, &mut version));
            }
        });
    }

    fn poll(&self, connection: &Connection, seen: &mut Option<i64>) -> Result<(), ArchiveError> {
        let version = connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
            .map_err(sqlite_error)?;
        let due = self.poll_requested.swap(false, Ordering::AcqRel);
        if *seen == Some(version) && !due {
            return Ok(());
        }
        let ears: Vec<Arc<LeaseSubscription>> =
            self.lock_subscriptions().values().cloned().collect();
        let looked = command_queue::list_pending(connection)
            .and_then(|wished| ears.iter().try_for_each(|ear| ear.deliver(connection, &wished)));
        match &looked {
            Ok(()) => *seen = Some(version),
            Err(_) => *seen = None,
        }
        looked
    }
}

const _: () =
    assert!(HEARTBEAT_INTERVAL.as_millis() * 3 < lease::LEASE_TIMEOUT_MS.unsigned_abs() as u128);
