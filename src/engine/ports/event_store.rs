//! The event store port: creates, opens and reads the event logs of debates. Writing needs the
//! debate's lease, reading does not.
use super::BoxFuture;
use super::archive_error::ArchiveError;
use super::debate_queries::LiveText;
use super::log::Log;
use crate::debate::{Event, Setup};
use crate::engine::updates::Update;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Event logs of all debates, with one writer per debate by lease.
pub trait EventStore: Send + Sync {
    /// Creates a debate's log with its first events and takes its lease. Other debates with the
    /// same review key or game key are checked in the same transaction, by the policy `duplicates`.
    fn create<'a>(
        &'a self,
        setup: &'a Setup,
        events: &'a [RecordedEvent],
        workspace: &'a Workspace,
        duplicates: DuplicatePolicy<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn Log>, ArchiveError>>;
    /// Takes the lease of a debate and opens its log for writing. From then on its exports are
    /// written to `workspace`, too.
    fn open<'a>(
        &'a self,
        id: &'a str,
        workspace: &'a Workspace,
        lease_mode: LeaseMode,
    ) -> BoxFuture<'a, Result<OpenedDebate, ArchiveError>>;
    /// Reads a debate. Needs no lease.
    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<StoredDebate, ArchiveError>>;
    /// Events after a sequence number, the current lease holder and the live text, for polling.
    fn news_since<'a>(
        &'a self,
        id: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<DebateNews, ArchiveError>>;
    /// Sets the name other processes see as the holder of this process's leases.
    fn set_holder_name(&self, name: &str);
    /// Stores the live text of these updates from time to time, in the background, so that other
    /// processes can read it.
    fn publish_live_text(&self, id: &str, updates: broadcast::Receiver<Arc<Update>>);
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

/// What has changed in a debate since a sequence number.
#[derive(Clone, Debug, Default)]
pub struct DebateNews {
    pub events: Vec<RecordedEvent>,
    /// Name of the process that runs it, if any.
    pub holder: Option<String>,
    pub live_texts: Vec<LiveText>,
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
