//! In-memory state of one open room: a watch channel with its `RoomState`, the time of each bot's
//! last request, and the handle of the running debate.
use super::board::{Board, Followed};
use super::room::{Guest, Room};
use crate::debate::Step;
use crate::engine::{App, DebateRun, RunHandle};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast::error::RecvError, watch};

/// A room that is loaded in memory.
pub(super) struct Table {
    board: watch::Sender<Arc<Board>>,
    seen: [AtomicI64; 2],
    /// Handle of the run, if this process runs the debate.
    handle: Mutex<Option<RunHandle>>,
    /// Hash of the speech each bot sent per round, to detect retries.
    sent: Mutex<HashMap<(usize, u8), String>>,
}

impl Table {
    pub(super) fn new(board: Board, now: i64) -> Table {
        Table {
            board: watch::Sender::new(Arc::new(board)),
            seen: [AtomicI64::new(now), AtomicI64::new(now)],
            handle: Mutex::new(None),
            sent: Mutex::default(),
        }
    }

    /// Current state.
    pub(super) fn board(&self) -> Arc<Board> {
        self.board.borrow().clone()
    }

    /// Receiver that is notified of every new state.
    pub(super) fn boards(&self) -> watch::Receiver<Arc<Board>> {
        self.board.subscribe()
    }

    /// Replaces the stored room within the state.
    pub(super) fn seat(&self, room: Room) {
        self.board.send_modify(|board| {
            let course = board.course.clone();
            *board = Arc::new(Board { room, course });
        });
    }

    /// Evicts the progress of a finished debate from memory. It can be loaded from the archive.
    pub(super) fn forget(&self) {
        self.board.send_if_modified(|board| {
            if board.room.debate.is_some() && board.course.is_some() {
                *board = Arc::new(Board { room: board.room.clone(), course: None });
            }
            false
        });
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Publishes new progress, if there is any.
    pub(super) fn show(&self, followed: &Followed) {
        self.board.send_if_modified(|board| {
            let news = board.course.as_ref().is_none_or(|known| known.seq != followed.seq());
            if news {
                let room = board.room.clone();
                *board = Arc::new(Board { room, course: Some(followed.course()) });
            }
            news
        });
    }

    /// Records a request of a bot.
    pub(super) fn heard_of(&self, nth: usize, now: i64) {
        if let Some(seen) = self.seen.get(nth) {
            seen.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// Time of each bot's last request, as Unix milliseconds.
    pub(super) fn seen(&self) -> [i64; 2] {
        [self.seen[0].load(Ordering::Relaxed), self.seen[1].load(Ordering::Relaxed)]
    }

    /// Finds a bot by its identifier. Returns its index, too.
    pub(super) fn guest(&self, identifier: &str) -> Option<(usize, Guest)> {
        let board = self.board.borrow();
        let mut guests = board.room.guests.iter().enumerate();
        guests.find(|(_, guest)| guest.identifier == identifier).map(|(nth, it)| (nth, it.clone()))
    }

    /// Handle of the run, if this process runs the debate.
    pub(super) fn handle(&self) -> Option<RunHandle> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Attaches a run, which accepts speeches from now on. Returns the debate to follow.
    pub(super) fn start(&self, job: &DebateRun, desk: &App) -> Option<Followed> {
        let mut followed = Followed::opened(job.initial_debate().setup())?;
        self.catch_up(&mut followed, desk, job.id());
        self.hand(Some(job.handle()));
        Some(followed)
    }

    fn hand(&self, handle: Option<RunHandle>) {
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = handle;
    }

    /// Whether a bot sent the same speech for this round before.
    pub(super) fn sent_before(&self, nth: usize, round: u8, fingerprint: &str) -> bool {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.get(&(nth, round)).is_some_and(|known| known == fingerprint)
    }

    /// Stores the hash of a bot's speech.
    pub(super) fn note_sent(&self, nth: usize, round: u8, fingerprint: String) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.insert((nth, round), fingerprint);
    }

    /// Follows a run until the debate is over or the run ends.
    pub(super) async fn play(&self, mut job: DebateRun, mut followed: Followed, desk: &App) {
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
        self.hand(None);
        job.stop().await;
    }

    /// Reads and applies new events from the archive, which has their times.
    fn catch_up(&self, followed: &mut Followed, desk: &App, id: &str) {
        match desk.archive().news_since(id, followed.seq()) {
            Ok(news) => {
                followed.follow(news.events);
                self.show(followed);
            }
            Err(error) => tracing::warn!("`{id}`: {error}"),
        }
    }
}
