//! Events of a debate, in the past tense. A log is a setup followed by a list of [`Event`]s.
//!
//! `Cue` identifies a turn. [`Reply`] and `TurnFailure` are its two possible results.
use crate::debate::record::body::Body;
use crate::debate::record::citation::Citation;
use crate::debate::record::envelope::Envelope;
use crate::debate::setup::budget::Budget;
use crate::debate::setup::cue::{Cue, Position, join_cues};
use crate::debate::setup::debate_setup::HoldPoint;
use crate::debate::setup::format::Side;
use crate::debate::setup::rule::RuleFinding;
use crate::debate::setup::seat::{Participant, Seat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A wave started: prompts were sent to these seats.
    Asked {
        /// Every open cue of the wave. After a crash, the cues that were requested again.
        cues: Vec<Cue>,
        /// Unix time in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<i64>,
        /// Hash of each prompt, to verify that a rebuilt prompt is identical.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        prompts: Vec<String>,
    },
    /// A reply was rejected by a parser or a rule. The seat is prompted once more.
    Refused {
        cue: Cue,
        /// The rejected reply, with the reason.
        attempt: RejectedReply,
    },
    /// A reply was accepted.
    Spoke { cue: Cue, reply: Reply },
    /// A turn failed.
    Failed { cue: Cue, failure: TurnFailure },
    /// The user added a remark. Seats that are prompted later see it.
    Interjected {
        /// Text of the remark.
        text: String,
    },
    /// The user paused the debate before the next prompt.
    Held,
    /// The user let this round start.
    Continued {
        /// The round that may start.
        before: Position,
    },
    /// The user changed part of the setup.
    Amended {
        change: Amendment,
        /// Reason for the change.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        because: String,
    },
    /// The debate skips to the last act.
    Concluded {
        /// Reason, unless the user simply asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// The user or a rule stopped the debate for good.
    Cancelled {
        /// Reason, unless the user simply asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// The debate ended.
    Closed { outcome: DebateOutcome },
    /// The debate was rewound to this cue and continues in a new take. Later turns stay in the log
    /// but not in the state. Within a take, a prompt never changes.
    Reopened {
        /// First cue of the new take.
        from: Cue,
    },
    /// The user recorded a decision.
    Decided {
        /// Text of the decision.
        text: String,
    },
    /// The user recorded how the decision worked out in practice.
    Learned {
        /// Whether the verdict was right.
        proof: VerdictFeedback,
        /// Confidence of the verdict in hundredths, kept to measure its calibration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<u8>,
        /// What happened.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// The user chose to keep or to delete the written record.
    Kept {
        /// False: delete it.
        keep: bool,
    },
}

impl Event {
    /// Short label for error messages. Contains no user or model text.
    pub fn name(&self) -> String {
        match self {
            Event::Asked { cues, .. } => format!("asking {}", join_cues(cues)),
            Event::Refused { cue, .. } => format!("rejecting a reply at turn {cue}"),
            Event::Spoke { cue, .. } => format!("turn {cue}"),
            Event::Failed { cue, .. } => format!("a failure of turn {cue}"),
            Event::Interjected { .. } => "a remark".into(),
            Event::Held => "a hold".into(),
            Event::Continued { before } => format!("continuing with round {}", before.round),
            Event::Amended { .. } => "this amendment".into(),
            Event::Concluded { .. } => "concluding".into(),
            Event::Cancelled { .. } => "cancelling".into(),
            Event::Closed { .. } => "closing".into(),
            Event::Reopened { from } => format!("reopening at turn {from}"),
            Event::Decided { .. } => "a decision".into(),
            Event::Learned { .. } => "feedback on the verdict".into(),
            Event::Kept { .. } => "keeping the record".into(),
        }
    }
}

/// User feedback: how a verdict worked out in practice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Proof")]
pub enum VerdictFeedback {
    /// The decision worked out.
    Right,
    /// The decision did not work out.
    Wrong,
    /// The decision was implemented and later reverted.
    Reverted,
}

impl VerdictFeedback {
    /// Returns the serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            VerdictFeedback::Right => "right",
            VerdictFeedback::Wrong => "wrong",
            VerdictFeedback::Reverted => "reverted",
        }
    }
}

/// Change of the setup after the debate was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "snake_case")]
#[schemars(rename = "Change")]
pub enum Amendment {
    /// Another participant takes over a seat.
    Seat {
        /// Index of the seat.
        seat: u8,
        /// The new participant.
        voice: Participant,
    },
    /// New budget.
    Limit {
        /// The new total, not an increment.
        budget: Budget,
    },
    /// New rounds, seats or holds. Seats can be replaced only before the first prompt was sent.
    Plan {
        /// New number of rounds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounds: Option<u8>,
        /// Replaces all seats.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seats: Option<Vec<Seat>>,
        /// Replaces all holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holds: Option<Vec<HoldPoint>>,
    },
    /// New format-specific options. Allowed only before the first prompt was sent.
    Terms {
        /// Replaces all options.
        terms: BTreeMap<String, String>,
    },
    /// New topic, used in all later prompts.
    Topic { topic: String },
}

/// An accepted reply. Findings and citation lookups are stored, not recomputed: later prompts
/// contain them, and a newer version might compute different ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    pub body: Body,
    /// Findings of the phase's rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<RuleFinding>,
    /// Citations with their lookup results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    #[serde(default)]
    pub envelope: Envelope,
}

/// A rejected reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Attempt")]
pub struct RejectedReply {
    /// Text of the reply, truncated.
    pub text: String,
    /// Error message sent back to the seat.
    pub why: String,
    /// Findings of the rules, if the reply could be parsed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<RuleFinding>,
    /// Metadata. A rejected reply counts toward the budget, too.
    #[serde(default)]
    pub envelope: Envelope,
}

/// A failed turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Failure")]
pub struct TurnFailure {
    pub trouble: FailureKind,
    /// Error message in one sentence, without secrets or raw output.
    pub note: String,
    /// Metadata. A failed turn counts toward the budget, too.
    #[serde(default)]
    pub envelope: Envelope,
    /// Milliseconds until a retry is allowed, if the provider has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
}

/// Cause of a failed turn. The phase's `Shortfall` decides what the failure leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Trouble")]
pub enum FailureKind {
    /// The tool is not installed, or the server does not respond.
    NotFound,
    /// Credentials are missing or invalid.
    NotLoggedIn,
    /// The provider does not have this model.
    UnknownModel,
    /// The request timed out.
    TimedOut,
    /// The provider's rate limit was exceeded.
    RateLimited,
    /// The model refused to answer.
    Refused,
    /// The response was empty.
    Empty,
    /// The output of the tool could not be parsed.
    Unreadable,
    /// Two replies in a row were rejected by the parser or the rules of the phase.
    Unusable,
    /// The request was cancelled.
    Cancelled,
    /// The process crashed.
    Crashed,
    /// Any other error.
    Other,
}

impl FailureKind {
    /// Returns the cause in words for users.
    pub fn as_str(self) -> &'static str {
        match self {
            FailureKind::NotFound => "not found",
            FailureKind::NotLoggedIn => "not logged in",
            FailureKind::UnknownModel => "unknown model",
            FailureKind::TimedOut => "timed out",
            FailureKind::RateLimited => "rate limited",
            FailureKind::Refused => "refused",
            FailureKind::Empty => "empty reply",
            FailureKind::Unreadable => "unreadable reply",
            FailureKind::Unusable => "unusable reply",
            FailureKind::Cancelled => "cancelled",
            FailureKind::Crashed => "crashed",
            FailureKind::Other => "failed",
        }
    }
}

impl TurnFailure {
    /// Creates a failure with empty metadata.
    pub fn new(trouble: FailureKind, note: impl Into<String>) -> TurnFailure {
        TurnFailure { trouble, note: note.into(), envelope: Envelope::default(), retry_ms: None }
    }
}

/// How a debate ended. Missing turns are not listed here, because the record has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[schemars(rename = "Outcome")]
pub enum DebateOutcome {
    /// All acts were played.
    Completed,
    /// Ended early on request. The last act was played.
    Ended,
    /// Stopped early because nothing was left to argue. The last act was played.
    Settled {
        /// The last round that was played.
        after: u8,
    },
    /// A phase missed its quorum. The last act was played with the turns there were.
    Curtailed {
        /// Act and round of the phase.
        at: Position,
        /// Name of the phase.
        phase: String,
    },
    /// A phase missed its quorum, and too little was said for a result.
    Aborted {
        /// Act and round of the phase.
        at: Position,
        /// Name of the phase.
        phase: String,
    },
    /// Only one side spoke. There is no winner.
    Uncontested {
        /// Act and round of the phase.
        at: Position,
        /// Name of the phase.
        phase: String,
    },
    /// A side failed to answer and lost.
    Forfeited {
        /// The side that lost.
        by: Side,
    },
    /// The user or a rule stopped it for good.
    Cancelled,
}
