//! What the engine needs of the world. `main` plugs in what fulfils it.
mod archive;
mod change;
mod ground;

pub use archive::{
    Answered, Archive, ArchiveError, Card, Claim, Duplicates, Foreign, Health, Hit, Left, Live,
    News, Opened, Place, Query, Recorded, Reindexed, Stored, Transcript, TranscriptTurn,
    WISH_KEEPS, WishId,
};
pub use change::{Contribution, Idle, Meant, Proposal};
pub use ground::{
    About, BadContext, Before, Briefs, Changed, Context, Evidence, Gathered, Omitted, Pinned,
    Readers, Since, Snapshot, Snapshots, Touching,
};

use super::command::Command;
use super::gate::Gate;
use super::live::{self, Update};
use super::price::Price;
use crate::debate::{Cue, Effort, Envelope, Event, Failure, Kind, Role, Voice};
use crate::redact::Held;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// A future behind a trait object.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Seconds a turn may take where nothing else is known.
pub const PATIENCE: u32 = 240;

/// Gives seats their voices.
pub trait Voices: Send + Sync {
    /// Fetches one reply. Retries and fallbacks happen behind this; a failure here is final.
    /// Dropping the future stops the work and whatever it started.
    fn speak<'a>(&'a self, ask: &'a Ask, stream: Stream) -> Boxed<'a, Result<Said, Failure>>;

    /// Seconds a turn of this voice may take, if nobody says otherwise.
    fn patience(&self, voice: &Voice, effort: Option<Effort>) -> u32 {
        let _ = (voice, effort);
        PATIENCE
    }

    /// Whether what the user has set up can be understood, or why not.
    fn sound(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether a voice could play a seat here, as far as can be told without spending.
    fn playable(&self, voice: &Voice) -> Result<(), Unplayable>;

    /// Why these two cannot be the two sides of one debate, if they cannot.
    fn clash(&self, one: &Voice, other: &Voice) -> Option<String>;

    /// Whether a voice can look into the files of a repository by itself.
    fn reads(&self, voice: &Voice) -> bool {
        let _ = voice;
        false
    }

    /// Whether a voice is a model that can be asked, and not a script.
    fn model(&self, voice: &Voice) -> bool {
        let _ = voice;
        false
    }

    /// The model a tool is asked for where the user names none, if they have said so beforehand.
    fn usual(&self, tool: &str, effort: Option<Effort>) -> Option<String> {
        let _ = (tool, effort);
        None
    }

    /// What a voice costs, where the user has said so: by the model asked for, or the one that says
    /// it has answered.
    fn price(&self, voice: &Voice, reported: Option<&str>) -> Option<Price> {
        let _ = (voice, reported);
        None
    }

    /// Whether a voice says itself what a turn has cost.
    fn tells_cost(&self, voice: &Voice) -> bool {
        let _ = voice;
        false
    }

    /// Everyone who can be called by name, as far as can be told by looking.
    fn listing(&self) -> Vec<Listing> {
        vec![]
    }

    /// Environment variables that are set and hold the key of somebody who can be called, by name.
    fn keys(&self) -> Vec<String> {
        vec![]
    }

    /// What a tool calls its version.
    fn version<'a>(&'a self, tool: &'a str) -> Boxed<'a, Option<String>> {
        let _ = tool;
        Box::pin(async { None })
    }
}

/// Someone who can be called by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Listing {
    /// As a seat is written.
    pub seat: String,
    /// A model of its own, which may be seated without being named.
    pub model: bool,
    /// Whether it could play here and now.
    pub playable: bool,
    /// What it is; why it cannot play, and what to do about that.
    pub note: String,
    /// How it is reached: a program, or an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<String>,
    /// What it calls its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether somebody is logged in, as far as can be told without asking it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Whose models it has, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The models the user has set for it, by effort, or one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The efforts it can be asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// Whether what it costs is known: by the tool itself, or by the user's prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// What became of asking it, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
}

/// One turn to be fetched.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The debate, by id.
    pub debate: String,
    /// Which turn.
    pub cue: Cue,
    /// The name of the seat.
    pub seat: String,
    /// What the seat is there to do.
    pub role: Role,
    /// The row it is asked under.
    pub phase: String,
    /// 0 outside the count.
    pub round: u8,
    /// What it is to answer with.
    pub reply: Kind,
    /// Who speaks for it.
    pub voice: Voice,
    /// How hard it is to think.
    pub effort: Option<Effort>,
    /// What it is told.
    pub prompt: String,
    /// Seconds after which nobody waits for it any more.
    pub seconds: u32,
    /// What its answer must look like, where that is one JSON object.
    pub schema: Option<serde_json::Value>,
    /// Whether it may look things up on the web.
    pub web: bool,
    /// The repository the debate is about, as it is now.
    pub root: PathBuf,
    /// The tree it was opened on, if there was one.
    pub pin: Option<String>,
    /// 1, or 2 if its first answer was not taken.
    pub attempt: u8,
}

/// A reply as it came, and how it came to be.
#[derive(Clone, Debug)]
pub struct Said {
    /// All of it.
    pub text: String,
    /// The engine fills in how long it took.
    pub envelope: Envelope,
}

/// Where a voice puts its words while it speaks. They are told word by word, so that a secret cannot
/// pass in two halves.
#[derive(Clone)]
pub struct Stream {
    cue: Cue,
    live: live::Live,
    held: Arc<Mutex<Option<Held>>>,
}

impl Stream {
    /// The words of a turn, for whoever listens, through the gate of the debate.
    pub fn new(cue: Cue, live: live::Live, gate: &Gate) -> Stream {
        Stream { cue, live, held: Arc::new(Mutex::new(Some(gate.held()))) }
    }

    /// Words nobody hears.
    pub fn unheard(cue: Cue) -> Stream {
        Stream { cue, live: live::Live::default(), held: Arc::default() }
    }

    /// Whose words.
    pub fn cue(&self) -> Cue {
        self.cue
    }

    /// A few more words.
    pub fn delta(&self, text: impl Into<String>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let text = held.as_mut().map(|held| held.push(&text.into())).unwrap_or_default();
        self.say(text);
    }

    /// There are no more.
    pub(super) fn finish(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.say(held.map(Held::finish).unwrap_or_default());
    }

    fn say(&self, text: String) {
        if !text.is_empty() {
            self.live.tell(Update::Delta { cue: self.cue, text });
        }
    }

    /// Something about the turn itself.
    pub(super) fn tell(&self, update: Update) {
        self.live.tell(update);
    }
}

/// Why a voice cannot play a seat here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{voice}` cannot play a seat here: {why}")]
pub struct Unplayable {
    /// As it was written.
    pub voice: String,
    /// What is missing.
    pub why: String,
}

/// Tells the time, in milliseconds since 1970.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> i64;
}

/// Where events are made durable. Holding one is holding the debate: nobody else can write to it.
pub trait Log: Send {
    /// Returns once these events would survive a crash, all of them or none, with the number of
    /// the last.
    fn append(&mut self, events: &[Event]) -> Result<u64, LogError>;

    /// Returns once another process wants something of whoever holds the debate. Whoever fetches a
    /// turn for minutes is to hear of it before they have something to write. Dropping the future
    /// loses no call.
    fn called(&self) -> Boxed<'static, Call> {
        Box::pin(std::future::pending())
    }

    /// As [`Log::append`], and says with the same stroke that a wish was granted, so that nobody can
    /// grant it again. None, if it was withdrawn: then nothing is written.
    fn fulfil(&mut self, wish: WishId, events: &[Event]) -> Result<Option<u64>, LogError> {
        let _ = wish;
        self.append(events).map(Some)
    }

    /// Says that a wish was not granted, and why.
    fn refuse(&mut self, wish: WishId, why: &str) {
        let _ = (wish, why);
    }
}

/// What other processes want of whoever holds a debate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// The debate itself: somebody has taken it over.
    Lost {
        /// Who holds it now.
        by: String,
    },
    /// Something to be recorded, all of it or nothing.
    Wished {
        /// By which it is answered.
        wish: WishId,
        /// In order.
        commands: Vec<Command>,
    },
}

/// Why an event was not written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// This process was away for too long, or somebody wanted it otherwise.
    #[error("{by} has taken this debate over")]
    Lost {
        /// Who holds it now.
        by: String,
    },
    /// Whoever wished for it has withdrawn it.
    #[error("the wish was withdrawn before it was granted")]
    Withdrawn,
    /// The disk, or what lies on it.
    #[error("cannot write to the archive: {0}")]
    Broken(String),
}
