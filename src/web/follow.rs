//! Debates that are watched: one task looks at the archive for each, however many watch, and what
//! an event changes is rendered once for all of them. It makes no difference which process plays.
use super::entry::Entry;
use crate::engine::{Desk, DeskError, News};
use crate::page::live::{Voices, Words};
use crate::page::shown::{Frame, Setting, Shown, Viewer};
use crate::page::story::Story;
use axum::body::Bytes;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::broadcast;

/// How often the archive is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// What a viewer may be behind before it has to catch up.
const BACKLOG: usize = 256;
/// Events that are kept as they were told; whoever was away for longer is shown everything anew.
const KEPT: usize = 128;

/// Everything that is being watched.
pub struct Watchers {
    desk: Desk,
    entry: Arc<Entry>,
    door: String,
    watched: Mutex<HashMap<String, Weak<Watched>>>,
}

/// A debate that is being watched.
pub(super) struct Watched {
    id: String,
    pub(super) sender: broadcast::Sender<Piece>,
    now: Mutex<Now>,
}

/// Something viewers are sent, ready to be sent.
#[derive(Clone)]
pub(super) enum Piece {
    /// What an event changed.
    Event(Arc<Told>),
    /// A few more words.
    Live(Bytes),
    /// It is over.
    End,
}

/// What an event changed, for those who read and those who may act.
pub(super) struct Told {
    pub(super) seq: u64,
    texts: [Bytes; 2],
}

impl Told {
    pub(super) fn text(&self, viewer: Viewer) -> Bytes {
        self.texts[viewer as usize].clone()
    }
}

/// A debate as far as it was followed.
struct Now {
    story: Story,
    shown: Shown,
    /// What the last events changed, without a gap.
    told: VecDeque<Arc<Told>>,
    voices: Voices,
}

/// What somebody who begins to watch is sent first.
pub(super) struct Start {
    pub(super) pieces: Vec<Piece>,
    pub(super) receiver: broadcast::Receiver<Piece>,
    pub(super) seq: u64,
}

impl Watchers {
    /// Nobody watches anything yet. `door` says how somebody who may only read could enter.
    pub fn new(desk: Desk, entry: Arc<Entry>, door: String) -> Watchers {
        Watchers { desk, entry, door, watched: Mutex::default() }
    }

    /// Where a debate is shown.
    pub fn setting(&self, id: &str) -> Setting<'_> {
        let links = Some(format!("/debates/{id}"));
        Setting { links, pass: self.entry.csrf(), door: &self.door, column: "" }
    }

    /// A debate, watched from now on for as long as somebody holds it. Blocks.
    pub(super) fn watch(self: &Arc<Watchers>, id: &str) -> Result<Arc<Watched>, DeskError> {
        let mut all = held(&self.watched);
        all.retain(|_, watched| watched.strong_count() > 0);
        if let Some(watched) = all.get(id).and_then(Weak::upgrade) {
            return Ok(watched);
        }
        let stored = self.desk.archive().read(id)?;
        let story = Story::of(&stored, None)?;
        let shown = Shown::new(&story, &self.setting(id), None);
        let mut now = Now { story, shown, told: VecDeque::new(), voices: Voices::default() };
        let live = self.desk.archive().live(id)?;
        now.voices.hear(now.story.debate(), &live);
        let (id, sender) = (id.to_owned(), broadcast::channel(BACKLOG).0);
        let watched = Arc::new(Watched { id: id.clone(), sender, now: Mutex::new(now) });
        all.insert(id, Arc::downgrade(&watched));
        tokio::spawn(follow(self.clone(), Arc::downgrade(&watched)));
        Ok(watched)
    }

    /// What has happened since somebody looked last. Blocks.
    fn look(&self, watched: &Watched) -> Result<(), DeskError> {
        let seq = held(&watched.now).story.seq();
        let news = self.desk.archive().news(&watched.id, seq)?;
        // Sent while nobody can begin to watch, so that nobody misses or repeats one.
        let mut now = held(&watched.now);
        for piece in self.take(&mut now, &watched.id, news)? {
            let _ = watched.sender.send(piece);
        }
        Ok(())
    }

    fn take(&self, now: &mut Now, id: &str, news: News) -> Result<Vec<Piece>, DeskError> {
        let mut pieces = vec![];
        let over = now.story.over();
        for recorded in news.events {
            let told = now.go_on(recorded, &self.setting(id))?;
            pieces.push(Piece::Event(told));
        }
        let Now { story, voices, .. } = &mut *now;
        let words = voices.hear(story.debate(), &news.live);
        pieces.extend(words.iter().map(|words| Piece::Live(live(words))));
        if now.story.over() && !(over && pieces.is_empty()) {
            pieces.push(Piece::End);
        }
        Ok(pieces)
    }

    /// What somebody is sent who has seen everything up to an event, and where the rest comes from.
    /// Blocks.
    pub(super) fn start(
        &self,
        watched: &Watched,
        after: Option<u64>,
        viewer: Viewer,
    ) -> Result<Start, DeskError> {
        let mut now = held(&watched.now);
        let last = now.story.seq();
        let after = after.unwrap_or(last);
        let behind = last.saturating_sub(after);
        let mut pieces = vec![];
        if after > last || behind > KEPT as u64 {
            let frame = now.shown.whole(viewer);
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
        pieces.extend(now.voices.all().iter().map(|words| Piece::Live(live(words))));
        if now.story.over() {
            pieces.push(Piece::End);
        }
        Ok(Start { pieces, receiver: watched.sender.subscribe(), seq: last })
    }
}

impl Now {
    fn go_on(
        &mut self,
        recorded: crate::engine::Recorded,
        setting: &Setting<'_>,
    ) -> Result<Arc<Told>, DeskError> {
        self.story.take(recorded)?;
        let shown = Shown::new(&self.story, setting, Some(&self.shown));
        let told = Arc::new(changed(&shown, &self.shown, &self.story));
        self.shown = shown;
        self.told.push_back(told.clone());
        if self.told.len() > KEPT {
            self.told.pop_front();
        }
        Ok(told)
    }

    /// Tells the last events again, as they were told when they happened.
    fn backfill(&mut self, after: u64, setting: &Setting<'_>) -> Result<(), DeskError> {
        let mut story = Story::open(self.story.debate().setup().clone())?;
        let mut before: Option<Shown> = None;
        let mut told = VecDeque::new();
        for recorded in self.story.events() {
            if recorded.seq > after && before.is_none() {
                before = Some(Shown::new(&story, setting, None));
            }
            story.take(recorded.clone())?;
            if let Some(known) = &before {
                let shown = Shown::new(&story, setting, Some(known));
                told.push_back(Arc::new(changed(&shown, known, &story)));
                before = Some(shown);
            }
        }
        self.told = told;
        Ok(())
    }
}

fn changed(shown: &Shown, before: &Shown, story: &Story) -> Told {
    let texts =
        [Viewer::Reader, Viewer::Owner].map(|viewer| event(&shown.since(before, story, viewer)));
    Told { seq: story.seq(), texts }
}

/// Looks for as long as somebody watches.
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

/// An event as it is sent.
fn event(frame: &Frame) -> Bytes {
    sent(&format!("id: {}\nevent: fragments\n", frame.seq), frame)
}

fn live(words: &Words) -> Bytes {
    sent("event: live\n", words)
}

fn sent(head: &str, data: &impl Serialize) -> Bytes {
    // JSON has no line ends of its own, so one line of data is all of it.
    let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".into());
    Bytes::from(format!("{head}data: {data}\n\n"))
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
