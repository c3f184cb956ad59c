//! The event stream of one viewer (server-sent events): in order, each event once. After lost
//! messages it catches up from the feed.
use super::live_feed::{FeedMessage, FeedStart, LiveFeed, LiveFeeds};
use crate::app::AppError;
use crate::page::context::Viewer;
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
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// Maximum number of concurrent viewers.
const MAX_VIEWERS: usize = 2_000;

/// Counts viewers. Each one holds a slot, which is freed on drop.
#[derive(Clone, Default)]
pub(super) struct ViewerSlots(Arc<AtomicUsize>);

pub(super) struct ViewerSlot(Arc<AtomicUsize>);

impl ViewerSlots {
    pub(super) fn acquire(&self) -> Option<ViewerSlot> {
        let viewers = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let slot = ViewerSlot(self.0.clone());
        if viewers > MAX_VIEWERS {
            tracing::info!(viewers, "viewer refused");
            return None;
        }
        tracing::debug!(viewers, "viewer connected");
        Some(slot)
    }
}

impl Drop for ViewerSlot {
    fn drop(&mut self) {
        let viewers = self.0.fetch_sub(1, Ordering::Relaxed) - 1;
        tracing::debug!(viewers, "viewer disconnected");
    }
}

struct ViewerStream {
    feeds: Arc<LiveFeeds>,
    feed: Arc<LiveFeed>,
    viewer: Viewer,
    receiver: Receiver<FeedMessage>,
    /// Queue of chunks to send before the next received message.
    queue: VecDeque<Bytes>,
    /// Sequence number of the last event sent.
    last_seq: u64,
    ended: bool,
    _slot: ViewerSlot,
}

/// Builds the event-stream response, starting after an event.
pub(super) fn sse_response(
    feeds: Arc<LiveFeeds>,
    feed: Arc<LiveFeed>,
    after: Option<u64>,
    viewer: Viewer,
    slot: ViewerSlot,
) -> Result<Response, AppError> {
    let FeedStart { messages, receiver, last_seq } = feeds.start_viewer(&feed, after, viewer)?;
    // A client with a sequence number from the future has an invalid state, so it gets everything.
    let last_seq = after.filter(|after| *after <= last_seq).unwrap_or(if after.is_some() {
        0
    } else {
        last_seq
    });
    let queue = VecDeque::from([Bytes::from_static(b"retry: 1000\n\n")]);
    let mut viewer_stream =
        ViewerStream { feeds, feed, viewer, receiver, queue, last_seq, ended: false, _slot: slot };
    for message in messages {
        viewer_stream.enqueue(message);
    }
    let body = futures_util::stream::unfold(viewer_stream, |mut viewer_stream| async move {
        let bytes = viewer_stream.next_chunk().await?;
        Some((Ok::<Bytes, Infallible>(bytes), viewer_stream))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    // Disables response buffering in nginx.
    Ok((headers, [("x-accel-buffering", "no")], Body::from_stream(body)).into_response())
}

impl ViewerStream {
    fn enqueue(&mut self, message: FeedMessage) {
        match message {
            FeedMessage::Update(update) if update.seq > self.last_seq => {
                self.last_seq = update.seq;
                self.queue.push_back(update.for_viewer(self.viewer));
            }
            FeedMessage::Update(_) => {}
            FeedMessage::LiveText(bytes) => self.queue.push_back(bytes),
            FeedMessage::End => {
                self.queue.push_back(Bytes::from_static(b"event: end\ndata: {}\n\n"));
                self.ended = true;
            }
        }
    }

    /// Next chunk. `None` at the end of the stream.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.queue.pop_front() {
                return Some(bytes);
            }
            if self.ended {
                return None;
            }
            match receive_or_heartbeat(&mut self.receiver).await {
                None => return Some(Bytes::from_static(b": still here\n\n")),
                Some(Ok(message)) => self.enqueue(message),
                Some(Err(RecvError::Lagged(missed))) => {
                    tracing::debug!(missed, "viewer lags behind");
                    self.catch_up().await?;
                }
                Some(Err(RecvError::Closed)) => return None,
            }
        }
    }

    /// Replaces the lagging receiver, and queues the missed messages.
    async fn catch_up(&mut self) -> Option<()> {
        let (feeds, feed) = (self.feeds.clone(), self.feed.clone());
        let (last_seq, viewer) = (self.last_seq, self.viewer);
        let start =
            tokio::task::spawn_blocking(move || feeds.start_viewer(&feed, Some(last_seq), viewer));
        let FeedStart { messages, receiver, .. } = start.await.ok()?.ok()?;
        self.receiver = receiver;
        for message in messages {
            self.enqueue(message);
        }
        Some(())
    }
}

/// Receives the next message. `None` if a heartbeat is due before.
async fn receive_or_heartbeat(
    receiver: &mut Receiver<FeedMessage>,
) -> Option<Result<FeedMessage, RecvError>> {
    tokio::time::timeout(HEARTBEAT_INTERVAL, receiver.recv()).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::broadcast;
    use tokio::time::{Instant, sleep};

    #[test]
    fn viewer_over_the_limit_is_refused_until_one_leaves() {
        assert_eq!(MAX_VIEWERS, 2_000);
        let slots = ViewerSlots::default();
        let mut viewers: Vec<ViewerSlot> =
            (0..MAX_VIEWERS).map(|_| slots.acquire().unwrap()).collect();
        for _ in 0..2 {
            assert!(slots.acquire().is_none(), "a refused viewer takes no slot");
        }
        viewers.pop();
        assert!(slots.acquire().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn idle_stream_sends_a_heartbeat_after_15_seconds() {
        let (sender, mut receiver) = broadcast::channel(1);
        let started = Instant::now();
        assert!(receive_or_heartbeat(&mut receiver).await.is_none());
        assert_eq!((HEARTBEAT_INTERVAL.as_secs(), started.elapsed().as_secs()), (15, 15));
        let delayed = async {
            sleep(HEARTBEAT_INTERVAL.checked_sub(Duration::from_millis(1)).unwrap()).await;
            sender.send(FeedMessage::End).is_ok()
        };
        let (message, sent) = tokio::join!(receive_or_heartbeat(&mut receiver), delayed);
        assert!(sent && matches!(message, Some(Ok(FeedMessage::End))));
    }
}
