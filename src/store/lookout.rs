//! Background thread for all leases of this process: polls for take-overs and queued commands, and
//! writes the lease heartbeats. A poll is one `PRAGMA data_version`, which changes when another
//! connection has written; only then are the tables queried. The main type is [`LeaseMonitor`].
use super::archive::Database;
use super::lease::{self, Lease};
use super::schema::broken;
use super::wishes;
use crate::engine::{ArchiveError, Clock, LeaseSignal, QueuedCommandId};
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time between two polls.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two heartbeats.
const BEAT: Duration = Duration::from_secs(5);

/// The leases of this process, by row and epoch, each with its subscription.
#[derive(Default)]
pub(super) struct Lookout {
    ears: Mutex<HashMap<(i64, i64), Arc<Ear>>>,
    /// The next poll queries the tables even if `data_version` is unchanged.
    due: AtomicBool,
    /// Wakes the thread. Dropping the sender stops it.
    thread: Mutex<Option<Sender<()>>>,
}

/// Receives take-overs and commands for one lease.
pub(super) struct Ear {
    lease: Lease,
    heard: Mutex<Heard>,
    rung: Notify,
}

#[derive(Default)]
struct Heard {
    lost: Option<String>,
    calls: VecDeque<LeaseSignal>,
    /// Requests that were delivered and are still in the table, so that none is delivered twice.
    passed_on: HashSet<QueuedCommandId>,
}

impl Ear {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next call. A lost lease comes before everything else, and is returned on every
    /// call from then on.
    pub(super) async fn called(self: Arc<Ear>) -> LeaseSignal {
        loop {
            {
                let mut heard = self.heard();
                if let Some(by) = heard.lost.clone() {
                    return LeaseSignal::Lost { new_holder: by };
                }
                if let Some(call) = heard.calls.pop_front() {
                    return call;
                }
            }
            self.rung.notified().await;
        }
    }

    /// Delivers a take-over or new commands of this lease. Commands that cannot be parsed are
    /// answered with an error.
    fn look(&self, connection: &Connection, wished: &[wishes::Left]) -> Result<(), ArchiveError> {
        if let Some(by) = self.lease.lost(connection)? {
            self.heard().lost = Some(by);
            self.rung.notify_one();
            return Ok(());
        }
        let own = || wished.iter().filter(|left| left.debate == self.lease.row);
        let mut heard = self.heard();
        heard.passed_on.retain(|wish| own().any(|left| left.wish == *wish));
        for wishes::Left { wish, body, .. } in own() {
            if heard.passed_on.insert(*wish) {
                match serde_json::from_str(body) {
                    Ok(commands) => {
                        heard.calls.push_back(LeaseSignal::Commands { id: *wish, commands });
                        self.rung.notify_one();
                    }
                    Err(error) => wishes::answer(
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

impl Lookout {
    fn ears(&self) -> MutexGuard<'_, HashMap<(i64, i64), Arc<Ear>>> {
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts monitoring a lease.
    pub(super) fn watch(&self, lease: Lease) -> Arc<Ear> {
        let key = (lease.row, lease.epoch);
        let ear = Arc::new(Ear { lease, heard: Mutex::default(), rung: Notify::new() });
        self.ears().insert(key, ear.clone());
        // Commands may have been queued before this lease was acquired.
        self.due.store(true, Ordering::Release);
        ear
    }

    /// Stops monitoring a lease.
    pub(super) fn leave(&self, lease: &Lease) {
        self.ears().remove(&(lease.row, lease.epoch));
    }

    /// Polls at once. Needed after a write of this process, which does not change `data_version` on
    /// its own connection.
    pub(super) fn poke(&self) {
        self.due.store(true, Ordering::Release);
        if let Some(thread) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = thread.send(());
        }
    }

    /// Starts the thread that polls and writes heartbeats.
    pub(super) fn start(
        self: &Arc<Lookout>,
        database: Arc<Database>,
        clock: Arc<dyn Clock>,
        name: String,
    ) {
        let (sender, receiver) = mpsc::channel();
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        // A weak reference, so that the thread ends when the archive is dropped.
        let lookout = Arc::downgrade(self);
        std::thread::spawn(move || {
            let (mut version, mut beat) = (None, Instant::now());
            loop {
                let poked = receiver.recv_timeout(LOOK);
                if poked == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
                let Some(lookout) = lookout.upgrade() else { return };
                if lookout.ears().is_empty() {
                    continue;
                }
                if beat.elapsed() >= BEAT {
                    beat = Instant::now();
                    let _ = database.with(|connection| {
                        let beat = params![name, clock.now()];
                        let statement = "UPDATE leases SET beat_at = ?2 WHERE holder = ?1";
                        connection.execute(statement, beat).map_err(broken)
                    });
                }
                // A failed poll is retried. Correctness does not depend on it: appends check the
                // lease.
                let _ = database.with(|connection| lookout.look(connection, &mut version));
            }
        });
    }

    fn look(&self, connection: &Connection, seen: &mut Option<i64>) -> Result<(), ArchiveError> {
        let version = connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
            .map_err(broken)?;
        let due = self.due.swap(false, Ordering::AcqRel);
        if *seen == Some(version) && !due {
            return Ok(());
        }
        let ears: Vec<Arc<Ear>> = self.ears().values().cloned().collect();
        let looked = wishes::left(connection)
            .and_then(|wished| ears.iter().try_for_each(|ear| ear.look(connection, &wished)));
        match &looked {
            Ok(()) => *seen = Some(version),
            Err(_) => *seen = None,
        }
        looked
    }
}

const _: () = assert!(BEAT.as_millis() * 3 < lease::PATIENCE.unsigned_abs() as u128);
