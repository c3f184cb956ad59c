//! What the engine needs of the world. `main` plugs in what fulfils it.
use super::live::{self, Update};
use super::price::Price;
use crate::debate::{Cue, Effort, Envelope, Event, Failure, Kind, Role, Setup, Status, Voice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use tokio::sync::broadcast;

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

/// Gathers what debaters are given besides the topic.
pub trait Briefs: Send + Sync {
    /// `none`, or `file=PATH`.
    fn brief(&self, wanted: &str) -> Result<String, BadContext>;

    /// What stands in a repository now, as one tree with a name; none where there is no repository.
    fn pin(&self, root: &Path) -> Result<Option<Pinned>, BadContext>;
}

/// What stood in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// The name of the tree.
    pub tree: String,
    /// What stands there and is not in it, in a few words; nothing, if all of it is.
    pub left_out: String,
}

/// Gives tools something to read that does not change and holds nothing they must not read.
pub trait Snapshots: Send + Sync {
    /// A copy of a pinned tree. It stays for as long as it is held.
    fn snapshot(&self, root: &Path, pin: &str) -> Result<Snapshot, BadContext>;
}

/// A copy of a pinned tree.
pub struct Snapshot {
    /// Where it is.
    pub folder: PathBuf,
    /// What is not in it, in a few words; nothing, if all of it is.
    pub left_out: String,
    /// Keeps it there.
    pub hold: Box<dyn std::any::Any + Send + Sync>,
}

/// Why there is no brief.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadContext(pub String);

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

/// Where a voice puts its words while it speaks.
#[derive(Clone)]
pub struct Stream {
    /// Whose words.
    pub cue: Cue,
    /// Who listens.
    pub live: live::Live,
}

impl Stream {
    /// A few more words.
    pub fn delta(&self, text: impl Into<String>) {
        self.live.tell(Update::Delta { cue: self.cue, text: text.into() });
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
}

/// Why an event was not written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// This process was away for too long.
    #[error("another process has taken this debate over")]
    Lost,
    /// The disk, or what lies on it.
    #[error("cannot write to the archive: {0}")]
    Broken(String),
}

/// Keeps every debate.
pub trait Archive: Send + Sync {
    /// Starts a log, with what happens at once or has happened elsewhere.
    fn create(
        &self,
        setup: &Setup,
        events: &[Recorded],
        place: &Place,
    ) -> Result<Box<dyn Log>, ArchiveError>;
    /// Takes a debate up, for writing. From then on it is written out at `place`, too.
    fn open(&self, id: &str, place: &Place) -> Result<Opened, ArchiveError>;
    /// Reads a debate, whoever holds it.
    fn read(&self, id: &str) -> Result<Stored, ArchiveError>;
    /// The id this abbreviates, if it abbreviates one.
    fn find(&self, abbreviation: &str) -> Result<String, ArchiveError>;
    /// The debates a query fits, the one touched last first.
    fn list(&self, query: &Query) -> Result<Vec<Card>, ArchiveError>;
    /// The questions and turns in which these words stand, the newest first.
    fn search(&self, words: &str, query: &Query) -> Result<Vec<Hit>, ArchiveError>;
    /// What is being said right now, by whichever process.
    fn live(&self, id: &str) -> Result<Vec<Live>, ArchiveError>;
    /// Lets other processes read what is being said, now and then.
    fn watch(&self, id: &str, updates: broadcast::Receiver<std::sync::Arc<Update>>);
    /// What a file from outside holds, and how far it can be believed.
    fn read_foreign(&self, text: &str) -> Result<Foreign, ArchiveError>;
    /// Rebuilds everything that is not the truth from what is.
    fn reindex(&self) -> Result<Reindexed, ArchiveError>;
    /// Whether the archive is sound.
    fn health(&self) -> Result<Health, ArchiveError>;
    /// Writes a debate's files anew: a process that was killed may have left them behind the log.
    fn write_out(&self, id: &str) -> Result<(), ArchiveError>;
    /// Returns once everything written so far is also in the files people read.
    fn flush(&self);
}

/// Why the archive could not do it.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArchiveError {
    #[error("there is no debate `{0}`")]
    Unknown(String),
    #[error("`{0}` fits {1} debates")]
    Ambiguous(String, usize),
    #[error("there is a debate `{0}` already")]
    Taken(String),
    #[error("debate `{id}` is being run by {holder}")]
    Busy { id: String, holder: String },
    #[error("this file cannot be read as a debate: {0}")]
    Foreign(String),
    #[error("the archive was written by a newer version of this program (schema {0})")]
    TooNew(i64),
    #[error("the archive failed: {0}")]
    Broken(String),
}

/// Where a debate belongs, and where it is written out for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The repository, or the folder if there is none: what debates are found by.
    pub root: PathBuf,
    /// Its `last-debate.json`; none, if it is not to be written there.
    pub state_file: Option<PathBuf>,
}

/// A debate taken up.
pub struct Opened {
    /// To write to.
    pub log: Box<dyn Log>,
    /// What it is.
    pub stored: Stored,
}

/// A debate as it lies in the archive.
#[derive(Clone, Debug)]
pub struct Stored {
    /// How it was opened.
    pub setup: Setup,
    /// What has been recorded since.
    pub events: Vec<Recorded>,
    /// The first event that could not even be read, and why.
    pub unreadable: Option<(u64, String)>,
    /// Who is running it, if anyone is.
    pub holder: Option<String>,
    /// Where it is written out for people.
    pub record: Option<PathBuf>,
    /// Every state file it was ever written to, and the repository each belongs to.
    pub state_files: Vec<(PathBuf, PathBuf)>,
}

/// An event, and when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// Counted from 1.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// What happened.
    pub event: Event,
}

impl Recorded {
    /// Events that happen at one moment, numbered after the last one known.
    pub fn after(last: u64, events: &[Event], at: i64) -> Vec<Recorded> {
        let recorded = |(seq, event): (u64, &Event)| Recorded { seq, at, event: event.clone() };
        (last + 1..).zip(events).map(recorded).collect()
    }
}

/// Which debates are meant.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Those that belong here.
    pub root: Option<PathBuf>,
    /// Those that stand so.
    pub status: Option<Status>,
    /// Those that are not over.
    pub unfinished: bool,
    /// No more than this.
    pub limit: Option<usize>,
}

/// A debate in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Card {
    /// Its name.
    pub id: String,
    /// Its question.
    pub topic: String,
    /// The table it is played by.
    pub format: String,
    /// How it stands.
    pub status: Status,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
    /// The repository or folder it belongs to.
    pub root: String,
    /// Both sides, as they are written.
    pub proposer: Option<String>,
    /// Both sides, as they are written.
    pub challenger: Option<String>,
    /// By tool, or by side where both tools are the same.
    pub winner: Option<String>,
    /// `demo`, `single-model`, `imported`.
    pub labels: Vec<String>,
}

/// A turn that was searched for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// The debate.
    pub id: String,
    /// Its question.
    pub topic: String,
    /// The turn; none if the words stand in the question.
    pub turn: Option<String>,
    /// The round of that turn.
    pub round: Option<u8>,
    /// Who spoke.
    pub seat: Option<String>,
    /// The words, with a little of what stands around them.
    pub excerpt: String,
}

/// What is being said right now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Live {
    /// The turn.
    pub turn: String,
    /// What has come of it so far.
    pub text: String,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// What a file from outside holds.
#[derive(Clone, Debug)]
pub enum Foreign {
    /// A log this user's own program wrote: it can be taken up as it is.
    Ours(Box<Setup>, Vec<Recorded>),
    /// Anything else: what was said, and by whom. Nothing more is believed.
    Transcript(Transcript),
}

/// What was said in a debate held elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The id it had there.
    pub id: Option<String>,
    /// The question.
    pub topic: String,
    /// How many rounds were to be played.
    pub rounds: Option<u8>,
    /// In the order they were taken.
    pub turns: Vec<TranscriptTurn>,
}

/// One speech of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptTurn {
    /// Counted from 1.
    pub round: u8,
    /// For or against.
    pub side: crate::debate::Side,
    /// Who is said to have spoken.
    pub tool: String,
    /// What.
    pub text: String,
    /// How long it is said to have taken.
    pub duration_ms: u64,
}

/// What rebuilding came to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reindexed {
    /// Debates read.
    pub debates: usize,
    /// Events read.
    pub events: usize,
    /// Turns written to the tables.
    pub messages: usize,
    /// Debates whose log is not one this program could have written, and why.
    pub flawed: Vec<String>,
}

/// How the archive is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Health {
    /// Where it lies.
    pub path: String,
    /// Its schema.
    pub version: i64,
    /// Debates in it.
    pub debates: usize,
    /// What is wrong with it.
    pub problems: Vec<String>,
}
