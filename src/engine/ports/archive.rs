//! Where debates are kept, and what is found there.
use super::Log;
use crate::debate::{Event, Setup, Status};
use crate::engine::command::Command;
use crate::engine::live::Update;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use tokio::sync::broadcast;

/// Keeps every debate.
pub trait Archive: Send + Sync {
    /// Starts a log with its first events, and takes its lease. Other debates with the same review
    /// key or game key are checked in the same transaction, as `duplicates` says.
    fn create(
        &self,
        setup: &Setup,
        events: &[Recorded],
        place: &Place,
        duplicates: Duplicates<'_>,
    ) -> Result<Box<dyn Log>, ArchiveError>;
    /// Takes a debate up, for writing. From then on it is written out at `place`, too.
    fn open(&self, id: &str, place: &Place, claim: Claim) -> Result<Opened, ArchiveError>;
    /// Says who this process is, for others that find a debate held by it.
    fn announce(&self, who: &str);
    /// Reads a debate, whoever holds it.
    fn read(&self, id: &str) -> Result<Stored, ArchiveError>;
    /// What has happened to a debate since an event, and who is about to add to it.
    fn news(&self, id: &str, after: u64) -> Result<News, ArchiveError>;
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
    /// Leaves wishes for whoever holds a debate, who looks for them now and then. They are not
    /// granted any more once [`WISH_KEEPS`] is over, whatever became of whoever wished.
    fn wish(&self, id: &str, wishes: &[Command]) -> Result<WishId, ArchiveError>;
    /// What the holder has answered, if anything yet. An answer is read once.
    fn answered(&self, wish: WishId) -> Result<Option<Answered>, ArchiveError>;
    /// Takes a wish back, so that nobody grants it from now on; or what was answered, if it is too
    /// late for that.
    fn withdraw(&self, wish: WishId) -> Result<Option<Answered>, ArchiveError>;
    /// What a file from outside holds, and how far it can be believed.
    fn read_foreign(&self, text: &str) -> Result<Foreign, ArchiveError>;
    /// The state files of a repository that are there, as far as they lie where they seem to, and
    /// what each holds.
    fn left_behind(&self, root: &Path, files: &[PathBuf]) -> Vec<Left>;
    /// Rebuilds everything that is not the truth from what is.
    fn reindex(&self) -> Result<Reindexed, ArchiveError>;
    /// Whether the archive is sound.
    fn health(&self) -> Result<Health, ArchiveError>;
    /// Writes a debate's files anew: a process that was killed may have left them behind the log.
    fn write_out(&self, id: &str) -> Result<(), ArchiveError>;
    /// Every room in which bots wait or sit, as it was last kept.
    fn rooms(&self) -> Result<Vec<String>, ArchiveError>;
    /// Keeps a room, in place of what was kept under its name.
    fn keep_room(&self, id: &str, body: &str) -> Result<(), ArchiveError>;
    /// Returns once everything written so far is also in the files people read.
    fn flush(&self);
    /// A word only this user's programs can make, the same whenever it is asked for: what lets
    /// somebody act who was given it.
    fn password(&self, purpose: &str) -> Result<String, ArchiveError>;
}

/// Names wishes that were left for another process. It says nothing, and is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WishId(pub i64);

/// What became of wishes: all were recorded, or why none was.
pub type Answered = Result<(), String>;

/// For how long wishes can be granted, in milliseconds.
pub const WISH_KEEPS: i64 = 10_000;

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
    #[error("debate `{id}` is already about the same change or game")]
    Duplicate { id: String },
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
    /// Whether a record is written there, too.
    pub record: bool,
}

/// Which other debates about the same change (same review key) or the same game of a tournament may
/// exist in the repository when a debate is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates<'a> {
    /// Any: imports restore what was argued elsewhere.
    Allowed,
    /// Only these ids, which the caller has read and decided to argue again, and only while no
    /// process runs them. Any other is [`ArchiveError::Duplicate`], so that of several processes
    /// that decide at the same time only one opens a debate.
    RefusedExcept(&'a [String]),
}

/// Whether a debate somebody else holds is taken up all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Only if nobody holds it.
    Free,
    /// Whoever holds it loses it: what they would still write is refused.
    Over,
}

/// What has happened to a debate since somebody looked.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// In order.
    pub events: Vec<Recorded>,
    /// Who is running it, if anyone is.
    pub holder: Option<String>,
    /// What is being said right now.
    pub live: Vec<Live>,
}

/// A state file that was found.
#[derive(Debug)]
pub struct Left {
    /// Where.
    pub path: PathBuf,
    /// What it holds, or why that cannot be read.
    pub holds: Result<Foreign, ArchiveError>,
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
    /// Those that are played by this table.
    pub format: Option<String>,
    /// Those that are not over.
    pub unfinished: bool,
    /// Those that review this change under these settings, by their key.
    pub reviews: Option<String>,
    /// Those that review whatever is called so.
    pub subject: Option<String>,
    /// Those that are games of the tournament of this name.
    pub tournament: Option<String>,
    /// Those that are this game of one, by its key.
    pub game: Option<String>,
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
    /// How sure one can be of the verdict, in hundredths.
    pub confidence: Option<u8>,
    /// What became of it in the world: `right`, `wrong`, `reverted`.
    pub proof: Option<String>,
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
    /// Whether somebody led and another questioned, and nobody was to win.
    pub dialogue: bool,
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
