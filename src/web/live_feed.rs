//! Live feeds for the event stream. One task per watched debate polls the archive, whatever process
//! runs the debate, and renders each update once for all viewers. `event_stream` sends them to a
//! viewer.
use super::auth::AuthTokens;
use crate::app::{App, AppError};
use crate::engine::DebateNews;
use crate::page::context::{RenderContext, Viewer};
use crate::page::history::DebateHistory;
use crate::page::live::{LiveTextUpdate, LiveTurns};
use crate::page::rendered::{PageUpdate, RenderedDebate};
use axum::body::Bytes;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::broadcast;

/// Interval at which the archive is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Capacity of the broadcast channel. A viewer that lags further behind catches up from the feed.
const CHANNEL_CAPACITY: usize = 256;
/// Number of rendered updates to cache. A viewer that missed more gets the full page.
const MAX_CACHED_UPDATES: usize = 128;

/// All live feeds, by debate id.
pub struct LiveFeeds {
    app: App,
    auth: Arc<AuthTokens>,
    sign_in_hint: String,
    feeds: Mutex<HashMap<String, Weak<LiveFeed>>>,
}

/// Live feed of one debate. It is dropped with its last viewer.
pub(super) struct LiveFeed {
    id: String,
    pub(super) sender: broadcast::Sender<FeedMessage>,
    state: Mutex<FeedState>,
}

/// A serialized message of the feed.
#[derive(Clone)]
pub(super) enum FeedMessage {
    /// Page update caused by an event.
    Update(Arc<RenderedUpdate>),
    /// New text of a running turn.
    LiveText(Bytes),
    /// The debate is over.
    End,
}

/// Serialized page update, per access level of the viewer.
pub(super) struct RenderedUpdate {
    pub(super) seq: u64,
    texts: [Bytes; 2],
}

impl RenderedUpdate {
    pub(super) fn for_viewer(&self, viewer: Viewer) -> Bytes {
        self.texts[viewer as usize].clone()
    }
}

/// State of the debate as of the last poll.
struct FeedState {
    history: DebateHistory,
    rendered: RenderedDebate,
    /// Cache of the last updates, without gaps.
    recent_updates: VecDeque<Arc<RenderedUpdate>>,
    live_turns: LiveTurns,
}

/// First messages for a new viewer.
pub(super) struct FeedStart {
    pub(super) messages: Vec<FeedMessage>,
    pub(super) receiver: broadcast::Receiver<FeedMessage>,
    pub(super) last_seq: u64,
}

impl LiveFeeds {
    /// Creates an empty registry. `sign_in_hint` is shown to viewers that may only read.
    pub fn new(app: App, auth: Arc<AuthTokens>, sign_in_hint: String) -> LiveFeeds {
        LiveFeeds { app, auth, sign_in_hint, feeds: Mutex::default() }
    }

    /// Render context of a debate page.
    pub fn render_context(&self, id: &str) -> RenderContext<'_> {
        let debate_url = Some(format!("/debates/{id}"));
        RenderContext {
            debate_url,
            csrf_token: self.auth.csrf_token(),
            sign_in_hint: &self.sign_in_hint,
            id_prefix: "",
        }
    }

    /// Returns the feed of a debate, and starts its task if needed. It runs while the caller holds
    /// the feed.
    pub(super) async fn open_feed(
        self: &Arc<LiveFeeds>,
        id: &str,
    ) -> Result<Arc<LiveFeed>, AppError> {
        if let Some(feed) = self.find_feed(id) {
            return Ok(feed);
        }
        let stored = self.app.archive().events.read(id).await?;
        let history = DebateHistory::from_stored(&stored, None)?;
        let rendered = RenderedDebate::new(&history, &self.render_context(id), None);
        let mut state = FeedState {
            history,
            rendered,
            recent_updates: VecDeque::new(),
            live_turns: LiveTurns::default(),
        };
        let live_texts = self.app.archive().queries.live_texts(id).await?;
        state.live_turns.update(state.history.debate(), &live_texts);
        let mut feeds = lock(&self.feeds);
        // Another viewer may have opened it meanwhile.
        if let Some(feed) = feeds.get(id).and_then(Weak::upgrade) {
            return Ok(feed);
        }
        let (id, sender) = (id.to_owned(), broadcast::channel(CHANNEL_CAPACITY).0);
        let feed = Arc::new(LiveFeed { id: id.clone(), sender, state: Mutex::new(state) });
        feeds.insert(id, Arc::downgrade(&feed));
        tracing::debug!(debate = %feed.id, "live feed opened");
        tokio::spawn(poll_loop(self.clone(), feed.id.clone(), Arc::downgrade(&feed)));
        Ok(feed)
    }

    /// The open feed of a debate. Forgets feeds without viewers.
    fn find_feed(&self, id: &str) -> Option<Arc<LiveFeed>> {
        let mut feeds = lock(&self.feeds);
        feeds.retain(|_, feed| feed.strong_count() > 0);
        feeds.get(id).and_then(Weak::upgrade)
    }

    /// Reads new events and broadcasts the updates. Renders them, so it blocks for a while.
    async fn poll_archive(&self, feed: &LiveFeed) -> Result<(), AppError> {
        let seq = lock(&feed.state).history.seq();
        let news = self.app.archive().events.news_since(&feed.id, seq).await?;
        // Send under the lock. A new viewer subscribes under it too, so it misses no message and
        // gets none twice.
        let mut state = lock(&feed.state);
        for message in self.apply_news(&mut state, &feed.id, news)? {
            let _ = feed.sender.send(message);
        }
        Ok(())
    }

    fn apply_news(
        &self,
        state: &mut FeedState,
        id: &str,
        news: DebateNews,
    ) -> Result<Vec<FeedMessage>, AppError> {
        let mut messages = vec![];
        let was_over = state.history.is_over();
        for recorded in news.events {
            let update = state.apply_event(recorded, &self.render_context(id))?;
            messages.push(FeedMessage::Update(update));
        }
        let FeedState { history, live_turns, .. } = &mut *state;
        let live_texts = live_turns.update(history.debate(), &news.live_texts);
        messages.extend(live_texts.iter().map(|text| FeedMessage::LiveText(sse_live_text(text))));
        if state.history.is_over() && !(was_over && messages.is_empty()) {
            messages.push(FeedMessage::End);
        }
        Ok(messages)
    }

    /// Returns the messages that a viewer missed after an event, and subscribes it to the rest. May
    /// block.
    pub(super) fn start_viewer(
        &self,
        feed: &LiveFeed,
        after: Option<u64>,
        viewer: Viewer,
    ) -> Result<FeedStart, AppError> {
        let mut state = lock(&feed.state);
        let last_seq = state.history.seq();
        let after = after.unwrap_or(last_seq);
        let mut messages = vec![];
        if needs_full_page(after, last_seq) {
            let page = state.rendered.full_update(viewer);
            let text = sse_update(&page);
            let update = RenderedUpdate { seq: last_seq, texts: [text.clone(), text] };
            messages.push(FeedMessage::Update(Arc::new(update)));
        } else if after < last_seq {
            if state.recent_updates.front().is_none_or(|first| first.seq > after + 1) {
                state.backfill(after, &self.render_context(&feed.id))?;
            }
            let missed_updates = state.recent_updates.iter().filter(|update| update.seq > after);
            messages.extend(missed_updates.cloned().map(FeedMessage::Update));
        }
        messages.extend(
            state
                .live_turns
                .snapshot()
                .iter()
                .map(|live_text| FeedMessage::LiveText(sse_live_text(live_text))),
        );
        if state.history.is_over() {
            messages.push(FeedMessage::End);
        }
        Ok(FeedStart { messages, receiver: feed.sender.subscribe(), last_seq })
    }
}

impl FeedState {
    fn apply_event(
        &mut self,
        recorded: crate::engine::RecordedEvent,
        context: &RenderContext<'_>,
    ) -> Result<Arc<RenderedUpdate>, AppError> {
        self.history.apply(recorded)?;
        let rendered = RenderedDebate::new(&self.history, context, Some(&self.rendered));
        let update = Arc::new(render_update(&rendered, &self.rendered, &self.history));
        self.rendered = rendered;
        self.recent_updates.push_back(update.clone());
        if self.recent_updates.len() > MAX_CACHED_UPDATES {
            self.recent_updates.pop_front();
        }
        Ok(update)
    }

    /// Renders the last updates again, to fill the cache.
    fn backfill(&mut self, after: u64, context: &RenderContext<'_>) -> Result<(), AppError> {
        let mut history = DebateHistory::open(self.history.debate().setup().clone())?;
        let mut last_rendered: Option<RenderedDebate> = None;
        let mut updates = VecDeque::new();
        for recorded in self.history.events() {
            if recorded.seq > after && last_rendered.is_none() {
                last_rendered = Some(RenderedDebate::new(&history, context, None));
            }
            history.apply(recorded.clone())?;
            if let Some(previous) = &last_rendered {
                let rendered = RenderedDebate::new(&history, context, Some(previous));
                updates.push_back(Arc::new(render_update(&rendered, previous, &history)));
                last_rendered = Some(rendered);
            }
        }
        self.recent_updates = updates;
        Ok(())
    }
}

/// Whether a viewer gets the full page instead of single updates: it missed too many of them, or
/// its last event is from the future.
fn needs_full_page(after: u64, last_seq: u64) -> bool {
    after > last_seq || last_seq - after > MAX_CACHED_UPDATES as u64
}

fn render_update(
    rendered: &RenderedDebate,
    previous: &RenderedDebate,
    history: &DebateHistory,
) -> RenderedUpdate {
    let texts = [Viewer::Reader, Viewer::Owner]
        .map(|viewer| sse_update(&rendered.update_since(previous, history, viewer)));
    RenderedUpdate { seq: history.seq(), texts }
}

/// Polls the archive until the feed is dropped.
async fn poll_loop(feeds: Arc<LiveFeeds>, id: String, feed: Weak<LiveFeed>) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let Some(feed) = feed.upgrade() else {
            tracing::debug!(debate = %id, "live feed closed");
            return;
        };
        let feeds = feeds.clone();
        let runtime = tokio::runtime::Handle::current();
        let poll = move || runtime.block_on(feeds.poll_archive(&feed));
        let result = tokio::task::spawn_blocking(poll).await;
        if let Ok(Err(error)) = result {
            tracing::warn!(debate = %id, %error, "live feed cannot read the debate");
        }
    }
}

/// Serializes a page update as a server-sent event. Its id is the sequence number.
fn sse_update(update: &PageUpdate) -> Bytes {
    sse_message(&format!("id: {}\nevent: fragments\n", update.seq), update)
}

fn sse_live_text(live_text: &LiveTextUpdate) -> Bytes {
    sse_message("event: live\n", live_text)
}

fn sse_message(head: &str, data: &impl Serialize) -> Bytes {
    // JSON contains no raw line break, so one `data:` line is enough.
    let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".into());
    Bytes::from(format!("{head}data: {data}\n\n"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewer_that_missed_more_than_128_updates_gets_the_full_page() {
        assert_eq!(MAX_CACHED_UPDATES, 128);
        for (after, expected) in [(200, false), (72, false), (71, true), (201, true)] {
            assert_eq!(needs_full_page(after, 200), expected, "after {after}");
        }
    }
}
