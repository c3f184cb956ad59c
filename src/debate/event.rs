//! What can happen, in the past tense. A log is a setup and a list of these.
use super::body::Body;
use super::citation::Citation;
use super::envelope::Envelope;
use super::format::Side;
use super::rules::Finding;
use super::seat::{Seat, Voice};
use super::setup::{Budget, Hold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A round of an act: the only clock a debate has.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Stand {
    /// By position in the format.
    pub act: u8,
    /// Counted over the whole debate; 0 outside the count.
    pub round: u8,
}

/// Names one turn before it is taken. The derived order is the order of the debate; the act comes
/// first, so an ending comes last however many rounds an open act turns out to have.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Cue {
    /// By position in the format.
    pub act: u8,
    /// Counted over the whole debate; 0 outside the count.
    pub round: u8,
    /// By position in the act.
    pub phase: u8,
    /// By position in the setup.
    pub seat: u8,
}

impl Cue {
    /// After every turn there is.
    pub const END: Cue = Cue { act: u8::MAX, round: u8::MAX, phase: u8::MAX, seat: u8::MAX };

    /// The round it belongs to.
    pub fn stand(self) -> Stand {
        Stand { act: self.act, round: self.round }
    }
}

/// How a turn is named outside: short, opaque and stable.
impl fmt::Display for Cue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cue { act, round, phase, seat } = self;
        write!(f, "{act}.{round}.{phase}.{seat}")
    }
}

impl FromStr for Cue {
    type Err = String;
    fn from_str(text: &str) -> Result<Cue, String> {
        let parts: Option<Vec<u8>> = text.split('.').map(|part| part.parse().ok()).collect();
        match parts.as_deref() {
            Some(&[act, round, phase, seat]) => Ok(Cue { act, round, phase, seat }),
            _ => Err(format!("`{text}` does not name a turn")),
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A wave began: these seats were told what to answer, and until when.
    Asked {
        /// Every open cue of the wave; after an interruption, those asked again.
        cues: Vec<Cue>,
        /// Milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<i64>,
        /// A fingerprint of each prompt, so that rebuilding one can be shown to be exact.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        prompts: Vec<String>,
    },
    /// A reply came that could not be taken; the seat is asked once more.
    Refused {
        /// Whose.
        cue: Cue,
        /// What came, and why it was not enough.
        attempt: Attempt,
    },
    /// A turn was taken.
    Spoke {
        /// Which.
        cue: Cue,
        /// With what.
        reply: Reply,
    },
    /// A turn was lost.
    Failed {
        /// Which.
        cue: Cue,
        /// How.
        failure: Failure,
    },
    /// The user said something, to whoever has not been asked yet.
    Interjected {
        /// In their words.
        text: String,
    },
    /// The user asked for the floor before anyone else is asked.
    Held,
    /// The user let this round begin.
    Continued {
        /// Which.
        before: Stand,
    },
    /// The user changed something that was fixed when the debate opened.
    Amended {
        /// What.
        change: Change,
        /// Why.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        because: String,
    },
    /// Someone asked to end it: on to the last act.
    Concluded {
        /// Why, if it was not simply the user's wish.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// It was stopped for good, by the user or by a rule.
    Cancelled {
        /// Why, if it was not simply the user's wish.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// It came to its end.
    Closed {
        /// Which.
        outcome: Outcome,
    },
    /// The debate goes on from this cue. What was taken from there on is in the log, not in the
    /// debate, and the debate has entered another take: a prompt is unchanging within a take.
    Reopened {
        /// The first cue of the new take.
        from: Cue,
    },
    /// What the user made of it. Silence is no consent, so consent is on the record.
    Decided {
        /// In their words.
        text: String,
    },
    /// What became of the decision in the world, once that is known.
    Learned {
        /// Whether the verdict was right.
        proof: Proof,
        /// How sure the verdict was thought to be, in hundredths, so that it can be held against it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<u8>,
        /// What happened.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// Whether the written record is to stay.
    Kept {
        /// Or to be deleted.
        keep: bool,
    },
}

impl Event {
    /// In a few words, without anybody's text.
    pub fn name(&self) -> String {
        match self {
            Event::Asked { cues, .. } => format!("asking {}", list(cues)),
            Event::Refused { cue, .. } => format!("refusing turn {cue}"),
            Event::Spoke { cue, .. } => format!("turn {cue}"),
            Event::Failed { cue, .. } => format!("losing turn {cue}"),
            Event::Interjected { .. } => "a remark".into(),
            Event::Held => "a hold".into(),
            Event::Continued { before } => format!("continuing with round {}", before.round),
            Event::Amended { .. } => "this amendment".into(),
            Event::Concluded { .. } => "concluding".into(),
            Event::Cancelled { .. } => "cancelling".into(),
            Event::Closed { .. } => "closing".into(),
            Event::Reopened { from } => format!("reopening at turn {from}"),
            Event::Decided { .. } => "a decision".into(),
            Event::Learned { .. } => "what became of it".into(),
            Event::Kept { .. } => "keeping the record".into(),
        }
    }
}

/// What became of a verdict in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// It was right.
    Right,
    /// It was wrong.
    Wrong,
    /// It was followed, and taken back.
    Reverted,
}

impl Proof {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Proof::Right => "right",
            Proof::Wrong => "wrong",
            Proof::Reverted => "reverted",
        }
    }
}

/// Turns, by name.
pub(super) fn list(cues: &[Cue]) -> String {
    cues.iter().map(Cue::to_string).collect::<Vec<_>>().join(", ")
}

/// What can be changed after the opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// A seat was handed to another voice.
    Seat {
        /// By position.
        seat: u8,
        /// The new one.
        voice: Voice,
    },
    /// More, or less, may be spent.
    Limit {
        /// In all, not in addition.
        budget: Budget,
    },
    /// The plan was changed. Other seats can be asked for only before anyone was asked.
    Plan {
        /// The new number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounds: Option<u8>,
        /// All of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seats: Option<Vec<Seat>>,
        /// All of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holds: Option<Vec<Hold>>,
    },
    /// What a format was told besides was changed. Only before anyone was asked.
    Terms {
        /// All of it.
        terms: BTreeMap<String, String>,
    },
    /// The question shifted, for whoever has not been asked yet.
    Topic {
        /// The new one.
        topic: String,
    },
}

/// Findings and citation checks are recorded, not recomputed: they are part of later prompts, and a
/// newer binary may hold other views.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// What was said.
    pub body: Body,
    /// What the rules of the phase had to say about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What looking up its citations came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    /// How it came to be.
    #[serde(default)]
    pub envelope: Envelope,
}

/// A reply that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// What came, cut to a bearable length.
    pub text: String,
    /// What the seat is told about it.
    pub why: String,
    /// The rules that objected, if it could be read at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What it cost all the same.
    #[serde(default)]
    pub envelope: Envelope,
}

/// A turn that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// In a word.
    pub trouble: Trouble,
    /// In a sentence, with no secrets and no raw output.
    pub note: String,
    /// What it cost all the same.
    #[serde(default)]
    pub envelope: Envelope,
    /// Milliseconds after which it may be asked again, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
}

/// The ways a seat can fail. A row of a format says what a failure means; this says what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// The tool is not installed, or the address does not answer.
    NotFound,
    /// It wants credentials.
    NotLoggedIn,
    /// It has no such model.
    UnknownModel,
    /// It took too long.
    TimedOut,
    /// It was asked too often.
    RateLimited,
    /// It will not answer this.
    Refused,
    /// It answered with nothing.
    Empty,
    /// Its output could not be read.
    Unreadable,
    /// It answered, twice, but not with what the phase asks for.
    Unusable,
    /// Someone stopped it.
    Cancelled,
    /// It died.
    Crashed,
    /// Anything else.
    Other,
}

impl Trouble {
    /// In words a user reads.
    pub fn word(self) -> &'static str {
        match self {
            Trouble::NotFound => "not found",
            Trouble::NotLoggedIn => "not logged in",
            Trouble::UnknownModel => "unknown model",
            Trouble::TimedOut => "timed out",
            Trouble::RateLimited => "rate limited",
            Trouble::Refused => "refused",
            Trouble::Empty => "empty reply",
            Trouble::Unreadable => "unreadable reply",
            Trouble::Unusable => "unusable reply",
            Trouble::Cancelled => "cancelled",
            Trouble::Crashed => "crashed",
            Trouble::Other => "failed",
        }
    }
}

impl Failure {
    /// One that cost nothing.
    pub fn new(trouble: Trouble, note: impl Into<String>) -> Failure {
        Failure { trouble, note: note.into(), envelope: Envelope::default(), retry_ms: None }
    }
}

/// How it ended. Whether something is missing is not repeated here: the record says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// All of it was played.
    Completed,
    /// Someone ended it, and the ending was played.
    Ended,
    /// There was nothing left to say, and the ending was played.
    Settled {
        /// After this round.
        after: u8,
    },
    /// Too much was missing to go on; the ending was played with what there was.
    Curtailed {
        /// Where.
        at: Stand,
        /// In which phase.
        phase: String,
    },
    /// Too much was missing to make anything of it.
    Aborted {
        /// Where.
        at: Stand,
        /// In which phase.
        phase: String,
    },
    /// One side spoke and the other never did: it stands, and nobody has won.
    Uncontested {
        /// Where.
        at: Stand,
        /// In which phase.
        phase: String,
    },
    /// A side lost by silence.
    Forfeited {
        /// Which.
        by: Side,
    },
    /// The user stopped it.
    Cancelled,
}
