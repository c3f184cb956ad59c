//! Ports: the traits the engine needs from other modules, and the types they exchange.
//!
//! [`Providers`] calls models, [`Log`] appends events, [`Clock`] reads the time. The archive, the
//! brief and citation ports and reviewed changes are in the submodules. `main` connects the
//! implementations.
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
use crate::debate::{Cue, Effort, Envelope, Event, Participant, ReplyKind, Role, TurnFailure};
use crate::redact::Held;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// A boxed future, for async methods of trait objects.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Default timeout of a turn, in seconds, for participants without a configured one.
pub const PATIENCE: u32 = 240;

/// Calls the participants of a debate: model CLIs, HTTP APIs, scripts and the demo. Implemented by
/// `providers`.
pub trait Voices: Send + Sync {
    /// Requests one reply and streams its text to `stream`. Retries and fallbacks happen inside, so
    /// an error is final. Dropping the future cancels the request and kills its processes.
    fn speak<'a>(&'a self, ask: &'a Ask, stream: Stream) -> Boxed<'a, Result<Said, TurnFailure>>;

    /// Default timeout of a turn for this participant, in seconds.
    fn patience(&self, voice: &Participant, effort: Option<Effort>) -> u32 {
        let _ = (voice, effort);
        PATIENCE
    }

    /// Validates the user's configuration of providers. The error says what is wrong with it.
    fn sound(&self) -> Result<(), String> {
        Ok(())
    }

    /// Checks without spending tokens whether a participant can take a seat here.
    fn playable(&self, voice: &Participant) -> Result<(), Unplayable>;

    /// Why these two cannot be the two sides of one debate, for example because both are the same
    /// tool.
    fn clash(&self, one: &Participant, other: &Participant) -> Option<String>;

    /// Whether a participant can read the files of a repository itself.
    fn reads(&self, voice: &Participant) -> bool {
        let _ = voice;
        false
    }

    /// Whether a participant is a model CLI or API, and not a script, a person, the host or the
    /// demo.
    fn model(&self, voice: &Participant) -> bool {
        let _ = voice;
        false
    }

    /// The model configured for a tool and effort. Used when a seat names no model.
    fn usual(&self, tool: &str, effort: Option<Effort>) -> Option<String> {
        let _ = (tool, effort);
        None
    }

    /// The configured price for the requested model, or for the model reported in the response.
    fn price(&self, voice: &Participant, reported: Option<&str>) -> Option<Price> {
        let _ = (voice, reported);
        None
    }

    /// Whether the provider reports the cost of a turn itself.
    fn tells_cost(&self, voice: &Participant) -> bool {
        let _ = voice;
        false
    }

    /// Every provider that can be named as a seat, with its status. Sends no requests.
    fn listing(&self) -> Vec<Listing> {
        vec![]
    }

    /// Names of the environment variables that are set and hold an API key of a known provider.
    fn keys(&self) -> Vec<String> {
        vec![]
    }

    /// The version a CLI tool reports.
    fn version<'a>(&'a self, tool: &'a str) -> Boxed<'a, Option<String>> {
        let _ = tool;
        Box::pin(async { None })
    }
}

/// A provider that can be named as a seat, and whether it is usable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Listing")]
pub struct Listing {
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
pub struct Ask {
    pub debate: String,
    pub cue: Cue,
    /// Name of the seat.
    pub seat: String,
    pub role: Role,
    /// Name of the phase.
    pub phase: String,
    /// Round number, 0 outside of rounds.
    pub round: u8,
    /// Kind of reply the phase expects.
    pub reply: ReplyKind,
    pub voice: Participant,
    /// Reasoning effort.
    pub effort: Option<Effort>,
    pub prompt: String,
    /// Timeout in seconds.
    pub seconds: u32,
    /// JSON schema of the reply, if it must be one JSON object.
    pub schema: Option<serde_json::Value>,
    /// Whether web search is allowed.
    pub web: bool,
    /// Root of the repository the debate is about. Providers read the pinned tree, not these files.
    pub root: PathBuf,
    /// Id of the pinned tree.
    pub pin: Option<String>,
    /// 1, or 2 after the first reply was rejected.
    pub attempt: u8,
}

/// A provider's reply: the raw text and its envelope (model, tokens, cost).
#[derive(Clone, Debug)]
pub struct Said {
    pub text: String,
    /// The engine fills in the duration.
    pub envelope: Envelope,
}

/// Receives the text of a turn while a provider streams it, and publishes it to subscribers. A
/// streaming redactor holds text back until no secret can begin in it, so that a secret split over
/// two chunks is still removed.
#[derive(Clone)]
pub struct Stream {
    cue: Cue,
    live: live::Live,
    held: Arc<Mutex<Option<Held>>>,
}

impl Stream {
    /// A stream that publishes to the debate's subscribers, redacted by its gate.
    pub fn new(cue: Cue, live: live::Live, gate: &Gate) -> Stream {
        Stream { cue, live, held: Arc::new(Mutex::new(Some(gate.held()))) }
    }

    /// A stream whose text is discarded, for probes.
    pub fn unheard(cue: Cue) -> Stream {
        Stream { cue, live: live::Live::default(), held: Arc::default() }
    }

    /// Cue of the turn.
    pub fn cue(&self) -> Cue {
        self.cue
    }

    /// Appends a chunk of text.
    pub fn delta(&self, text: impl Into<String>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let text = held.as_mut().map(|held| held.push(&text.into())).unwrap_or_default();
        self.say(text);
    }

    /// Flushes the text the redactor still holds back.
    pub(super) fn finish(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.say(held.map(Held::finish).unwrap_or_default());
    }

    fn say(&self, text: String) {
        if !text.is_empty() {
            self.live.tell(Update::Delta { cue: self.cue, text });
        }
    }

    /// Publishes an update about the turn itself.
    pub(super) fn tell(&self, update: Update) {
        self.live.tell(update);
    }
}

/// Error: a participant cannot take a seat here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{voice}` cannot play a seat here: {why}")]
pub struct Unplayable {
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

/// The append-only event log of one debate. It exists only while this process holds the debate's
/// lease, so there is a single writer.
pub trait Log: Send {
    /// Appends events in one transaction and returns the sequence number of the last. They are
    /// durable when it returns.
    fn append(&mut self, events: &[Event]) -> Result<u64, LogError>;

    /// Waits for the next signal from other processes: the lease was lost, or commands were queued.
    /// A session that waits minutes for a turn listens to it all the time. Cancel-safe: dropping
    /// the future loses no signal.
    fn called(&self) -> Boxed<'static, Call> {
        Box::pin(std::future::pending())
    }

    /// As [`Log::append`], and marks a queued command as done in the same transaction, so that it
    /// runs at most once. Returns `None` and writes nothing if the command was withdrawn.
    fn fulfil(&mut self, wish: WishId, events: &[Event]) -> Result<Option<u64>, LogError> {
        let _ = wish;
        self.append(events).map(Some)
    }

    /// Marks a queued command as refused, with the error message.
    fn refuse(&mut self, wish: WishId, why: &str) {
        let _ = (wish, why);
    }
}

/// A signal from other processes to the lease holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Another process has taken over the lease.
    Lost {
        /// Name of the new holder.
        by: String,
    },
    /// Another process has queued commands, to be recorded all together or not at all.
    Wished {
        /// Id under which the result is stored.
        wish: WishId,
        commands: Vec<Command>,
    },
}

/// Error when events could not be written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The lease expired, or another process took it over.
    #[error("{by} has taken this debate over")]
    Lost {
        /// Name of the new holder.
        by: String,
    },
    /// The sender withdrew the queued command before it ran.
    #[error("the wish was withdrawn before it was granted")]
    Withdrawn,
    /// Storage or serialization failed.
    #[error("cannot write to the archive: {0}")]
    Broken(String),
}
