//! Live feeds for the event stream. One task per watched debate polls the archive, whatever process
//! runs the debate, and renders each update once for all viewers. `event_stream` sends them to a
//! viewer.
use super::auth::AuthTokens;
use crate::engine::{App, AppError, DebateNews};
use crate::page::history::DebateHistory;
use crate::page::live::{LiveTextUpdate, LiveTurns};
use crate::page::rendered::{PageUpdate, RenderContext, RenderedDebate, Viewer};
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
    /// Creates an empty registry. `door` is the sign-in hint for viewers that may only read.
    pub fn new(app: App, auth: Arc<AuthTokens>, sign_in_hint: String) -> LiveFeeds {
        LiveFeeds { app, auth, sign_in_hint, feeds: Mutex::default() }
    }

    /// Render context of a debate page.
    pub fn render_context(&self, id: &str) -> RenderContext<'_> {
        let links = Some(format!("/debates/{id}"));
        RenderContext {
            debate_url: links,
            csrf_token: self.auth.csrf_token(),
            sign_in_hint: &self.sign_in_hint,
            id_prefix: "",
        }
    }

    /// Returns the feed of a debate, and starts its task if needed. It runs while the caller holds
    /// the feed. Blocks on the database.
    pub(super) fn open_feed(self: &Arc<LiveFeeds>, id: &str) -> Result<Arc<LiveFeed>, AppError> {
        let mut all = lock(&self.feeds);
        all.retain(|_, watched| watched.strong_count() > 0);
        if let Some(watched) = all.get(id).and_then(Weak::upgrade) {
            return Ok(watched);
        }
        let stored = self.app.archive().read(id)?;
        let story = DebateHistory::from_stored(&stored, None)?;
        let shown = RenderedDebate::new(&story, &self.render_context(id), None);
        let mut now = FeedState {
            history: story,
            rendered: shown,
            recent_updates: VecDeque::new(),
            live_turns: LiveTurns::default(),
        };
        let live = self.app.archive().live_texts(id)?;
        now.live_turns.update(now.history.debate(), &live);
        let (id, sender) = (id.to_owned(), broadcast::channel(CHANNEL_CAPACITY).0);
        let watched = Arc::new(LiveFeed { id: id.clone(), sender, state: Mutex::new(now) });
        all.insert(id, Arc::downgrade(&watched));
        tokio::spawn(poll_loop(self.clone(), Arc::downgrade(&watched)));
        Ok(watched)
    }

    /// Reads new events and broadcasts the updates. Blocks on the database.
    fn poll_archive(&self, watched: &LiveFeed) -> Result<(), AppError> {
        let seq = lock(&watched.state).history.seq();
        let news = self.app.archive().news_since(&watched.id, seq)?;
        // Send under the lock. A new viewer subscribes under it too, so it misses no message and
        // gets none twice.
        let mut now = lock(&watched.state);
        for piece in self.apply_news(&mut now, &watched.id, news)? {
            let _ = watched.sender.send(piece);
        }
        Ok(())
    }

    fn apply_news(
        &self,
        now: &mut FeedState,
        id: &str,
        news: DebateNews,
    ) -> Result<Vec<FeedMessage>, AppError> {
        let mut pieces = vec![];
        let over = now.history.is_over();
        for recorded in news.events {
            let told = now.apply_event(recorded, &self.render_context(id))?;
            pieces.push(FeedMessage::Update(told));
        }
        let FeedState { history: story, live_turns: voices, .. } = &mut *now;
        let words = voices.update(story.debate(), &news.live_texts);
        pieces.extend(words.iter().map(|words| FeedMessage::LiveText(sse_live_text(words))));
        if now.history.is_over() && !(over && pieces.is_empty()) {
            pieces.push(FeedMessage::End);
        }
        Ok(pieces)
    }

    /// Returns the messages that a viewer missed after an event, and subscribes it to the rest. May
    /// block.
    pub(super) fn start_viewer(
        &self,
        watched: &LiveFeed,
        after: Option<u64>,
        viewer: Viewer,
    ) -> Result<FeedStart, AppError> {
        let mut now = lock(&watched.state);
        let last = now.history.seq();
        let after = after.unwrap_or(last);
        let behind = last.saturating_sub(after);
        let mut pieces = vec![];
        if after > last || behind > MAX_CACHED_UPDATES as u64 {
            let frame = now.rendered.full_update(viewer);
            let text = sse_update(&frame);
            let told = RenderedUpdate { seq: last, texts: [text.clone(), text] };
            pieces.push(FeedMessage::Update(Arc::new(told)));
        } else if behind > 0 {
            if now.recent_updates.front().is_none_or(|first| first.seq > after + 1) {
                now.backfill(after, &self.render_context(&watched.id))?;
            }
            let missed = now.recent_updates.iter().filter(|told| told.seq > after);
            pieces.extend(missed.cloned().map(FeedMessage::Update));
        }
        pieces.extend(
            now.live_turns
                .snapshot()
                .iter()
                .map(|words| FeedMessage::LiveText(sse_live_text(words))),
        );
        if now.history.is_over() {
            pieces.push(FeedMessage::End);
        }
        Ok(FeedStart { messages: pieces, receiver: watched.sender.subscribe(), last_seq: last })
    }
}

impl FeedState {
    fn apply_event(
        &mut self,
        recorded: crate::engine::RecordedEvent,
        setting: &RenderContext<'_>,
    ) -> Result<Arc<RenderedUpdate>, AppError> {
        self.history.apply(recorded)?;
        let shown = RenderedDebate::new(&self.history, setting, Some(&self.rendered));
        let told = Arc::new(render_update(&shown, &self.rendered, &self.history));
        self.rendered = shown;
        self.recent_updates.push_back(told.clone());
        if self.recent_updates.len() > MAX_CACHED_UPDATES {
            self.recent_updates.pop_front();
        }
        Ok(told)
    }

    /// Renders the last updates again, to fill the cache.
    fn backfill(&mut self, after: u64, setting: &RenderContext<'_>) -> Result<(), AppError> {
        let mut story = DebateHistory::open(self.history.debate().setup().clone())?;
        let mut before: Option<RenderedDebate> = None;
        let mut told = VecDeque::new();
        for recorded in self.history.events() {
            if recorded.seq > after && before.is_none() {
                before = Some(RenderedDebate::new(&story, setting, None));
            }
            story.apply(recorded.clone())?;
            if let Some(known) = &before {
                let shown = RenderedDebate::new(&story, setting, Some(known));
                told.push_back(Arc::new(render_update(&shown, known, &story)));
                before = Some(shown);
            }
        }
        self.recent_updates = told;
        Ok(())
    }
}

fn render_update(
    shown: &RenderedDebate,
    before: &RenderedDebate,
    story: &DebateHistory,
) -> RenderedUpdate {
    let texts = [Viewer::Reader, Viewer::Owner]
        .map(|viewer| sse_update(&shown.update_since(before, story, viewer)));
    RenderedUpdate { seq: story.seq(), texts }
}

/// Polls the archive until the feed is dropped.
async fn poll_loop(watchers: Arc<LiveFeeds>, watched: Weak<LiveFeed>) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let Some(watched) = watched.upgrade() else { return };
        let watchers = watchers.clone();
        let looked = tokio::task::spawn_blocking(move || watchers.poll_archive(&watched)).await;
        if let Ok(Err(error)) = looked {
            tracing::warn!("a debate could not be followed: {error}");
        }
    }
}

/// Serializes a page update as a server-sent event. Its id is the sequence number.
fn sse_update(frame: &PageUpdate) -> Bytes {
    sse_message(&format!("id: {}\nevent: fragments\n", frame.seq), frame)
}

fn sse_live_text(words: &LiveTextUpdate) -> Bytes {
    sse_message("event: live\n", words)
}

fn sse_message(head: &str, data: &impl Serialize) -> Bytes {
    // JSON contains no raw line break, so one `data:` line is enough.
    let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".into());
    Bytes::from(format!("{head}data: {data}\n\n"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
