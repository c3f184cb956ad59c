//! Ports: the traits the engine needs from other modules, and the types they exchange.
//!
//! [`Providers`] calls models, [`Clock`] reads the time. The others are in the submodules; `main`
//! connects the implementations.
//!
//! | file                  | port                                                                  |
//! |-----------------------|-----------------------------------------------------------------------|
//! | `archive`             | `ArchivePorts`: the next seven ports together                         |
//! | `event_store`         | creates, opens and reads event logs, one writer each by lease         |
//! | `debate_queries`      | finds, lists and searches debates                                     |
//! | `archive_maintenance` | integrity check and rebuild of the projections                        |
//! | `command_queue`       | commands to a debate that another process runs                        |
//! | `room_store`          | arena rooms                                                           |
//! | `debate_files`        | exported files: state file, record, report; parses imported ones      |
//! | `user_key`            | the user's secret key                                                 |
//! | `log`                 | appends events to one debate                                          |
//! | `archive_error`       | errors of the archive                                                 |
//! | `repository`          | briefs, citations and snapshots of pinned trees                       |
//! | `change`              | changes under review                                                  |
//! | `pinned_tree`         | the git tree a debate reads                                           |
mod archive;
mod archive_error;
mod archive_maintenance;
mod change;
mod command_queue;
mod debate_files;
mod debate_queries;
mod event_store;
mod log;
mod pinned_tree;
mod repository;
mod room_store;
mod user_key;

pub use archive::ArchivePorts;
pub use archive_error::ArchiveError;
pub use archive_maintenance::{ArchiveHealth, ArchiveMaintenance, ReindexReport};
pub use change::{ChangeSelector, ChangeSet, ChangeUnderReview, FileChange, SkipReason};
pub use command_queue::{COMMAND_TTL_MS, CommandQueue, CommandResult, QueuedCommandId};
pub use debate_files::{DebateFiles, ForeignDebate, FoundStateFile, Transcript, TranscriptTurn};
pub use debate_queries::{DebateCard, DebateQueries, DebateQuery, LiveText, SearchHit};
pub use event_store::{
    DebateNews, DuplicatePolicy, EventStore, LeaseMode, OpenedDebate, RecordedEvent, StoredDebate,
    Workspace,
};
pub use log::{LeaseSignal, Log, LogError};
pub use pinned_tree::PinnedTree;
pub use repository::{
    BriefReaders, BriefRequest, BriefSource, ChangesSince, ChangesSinceQuery, CitationContext,
    ContextError, Evidence, GatheredBrief, OmittedFile, RelatedCommit, SnapshotHandle,
    SnapshotProvider,
};
pub use room_store::RoomStore;
pub use user_key::UserKey;

use super::price::Price;
use super::redaction_gate::RedactionGate;
use super::updates::{self, Update};
use crate::debate::{Cue, Effort, Envelope, Participant, ReplyKind, Role, TurnFailure};
use crate::redact::StreamRedactor;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// A boxed future, for async methods of trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Default timeout of a turn, in seconds, for participants without a configured one.
pub const DEFAULT_TURN_SECONDS: u32 = 240;

/// Calls the participants of a debate: model CLIs, HTTP APIs, scripts and the demo. Implemented by
/// `providers`.
pub trait Providers: Send + Sync {
    /// Requests one reply and streams its text to `stream`. Retries and fallbacks happen inside, so
    /// an error is final. Dropping the future cancels the request and kills its processes.
    fn request_reply<'a>(
        &'a self,
        request: &'a TurnRequest,
        stream: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>>;

    /// Default timeout of a turn for this participant, in seconds.
    fn default_timeout_secs(&self, participant: &Participant, effort: Option<Effort>) -> u32 {
        let _ = (participant, effort);
        DEFAULT_TURN_SECONDS
    }

    /// Validates the user's configuration of providers. The error says what is wrong with it.
    fn check_config(&self) -> Result<(), String> {
        Ok(())
    }

    /// Checks without spending tokens whether a participant can take a seat here.
    fn check_available(&self, voice: &Participant) -> Result<(), ProviderUnavailable>;

    /// Why these two cannot be the two sides of one debate, for example because both are the same
    /// tool.
    fn side_conflict(&self, first: &Participant, second: &Participant) -> Option<String>;

    /// Whether a participant can read the files of a repository itself.
    fn can_read_files(&self, participant: &Participant) -> bool {
        let _ = participant;
        false
    }

    /// Whether a participant is a model CLI or API, and not a script, a person, the host or the
    /// demo.
    fn is_model(&self, participant: &Participant) -> bool {
        let _ = participant;
        false
    }

    /// The model configured for a tool and effort. Used when a seat names no model.
    fn default_model(&self, tool: &str, effort: Option<Effort>) -> Option<String> {
        let _ = (tool, effort);
        None
    }

    /// The configured price for the requested model, or for the model reported in the response.
    fn price(&self, participant: &Participant, reported: Option<&str>) -> Option<Price> {
        let _ = (participant, reported);
        None
    }

    /// Whether the provider reports the cost of a turn itself.
    fn reports_cost(&self, participant: &Participant) -> bool {
        let _ = participant;
        false
    }

    /// Every provider that can be named as a seat, with its status. Sends no requests.
    fn list_providers(&self) -> Vec<ProviderInfo> {
        vec![]
    }

    /// Names of the environment variables that are set and hold an API key of a known provider.
    fn api_key_variables(&self) -> Vec<String> {
        vec![]
    }

    /// The version a CLI tool reports.
    fn version<'a>(&'a self, tool: &'a str) -> BoxFuture<'a, Option<String>> {
        let _ = tool;
        Box::pin(async { None })
    }
}

/// A provider that can be named as a seat, and whether it is usable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Listing")]
pub struct ProviderInfo {
    /// Name of the seat, as in `claude` or `openai`.
    pub seat: String,
    /// Whether it is a model, which may be seated without being named.
    pub model: bool,
    /// Whether it can take a seat now.
    pub playable: bool,
    /// Description, or why it is not available and how to fix that.
    pub note: String,
    /// Path of the program, or URL of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<String>,
    /// Version the tool reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Login status, as far as known without a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Vendor of its models, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Configured models, one per effort or one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Supported efforts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// Where its cost comes from: the tool itself or the configured prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// Result of the probe request, if one was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
}

/// The request for one turn: the prompt, and everything a provider needs to run it.
#[derive(Clone, Debug)]
pub struct TurnRequest {
    pub debate_id: String,
    pub cue: Cue,
    /// Name of the seat.
    pub seat: String,
    pub role: Role,
    /// Name of the phase.
    pub phase: String,
    /// Round number, 0 outside of rounds.
    pub round: u8,
    /// Kind of reply the phase expects.
    pub reply_kind: ReplyKind,
    pub participant: Participant,
    /// Reasoning effort.
    pub effort: Option<Effort>,
    pub prompt: String,
    /// Timeout in seconds.
    pub timeout_secs: u32,
    /// JSON schema of the reply, if it must be one JSON object.
    pub schema: Option<serde_json::Value>,
    /// Whether web search is allowed.
    pub web_allowed: bool,
    /// Root of the repository the debate is about. Providers read the pinned tree, not these files.
    pub root: PathBuf,
    /// Id of the pinned tree.
    pub pin: Option<String>,
    /// 1, or 2 after the first reply was rejected.
    pub attempt: u8,
}

/// A provider's reply: the raw text and its envelope (model, tokens, cost).
#[derive(Clone, Debug)]
pub struct ProviderReply {
    pub text: String,
    /// The engine fills in the duration.
    pub envelope: Envelope,
}

/// Receives the text of a turn while a provider streams it, and publishes it to subscribers. A
/// streaming redactor holds text back until no secret can begin in it, so that a secret split over
/// two chunks is still removed.
#[derive(Clone)]
pub struct ReplyStream {
    cue: Cue,
    updates: updates::UpdateBroadcaster,
    redactor: Arc<Mutex<Option<StreamRedactor>>>,
}

impl ReplyStream {
    /// A stream that publishes to the debate's subscribers, redacted by its gate.
    pub fn new(cue: Cue, updates: updates::UpdateBroadcaster, gate: &RedactionGate) -> ReplyStream {
        ReplyStream { cue, updates, redactor: Arc::new(Mutex::new(Some(gate.stream_redactor()))) }
    }

    /// A stream whose text is discarded, for probes.
    pub fn discard(cue: Cue) -> ReplyStream {
        ReplyStream {
            cue,
            updates: updates::UpdateBroadcaster::default(),
            redactor: Arc::default(),
        }
    }

    /// Cue of the turn.
    pub fn cue(&self) -> Cue {
        self.cue
    }

    /// Appends a chunk of text.
    pub fn push(&self, text: impl Into<String>) {
        let mut redactor = self.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        let text =
            redactor.as_mut().map(|redactor| redactor.push(&text.into())).unwrap_or_default();
        self.publish_text(text);
    }

    /// Flushes the text the redactor still holds back.
    pub(crate) fn finish(&self) {
        let redactor = self.redactor.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.publish_text(redactor.map(StreamRedactor::finish).unwrap_or_default());
    }

    fn publish_text(&self, text: String) {
        if !text.is_empty() {
            self.updates.publish(Update::Delta { cue: self.cue, text });
        }
    }

    /// Publishes an update about the turn itself.
    pub(crate) fn publish(&self, update: Update) {
        self.updates.publish(update);
    }
}

/// Error: a participant cannot take a seat here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{voice}` is not available: {why}")]
pub struct ProviderUnavailable {
    /// Name of the participant, as given.
    pub voice: String,
    /// Reason, such as a missing program or API key.
    pub why: String,
}

/// Wall clock. Replaced by a fake one in tests.
pub trait Clock: Send + Sync {
    /// Current time in milliseconds since the Unix epoch.
    fn now(&self) -> i64;
}
