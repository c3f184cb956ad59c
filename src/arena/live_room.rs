//! In-memory state of one open room: a watch channel with its `RoomState`, the time of each bot's
//! last request, and the handle of the running debate.
use super::room::{JoinedBot, Room};
use super::room_state::{RoomState, TrackedDebate};
use crate::debate::Step;
use crate::engine::{App, DebateRun, RunHandle};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast::error::RecvError, watch};

/// A room that is loaded in memory.
pub(super) struct LiveRoom {
    state: watch::Sender<Arc<RoomState>>,
    last_seen: [AtomicI64; 2],
    /// Handle of the run, if this process runs the debate.
    run_handle: Mutex<Option<RunHandle>>,
    /// Hash of the speech each bot sent per round, to detect retries.
    sent_hashes: Mutex<HashMap<(usize, u8), String>>,
}

impl LiveRoom {
    pub(super) fn new(board: RoomState, now: i64) -> LiveRoom {
        LiveRoom {
            state: watch::Sender::new(Arc::new(board)),
            last_seen: [AtomicI64::new(now), AtomicI64::new(now)],
            run_handle: Mutex::new(None),
            sent_hashes: Mutex::default(),
        }
    }

    /// Current state.
    pub(super) fn state(&self) -> Arc<RoomState> {
        self.state.borrow().clone()
    }

    /// Receiver that is notified of every new state.
    pub(super) fn subscribe(&self) -> watch::Receiver<Arc<RoomState>> {
        self.state.subscribe()
    }

    /// Replaces the stored room within the state.
    pub(super) fn update_room(&self, room: Room) {
        self.state.send_modify(|board| {
            let course = board.progress.clone();
            *board = Arc::new(RoomState { room, progress: course });
        });
    }

    /// Evicts the progress of a finished debate from memory. It can be loaded from the archive.
    pub(super) fn evict_progress(&self) {
        self.state.send_if_modified(|board| {
            if board.room.debate.is_some() && board.progress.is_some() {
                *board = Arc::new(RoomState { room: board.room.clone(), progress: None });
            }
            false
        });
        self.sent_hashes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Publishes new progress, if there is any.
    pub(super) fn publish(&self, followed: &TrackedDebate) {
        self.state.send_if_modified(|board| {
            let news =
                board.progress.as_ref().is_none_or(|known| known.last_seq != followed.last_seq());
            if news {
                let room = board.room.clone();
                *board = Arc::new(RoomState { room, progress: Some(followed.progress()) });
            }
            news
        });
    }

    /// Records a request of a bot.
    pub(super) fn mark_seen(&self, nth: usize, now: i64) {
        if let Some(seen) = self.last_seen.get(nth) {
            seen.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// Time of each bot's last request, as Unix milliseconds.
    pub(super) fn last_seen(&self) -> [i64; 2] {
        [self.last_seen[0].load(Ordering::Relaxed), self.last_seen[1].load(Ordering::Relaxed)]
    }

    /// Finds a bot by its identifier. Returns its index, too.
    pub(super) fn find_bot(&self, identifier: &str) -> Option<(usize, JoinedBot)> {
        let board = self.state.borrow();
        let mut guests = board.room.guests.iter().enumerate();
        guests.find(|(_, guest)| guest.identifier == identifier).map(|(nth, it)| (nth, it.clone()))
    }

    /// Handle of the run, if this process runs the debate.
    pub(super) fn run_handle(&self) -> Option<RunHandle> {
        self.run_handle.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Attaches a run, which accepts speeches from now on. Returns the debate to follow.
    pub(super) fn attach_run(&self, job: &DebateRun, desk: &App) -> Option<TrackedDebate> {
        let mut followed = TrackedDebate::open(job.initial_debate().setup())?;
        self.catch_up(&mut followed, desk, job.id());
        self.set_run_handle(Some(job.handle()));
        Some(followed)
    }

    fn set_run_handle(&self, handle: Option<RunHandle>) {
        *self.run_handle.lock().unwrap_or_else(PoisonError::into_inner) = handle;
    }

    /// Whether a bot sent the same speech for this round before.
    pub(super) fn is_resent(&self, nth: usize, round: u8, fingerprint: &str) -> bool {
        let sent = self.sent_hashes.lock().unwrap_or_else(PoisonError::into_inner);
        sent.get(&(nth, round)).is_some_and(|known| known == fingerprint)
    }

    /// Stores the hash of a bot's speech.
    pub(super) fn record_sent(&self, nth: usize, round: u8, fingerprint: String) {
        let mut sent = self.sent_hashes.lock().unwrap_or_else(PoisonError::into_inner);
        sent.insert((nth, round), fingerprint);
    }

    /// Follows a run until the debate is over or the run ends.
    pub(super) async fn follow_run(
        &self,
        mut job: DebateRun,
        mut followed: TrackedDebate,
        desk: &App,
    ) {
        let id = job.id().to_owned();
        let mut updates = job.subscribe_from_start();
        while followed.debate.outcome().is_none() {
            let news = tokio::select! {
                update = updates.recv() => update,
                error = job.wait_ended() => {
                    tracing::warn!("`{id}` is no longer played here: {error}");
                    break;
                }
            };
            match news.as_deref() {
                Ok(crate::engine::Update::Fact { .. }) | Err(RecvError::Lagged(_)) => {
                    self.catch_up(&mut followed, desk, &id);
                }
                Ok(_) => {}
                Err(RecvError::Closed) => break,
            }
        }
        if followed.debate.outcome().is_some() && matches!(job.wait_idle().await, Ok(Step::Done)) {
            self.catch_up(&mut followed, desk, &id);
        }
        self.set_run_handle(None);
        job.stop().await;
    }

    /// Reads and applies new events from the archive, which has their times.
    fn catch_up(&self, followed: &mut TrackedDebate, desk: &App, id: &str) {
        match desk.archive().news_since(id, followed.last_seq()) {
            Ok(news) => {
                followed.apply_events(news.events);
                self.publish(followed);
            }
            Err(error) => tracing::warn!("`{id}`: {error}"),
        }
    }
}
