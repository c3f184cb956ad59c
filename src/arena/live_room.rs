//! In-memory state of one open room: a watch channel with its `RoomState`, the time of each bot's
//! last request, and the handle of the running debate.
use super::room::{JoinedBot, Room};
use super::room_state::{RoomState, TrackedDebate};
use crate::app::App;
use crate::debate::Step;
use crate::engine::{DebateRun, RunHandle};
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
    pub(super) fn new(state: RoomState, now: i64) -> LiveRoom {
        LiveRoom {
            state: watch::Sender::new(Arc::new(state)),
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
        self.state.send_modify(|state| {
            let progress = state.progress.clone();
            *state = Arc::new(RoomState { room, progress });
        });
    }

    /// Evicts the progress of a finished debate from memory. It can be loaded from the archive.
    pub(super) fn evict_progress(&self) {
        self.state.send_if_modified(|state| {
            if state.room.debate.is_some() && state.progress.is_some() {
                *state = Arc::new(RoomState { room: state.room.clone(), progress: None });
            }
            false
        });
        self.sent_hashes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Publishes new progress, if there is any.
    pub(super) fn publish(&self, tracked: &TrackedDebate) {
        self.state.send_if_modified(|state| {
            let is_new =
                state.progress.as_ref().is_none_or(|known| known.last_seq != tracked.last_seq());
            if is_new {
                let room = state.room.clone();
                *state = Arc::new(RoomState { room, progress: Some(tracked.progress()) });
            }
            is_new
        });
    }

    /// Records a request of a bot.
    pub(super) fn mark_seen(&self, index: usize, now: i64) {
        if let Some(last_seen) = self.last_seen.get(index) {
            last_seen.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// Time of each bot's last request, as Unix milliseconds.
    pub(super) fn last_seen(&self) -> [i64; 2] {
        [self.last_seen[0].load(Ordering::Relaxed), self.last_seen[1].load(Ordering::Relaxed)]
    }

    /// Finds a bot by its identifier. Returns its index, too.
    pub(super) fn find_bot(&self, identifier: &str) -> Option<(usize, JoinedBot)> {
        let state = self.state.borrow();
        let mut bots = state.room.guests.iter().enumerate();
        bots.find(|(_, bot)| bot.identifier == identifier).map(|(index, bot)| (index, bot.clone()))
    }

    /// Handle of the run, if this process runs the debate.
    pub(super) fn run_handle(&self) -> Option<RunHandle> {
        self.run_handle.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Attaches a run, which accepts speeches from now on. Returns the debate to follow.
    pub(super) async fn attach_run(&self, run: &DebateRun, app: &App) -> Option<TrackedDebate> {
        let mut tracked = TrackedDebate::open(run.initial_debate().setup())?;
        self.catch_up(&mut tracked, app, run.id()).await;
        self.set_run_handle(Some(run.handle()));
        Some(tracked)
    }

    fn set_run_handle(&self, handle: Option<RunHandle>) {
        *self.run_handle.lock().unwrap_or_else(PoisonError::into_inner) = handle;
    }

    /// Whether a bot sent the same speech for this round before.
    pub(super) fn is_resent(&self, index: usize, round: u8, fingerprint: &str) -> bool {
        let hashes = self.sent_hashes.lock().unwrap_or_else(PoisonError::into_inner);
        hashes.get(&(index, round)).is_some_and(|known| known == fingerprint)
    }

    /// Stores the hash of a bot's speech.
    pub(super) fn record_sent(&self, index: usize, round: u8, fingerprint: String) {
        let mut hashes = self.sent_hashes.lock().unwrap_or_else(PoisonError::into_inner);
        hashes.insert((index, round), fingerprint);
    }

    /// Follows a run until the debate is over or the run ends.
    pub(super) async fn follow_run(
        &self,
        mut run: DebateRun,
        mut tracked: TrackedDebate,
        app: &App,
    ) {
        let id = run.id().to_owned();
        let mut updates = run.subscribe_from_start();
        while tracked.debate.outcome().is_none() {
            let received = tokio::select! {
                update = updates.recv() => update,
                error = run.wait_ended() => {
                    tracing::warn!(debate = %id, %error, "debate is no longer run by this process");
                    break;
                }
            };
            match received.as_deref() {
                Ok(crate::engine::Update::Fact { .. }) | Err(RecvError::Lagged(_)) => {
                    self.catch_up(&mut tracked, app, &id).await;
                }
                Ok(_) => {}
                Err(RecvError::Closed) => break,
            }
        }
        if tracked.debate.outcome().is_some() && matches!(run.wait_idle().await, Ok(Step::Done)) {
            self.catch_up(&mut tracked, app, &id).await;
        }
        self.set_run_handle(None);
        run.stop().await;
    }

    /// Reads and applies new events from the archive, which has their times.
    async fn catch_up(&self, tracked: &mut TrackedDebate, app: &App, id: &str) {
        match app.archive().events.news_since(id, tracked.last_seq()).await {
            Ok(news) => {
                tracked.apply_events(news.events);
                self.publish(tracked);
            }
            Err(error) => tracing::warn!(debate = id, %error, "events cannot be read"),
        }
    }
}
