//! The event stream of one viewer (server-sent events): in order, each event once. After lost
//! messages it catches up from the feed.
use super::follow::{Piece, Start, Watched, Watchers};
use crate::engine::AppError;
use crate::page::rendered::Viewer;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// Heartbeat interval. A comment line keeps idle connections open.
const QUIET: Duration = Duration::from_secs(15);
/// Maximum number of concurrent viewers.
const MOST: usize = 2_000;

/// Counts viewers. Each one holds a slot, which is freed on drop.
#[derive(Clone, Default)]
pub(super) struct Seats(Arc<AtomicUsize>);

pub(super) struct Seat(Arc<AtomicUsize>);

impl Seats {
    pub(super) fn take(&self) -> Option<Seat> {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        let seat = Seat(self.0.clone());
        (before < MOST).then_some(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Line {
    watchers: Arc<Watchers>,
    watched: Arc<Watched>,
    viewer: Viewer,
    receiver: Receiver<Piece>,
    /// Queue of chunks to send before the next received message.
    first: VecDeque<Bytes>,
    /// Sequence number of the last event sent.
    seq: u64,
    over: bool,
    _seat: Seat,
}

/// Builds the event-stream response, starting after an event.
pub(super) fn stream(
    watchers: Arc<Watchers>,
    watched: Arc<Watched>,
    after: Option<u64>,
    viewer: Viewer,
    seat: Seat,
) -> Result<Response, AppError> {
    let Start { pieces, receiver, seq } = watchers.start(&watched, after, viewer)?;
    // A client with a sequence number from the future has an invalid state, so it gets everything.
    let seq = after.filter(|after| *after <= seq).unwrap_or(if after.is_some() { 0 } else { seq });
    let first = VecDeque::from([Bytes::from_static(b"retry: 1000\n\n")]);
    let mut line =
        Line { watchers, watched, viewer, receiver, first, seq, over: false, _seat: seat };
    for piece in pieces {
        line.take(piece);
    }
    let body = futures_util::stream::unfold(line, |mut line| async move {
        let bytes = line.next().await?;
        Some((Ok::<Bytes, Infallible>(bytes), line))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    // Disables response buffering in nginx.
    Ok((headers, [("x-accel-buffering", "no")], Body::from_stream(body)).into_response())
}

impl Line {
    fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Event(told) if told.seq > self.seq => {
                self.seq = told.seq;
                self.first.push_back(told.text(self.viewer));
            }
            Piece::Event(_) => {}
            Piece::Live(bytes) => self.first.push_back(bytes),
            Piece::End => {
                self.first.push_back(Bytes::from_static(b"event: end\ndata: {}\n\n"));
                self.over = true;
            }
        }
    }

    /// Next chunk. `None` at the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.first.pop_front() {
                return Some(bytes);
            }
            if self.over {
                return None;
            }
            match tokio::time::timeout(QUIET, self.receiver.recv()).await {
                Err(_) => return Some(Bytes::from_static(b": still here\n\n")),
                Ok(Ok(piece)) => self.take(piece),
                Ok(Err(RecvError::Lagged(_))) => self.catch_up().await?,
                Ok(Err(RecvError::Closed)) => return None,
            }
        }
    }

    /// Replaces the lagging receiver, and queues the missed messages.
    async fn catch_up(&mut self) -> Option<()> {
        let (watchers, watched) = (self.watchers.clone(), self.watched.clone());
        let (seq, viewer) = (self.seq, self.viewer);
        let start =
            tokio::task::spawn_blocking(move || watchers.start(&watched, Some(seq), viewer));
        let Start { pieces, receiver, .. } = start.await.ok()?.ok()?;
        self.receiver = receiver;
        for piece in pieces {
            self.take(piece);
        }
        Some(())
    }
}
