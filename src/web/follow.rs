//! Live feeds for the event stream. One task per watched debate polls the archive, whatever process
//! runs the debate, and renders each update once for all viewers. `event_stream` sends them to a
//! viewer.
use super::entry::Entry;
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
const LOOK: Duration = Duration::from_millis(200);
/// Capacity of the broadcast channel. A viewer that lags further behind catches up from the feed.
const BACKLOG: usize = 256;
/// Number of rendered updates to cache. A viewer that missed more gets the full page.
const KEPT: usize = 128;

/// All live feeds, by debate id.
pub struct Watchers {
    desk: App,
    entry: Arc<Entry>,
    door: String,
    watched: Mutex<HashMap<String, Weak<Watched>>>,
}

/// Live feed of one debate. It is dropped with its last viewer.
pub(super) struct Watched {
    id: String,
    pub(super) sender: broadcast::Sender<Piece>,
    now: Mutex<Now>,
}

/// A serialized message of the feed.
#[derive(Clone)]
pub(super) enum Piece {
    /// Page update caused by an event.
    Event(Arc<Told>),
    /// New text of a running turn.
    Live(Bytes),
    /// The debate is over.
    End,
}

/// Serialized page update, per access level of the viewer.
pub(super) struct Told {
    pub(super) seq: u64,
    texts: [Bytes; 2],
}

impl Told {
    pub(super) fn text(&self, viewer: Viewer) -> Bytes {
        self.texts[viewer as usize].clone()
    }
}

/// State of the debate as of the last poll.
struct Now {
    story: DebateHistory,
    shown: RenderedDebate,
    /// Cache of the last updates, without gaps.
    told: VecDeque<Arc<Told>>,
    voices: LiveTurns,
}

/// First messages for a new viewer.
pub(super) struct Start {
    pub(super) pieces: Vec<Piece>,
    pub(super) receiver: broadcast::Receiver<Piece>,
    pub(super) seq: u64,
}

impl Watchers {
    /// Creates an empty registry. `door` is the sign-in hint for viewers that may only read.
    pub fn new(desk: App, entry: Arc<Entry>, door: String) -> Watchers {
        Watchers { desk, entry, door, watched: Mutex::default() }
    }

    /// Render context of a debate page.
    pub fn setting(&self, id: &str) -> RenderContext<'_> {
        let links = Some(format!("/debates/{id}"));
        RenderContext {
            debate_url: links,
            csrf_token: self.entry.csrf(),
            sign_in_hint: &self.door,
            id_prefix: "",
        }
    }

    /// Returns the feed of a debate, and starts its task if needed. It runs while the caller holds
    /// the feed. Blocks on the database.
    pub(super) fn watch(self: &Arc<Watchers>, id: &str) -> Result<Arc<Watched>, AppError> {
        let mut all = held(&self.watched);
        all.retain(|_, watched| watched.strong_count() > 0);
        if let Some(watched) = all.get(id).and_then(Weak::upgrade) {
            return Ok(watched);
        }
        let stored = self.desk.archive().read(id)?;
        let story = DebateHistory::from_stored(&stored, None)?;
        let shown = RenderedDebate::new(&story, &self.setting(id), None);
        let mut now = Now { story, shown, told: VecDeque::new(), voices: LiveTurns::default() };
        let live = self.desk.archive().live_texts(id)?;
        now.voices.update(now.story.debate(), &live);
        let (id, sender) = (id.to_owned(), broadcast::channel(BACKLOG).0);
        let watched = Arc::new(Watched { id: id.clone(), sender, now: Mutex::new(now) });
        all.insert(id, Arc::downgrade(&watched));
        tokio::spawn(follow(self.clone(), Arc::downgrade(&watched)));
        Ok(watched)
    }

    /// Reads new events and broadcasts the updates. Blocks on the database.
    fn look(&self, watched: &Watched) -> Result<(), AppError> {
        let seq = held(&watched.now).story.seq();
        let news = self.desk.archive().news_since(&watched.id, seq)?;
        // Send under the lock. A new viewer subscribes under it too, so it misses no message and
        // gets none twice.
        let mut now = held(&watched.now);
        for piece in self.take(&mut now, &watched.id, news)? {
            let _ = watched.sender.send(piece);
        }
        Ok(())
    }

    fn take(&self, now: &mut Now, id: &str, news: DebateNews) -> Result<Vec<Piece>, AppError> {
        let mut pieces = vec![];
        let over = now.story.is_over();
        for recorded in news.events {
            let told = now.go_on(recorded, &self.setting(id))?;
            pieces.push(Piece::Event(told));
        }
        let Now { story, voices, .. } = &mut *now;
        let words = voices.update(story.debate(), &news.live_texts);
        pieces.extend(words.iter().map(|words| Piece::Live(live(words))));
        if now.story.is_over() && !(over && pieces.is_empty()) {
            pieces.push(Piece::End);
        }
        Ok(pieces)
    }

    /// Returns the messages that a viewer missed after an event, and subscribes it to the rest. May
    /// block.
    pub(super) fn start(
        &self,
        watched: &Watched,
        after: Option<u64>,
        viewer: Viewer,
    ) -> Result<Start, AppError> {
        let mut now = held(&watched.now);
        let last = now.story.seq();
        let after = after.unwrap_or(last);
        let behind = last.saturating_sub(after);
        let mut pieces = vec![];
        if after > last || behind > KEPT as u64 {
            let frame = now.shown.full_update(viewer);
            let text = event(&frame);
            let told = Told { seq: last, texts: [text.clone(), text] };
            pieces.push(Piece::Event(Arc::new(told)));
        } else if behind > 0 {
            if now.told.front().is_none_or(|first| first.seq > after + 1) {
                now.backfill(after, &self.setting(&watched.id))?;
            }
            let missed = now.told.iter().filter(|told| told.seq > after);
            pieces.extend(missed.cloned().map(Piece::Event));
        }
        pieces.extend(now.voices.snapshot().iter().map(|words| Piece::Live(live(words))));
        if now.story.is_over() {
            pieces.push(Piece::End);
        }
        Ok(Start { pieces, receiver: watched.sender.subscribe(), seq: last })
    }
}

impl Now {
    fn go_on(
        &mut self,
        recorded: crate::engine::RecordedEvent,
        setting: &RenderContext<'_>,
    ) -> Result<Arc<Told>, AppError> {
        self.story.apply(recorded)?;
        let shown = RenderedDebate::new(&self.story, setting, Some(&self.shown));
        let told = Arc::new(changed(&shown, &self.shown, &self.story));
        self.shown = shown;
        self.told.push_back(told.clone());
        if self.told.len() > KEPT {
            self.told.pop_front();
        }
        Ok(told)
    }

    /// Renders the last updates again, to fill the cache.
    fn backfill(&mut self, after: u64, setting: &RenderContext<'_>) -> Result<(), AppError> {
        let mut story = DebateHistory::open(self.story.debate().setup().clone())?;
        let mut before: Option<RenderedDebate> = None;
        let mut told = VecDeque::new();
        for recorded in self.story.events() {
            if recorded.seq > after && before.is_none() {
                before = Some(RenderedDebate::new(&story, setting, None));
            }
            story.apply(recorded.clone())?;
            if let Some(known) = &before {
                let shown = RenderedDebate::new(&story, setting, Some(known));
                told.push_back(Arc::new(changed(&shown, known, &story)));
                before = Some(shown);
            }
        }
        self.told = told;
        Ok(())
    }
}

fn changed(shown: &RenderedDebate, before: &RenderedDebate, story: &DebateHistory) -> Told {
    let texts = [Viewer::Reader, Viewer::Owner]
        .map(|viewer| event(&shown.update_since(before, story, viewer)));
    Told { seq: story.seq(), texts }
}

/// Polls the archive until the feed is dropped.
async fn follow(watchers: Arc<Watchers>, watched: Weak<Watched>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(watched) = watched.upgrade() else { return };
        let watchers = watchers.clone();
        let looked = tokio::task::spawn_blocking(move || watchers.look(&watched)).await;
        if let Ok(Err(error)) = looked {
            tracing::warn!("a debate could not be followed: {error}");
        }
    }
}

/// Serializes a page update as a server-sent event. Its id is the sequence number.
fn event(frame: &PageUpdate) -> Bytes {
    sent(&format!("id: {}\nevent: fragments\n", frame.seq), frame)
}

fn live(words: &LiveTextUpdate) -> Bytes {
    sent("event: live\n", words)
}

fn sent(head: &str, data: &impl Serialize) -> Bytes {
    // JSON contains no raw line break, so one `data:` line is enough.
    let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".into());
    Bytes::from(format!("{head}data: {data}\n\n"))
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
