//! One room while it is open: who was last heard of when, how its debate stands, and the play itself.
use super::board::{Board, Followed};
use super::room::{Guest, Room};
use crate::debate::Step;
use crate::engine::{Desk, Handle, Job};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast::error::RecvError, watch};

/// A room while it is open.
pub(super) struct Table {
    board: watch::Sender<Arc<Board>>,
    seen: [AtomicI64; 2],
    /// The play, for those who speak.
    handle: Mutex<Option<Handle>>,
    /// What each guest has sent for each round, as a fingerprint: to know it again.
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

    /// How it stands.
    pub(super) fn board(&self) -> Arc<Board> {
        self.board.borrow().clone()
    }

    /// How it stands, whenever that changes.
    pub(super) fn boards(&self) -> watch::Receiver<Arc<Board>> {
        self.board.subscribe()
    }

    /// Changes who sits there.
    pub(super) fn seat(&self, room: Room) {
        self.board.send_modify(|board| {
            let course = board.course.clone();
            *board = Arc::new(Board { room, course });
        });
    }

    /// What was said is in the archive, and no longer needed here.
    pub(super) fn forget(&self) {
        self.board.send_if_modified(|board| {
            if board.room.debate.is_some() && board.course.is_some() {
                *board = Arc::new(Board { room: board.room.clone(), course: None });
            }
            false
        });
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Shows how the debate stands.
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

    /// A guest was heard of.
    pub(super) fn heard_of(&self, nth: usize, now: i64) {
        if let Some(seen) = self.seen.get(nth) {
            seen.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// When each was last heard of.
    pub(super) fn seen(&self) -> [i64; 2] {
        [self.seen[0].load(Ordering::Relaxed), self.seen[1].load(Ordering::Relaxed)]
    }

    /// The guest of this name, with its place.
    pub(super) fn guest(&self, identifier: &str) -> Option<(usize, Guest)> {
        let board = self.board.borrow();
        let mut guests = board.room.guests.iter().enumerate();
        guests.find(|(_, guest)| guest.identifier == identifier).map(|(nth, it)| (nth, it.clone()))
    }

    /// The play, if it is being played.
    pub(super) fn handle(&self) -> Option<Handle> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A debate begins to be played: it can be spoken in at once.
    pub(super) fn start(&self, job: &Job, desk: &Desk) -> Option<Followed> {
        let mut followed = Followed::opened(job.debate().setup())?;
        self.catch_up(&mut followed, desk, job.id());
        self.hand(Some(job.handle()));
        Some(followed)
    }

    fn hand(&self, handle: Option<Handle>) {
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = handle;
    }

    /// Whether this is what a guest has sent for a round.
    pub(super) fn sent_before(&self, nth: usize, round: u8, fingerprint: &str) -> bool {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.get(&(nth, round)).is_some_and(|known| known == fingerprint)
    }

    /// Remembers what a guest has sent for a round.
    pub(super) fn note_sent(&self, nth: usize, round: u8, fingerprint: String) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.insert((nth, round), fingerprint);
    }

    /// Follows a debate that is played until it is over or cannot go on here.
    pub(super) async fn play(&self, mut job: Job, mut followed: Followed, desk: &Desk) {
        let id = job.id().to_owned();
        let mut updates = job.updates();
        while followed.debate.outcome().is_none() {
            let news = tokio::select! {
                update = updates.recv() => update,
                error = job.ended() => {
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
        if followed.debate.outcome().is_some() && matches!(job.idle().await, Ok(Step::Rest)) {
            self.catch_up(&mut followed, desk, &id);
        }
        self.hand(None);
        job.stop().await;
    }

    /// Reads what has been recorded since, with the times at which it was.
    fn catch_up(&self, followed: &mut Followed, desk: &Desk, id: &str) {
        match desk.archive().news(id, followed.seq()) {
            Ok(news) => {
                followed.follow(news.events);
                self.show(followed);
            }
            Err(error) => tracing::warn!("`{id}`: {error}"),
        }
    }
}
