//! The archive port: stores debates as event logs, and everything that reads, lists or searches
//! them.
//!
//! [`Archive`] is implemented by `store` with SQLite. Writing needs the debate's lease, reading
//! does not.
use super::Log;
use crate::debate::{Event, Setup, Status};
use crate::engine::command::Command;
use crate::engine::updates::Update;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use tokio::sync::broadcast;

/// Database of all debates, with leases, search, a command queue and arena rooms.
pub trait Archive: Send + Sync {
    /// Creates a debate's log with its first events and takes its lease. Other debates with the
    /// same review key or game key are checked in the same transaction, by the policy `duplicates`.
    fn create(
        &self,
        setup: &Setup,
        events: &[RecordedEvent],
        workspace: &Workspace,
        duplicates: DuplicatePolicy<'_>,
    ) -> Result<Box<dyn Log>, ArchiveError>;
    /// Takes the lease of a debate and opens its log for writing. From then on its exports are
    /// written to `workspace`, too.
    fn open(
        &self,
        id: &str,
        workspace: &Workspace,
        lease_mode: LeaseMode,
    ) -> Result<OpenedDebate, ArchiveError>;
    /// Sets the name other processes see as the holder of this process's leases.
    fn set_holder_name(&self, name: &str);
    /// Reads a debate. Needs no lease.
    fn read(&self, id: &str) -> Result<StoredDebate, ArchiveError>;
    /// Events after a sequence number, the current lease holder and the live text, for polling.
    fn news_since(&self, id: &str, after: u64) -> Result<DebateNews, ArchiveError>;
    /// Resolves an abbreviated id.
    fn resolve_id(&self, abbreviation: &str) -> Result<String, ArchiveError>;
    /// Lists the debates a query matches, the most recently updated first.
    fn list(&self, query: &DebateQuery) -> Result<Vec<DebateCard>, ArchiveError>;
    /// Searches topics and turns for words, the newest first.
    fn search(&self, words: &str, query: &DebateQuery) -> Result<Vec<SearchHit>, ArchiveError>;
    /// Partial text of the turns that are being streamed, in any process.
    fn live_texts(&self, id: &str) -> Result<Vec<LiveText>, ArchiveError>;
    /// Stores the live text of these updates from time to time, in the background, so that other
    /// processes can read it.
    fn publish_live_text(&self, id: &str, updates: broadcast::Receiver<std::sync::Arc<Update>>);
    /// Queues commands for the process that holds a debate's lease, which polls the queue. They
    /// expire after [`COMMAND_TTL_MS`], even if the sender is gone.
    fn enqueue_commands(
        &self,
        id: &str,
        commands: &[Command],
    ) -> Result<QueuedCommandId, ArchiveError>;
    /// Result of queued commands, once the holder has written it. It is read once and then deleted.
    fn command_result(
        &self,
        command_id: QueuedCommandId,
    ) -> Result<Option<CommandResult>, ArchiveError>;
    /// Withdraws queued commands so that they never run. Returns their result if it is too late.
    fn withdraw_commands(
        &self,
        command_id: QueuedCommandId,
    ) -> Result<Option<CommandResult>, ArchiveError>;
    /// Parses a file from outside and verifies its signature, which decides how far it is trusted.
    fn parse_foreign(&self, text: &str) -> Result<ForeignDebate, ArchiveError>;
    /// Reads and parses those of these state files of a repository that exist. A symlink or other
    /// path that leads out of the repository is an error.
    fn read_state_files(&self, root: &Path, files: &[PathBuf]) -> Vec<FoundStateFile>;
    /// Rebuilds every derived table and index from the event logs.
    fn reindex(&self) -> Result<ReindexReport, ArchiveError>;
    /// Checks the integrity of the database.
    fn health(&self) -> Result<ArchiveHealth, ArchiveError>;
    /// Rewrites a debate's exports from its log. A killed process may have left them stale.
    fn write_exports(&self, id: &str) -> Result<(), ArchiveError>;
    /// Every arena room, serialized as it was last saved.
    fn list_rooms(&self) -> Result<Vec<String>, ArchiveError>;
    /// Inserts or replaces an arena room.
    fn save_room(&self, id: &str, body: &str) -> Result<(), ArchiveError>;
    /// Waits until all exports are up to date with the log.
    fn flush_exports(&self);
    /// Derives a secret token for this purpose from the user's key (HMAC). The same purpose always
    /// gives the same token. Used for login and CSRF tokens.
    fn derive_token(&self, purpose: &str) -> Result<String, ArchiveError>;
}

/// Id of a batch of queued commands. Opaque and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueuedCommandId(pub i64);

/// Result of queued commands: all were recorded, or the error message.
pub type CommandResult = Result<(), String>;

/// How long a queued command stays valid, in milliseconds.
pub const COMMAND_TTL_MS: i64 = 10_000;

/// Errors of the archive.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArchiveError {
    #[error("there is no debate `{0}`")]
    UnknownDebate(String),
    #[error("`{0}` matches {1} debates")]
    AmbiguousId(String, usize),
    #[error("there is a debate `{0}` already")]
    IdTaken(String),
    #[error("debate `{id}` is being run by {holder}")]
    LeaseHeld { id: String, holder: String },
    #[error("debate `{id}` is already about the same change or game")]
    Duplicate { id: String },
    #[error("this file cannot be read as a debate: {0}")]
    UnreadableFile(String),
    #[error("the archive was written by a newer version of this program (schema {0})")]
    SchemaTooNew(i64),
    #[error("the archive failed: {0}")]
    Storage(String),
}

/// Where a debate belongs: its repository, and the paths of its exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Root of the repository, or the folder if there is none. Debates are listed by it.
    pub root: PathBuf,
    /// Path of `last-debate.json`, or `None` to write no state file.
    pub state_file: Option<PathBuf>,
    /// Whether the Markdown record is written, too.
    pub write_record: bool,
}

/// Whether a debate may be created if the repository already has one with the same review key or
/// the same game key of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicatePolicy<'a> {
    /// Always. For imports, which restore debates from elsewhere.
    Allow,
    /// Only if all such debates have one of these ids and none of them is running. The caller has
    /// read them and argues again. Any other is [`ArchiveError::Duplicate`], so that of several
    /// processes that decide at the same time only one creates a debate.
    RefuseExcept(&'a [String]),
}

/// Whether to take a lease that another process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseMode {
    /// Fail if it is held.
    IfFree,
    /// Take it over. Later writes of the old holder are refused.
    TakeOver,
}

/// What has changed in a debate since a sequence number.
#[derive(Clone, Debug, Default)]
pub struct DebateNews {
    pub events: Vec<RecordedEvent>,
    /// Name of the process that runs it, if any.
    pub holder: Option<String>,
    pub live_texts: Vec<LiveText>,
}

/// A state file that was found, and its parsed content.
#[derive(Debug)]
pub struct FoundStateFile {
    pub path: PathBuf,
    pub content: Result<ForeignDebate, ArchiveError>,
}

/// A debate opened for writing.
pub struct OpenedDebate {
    pub log: Box<dyn Log>,
    pub stored: StoredDebate,
}

/// A debate as read from the archive.
#[derive(Clone, Debug)]
pub struct StoredDebate {
    pub setup: Setup,
    pub events: Vec<RecordedEvent>,
    /// Sequence number of the first event that cannot be parsed, and the error.
    pub first_unreadable: Option<(u64, String)>,
    /// Name of the process that runs it, if any.
    pub holder: Option<String>,
    /// Path of its Markdown record.
    pub record_path: Option<PathBuf>,
    /// Every state file it was written to, with the repository root of each.
    pub state_files: Vec<(PathBuf, PathBuf)>,
}

/// An event with its sequence number and timestamp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Recorded")]
pub struct RecordedEvent {
    /// Sequence number in the log, from 1.
    pub seq: u64,
    /// Timestamp in milliseconds since the Unix epoch.
    pub at: i64,
    /// The event.
    pub event: Event,
}

impl RecordedEvent {
    /// Numbers events from `last + 1` on, all with the same timestamp.
    pub fn number_events(last: u64, events: &[Event], at: i64) -> Vec<RecordedEvent> {
        let recorded =
            |(seq, event): (u64, &Event)| RecordedEvent { seq, at, event: event.clone() };
        (last + 1..).zip(events).map(recorded).collect()
    }
}

/// Filter for listing and searching debates. Every field that is set must match.
#[derive(Clone, Debug, Default)]
pub struct DebateQuery {
    pub root: Option<PathBuf>,
    pub status: Option<Status>,
    pub format: Option<String>,
    /// Only debates that are not over.
    pub unfinished: bool,
    /// Debates with this review key: the same change under the same settings.
    pub review_key: Option<String>,
    /// Debates that review this branch or pull request.
    pub review_subject: Option<String>,
    /// Games of this tournament.
    pub tournament: Option<String>,
    /// Debates with this game key.
    pub game_key: Option<String>,
    /// Maximum number of results.
    pub limit: Option<usize>,
}

/// A debate in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Card")]
pub struct DebateCard {
    /// Id of the debate.
    pub id: String,
    /// Topic of the debate.
    pub topic: String,
    /// Name of the format.
    pub format: String,
    /// Status of the debate.
    pub status: Status,
    /// Creation time, in milliseconds since the Unix epoch.
    pub created_at: i64,
    /// Time of the last event, in milliseconds since the Unix epoch.
    pub updated_at: i64,
    /// Repository or folder it belongs to.
    pub root: String,
    /// Participant that argues for.
    pub proposer: Option<String>,
    /// Participant that argues against.
    pub challenger: Option<String>,
    /// Tool of the winning side, or the side if both use the same tool.
    pub winner: Option<String>,
    /// Labels: `demo`, `single-model`, `imported`.
    pub labels: Vec<String>,
    /// Confidence in the verdict, in percent.
    pub confidence: Option<u8>,
    /// Whether the verdict turned out `right`, `wrong` or `reverted`.
    pub proof: Option<String>,
}

/// A search result: a turn or a topic that contains the words.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub struct SearchHit {
    /// Id of the debate.
    pub id: String,
    /// Topic of the debate.
    pub topic: String,
    /// Turn with the match, absent if the topic matches.
    pub turn: Option<String>,
    /// Round of that turn.
    pub round: Option<u8>,
    /// Seat that spoke.
    pub seat: Option<String>,
    /// The matching text with some context.
    pub excerpt: String,
}

/// Text of a turn that is still being streamed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Live")]
pub struct LiveText {
    /// Id of the turn.
    pub turn: String,
    /// Text so far.
    pub text: String,
    /// Time of the last update, in milliseconds since the Unix epoch.
    pub at: i64,
}

/// The parsed content of a file from outside.
#[derive(Clone, Debug)]
pub enum ForeignDebate {
    /// An event log signed with this user's key. It is trusted and imported as it is.
    OwnLog(Box<Setup>, Vec<RecordedEvent>),
    /// Anything else. Only the text of its turns is used.
    Transcript(Transcript),
}

/// The turns of a debate from another program or user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Id it had there.
    pub id: Option<String>,
    pub topic: String,
    /// Planned number of rounds.
    pub rounds: Option<u8>,
    /// Whether it is a dialogue of a lead and a partner, without a winner.
    pub is_dialogue: bool,
    pub turns: Vec<TranscriptTurn>,
}

/// One turn of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptTurn {
    /// Round number, from 1.
    pub round: u8,
    pub side: crate::debate::Side,
    /// Tool that spoke, according to the file.
    pub tool: String,
    pub text: String,
    /// Duration according to the file.
    pub duration_ms: u64,
}

/// Result of rebuilding the index.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reindexed")]
pub struct ReindexReport {
    /// Number of debates read.
    pub debates: usize,
    /// Number of events read.
    pub events: usize,
    /// Number of turns written to the tables.
    pub messages: usize,
    /// Debates with an invalid log, and the error of each.
    pub flawed: Vec<String>,
}

/// Result of the integrity check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
pub struct ArchiveHealth {
    /// Path of the database.
    pub path: String,
    /// Schema version.
    pub version: i64,
    /// Number of debates.
    pub debates: usize,
    /// Problems found.
    pub problems: Vec<String>,
}
