//! Commands to a running debate.
//!
//! A [`Command`] becomes one event, and is refused if that event is not legal at the moment.
//! Commands are serialized to JSON when they are queued for another process.
use crate::debate::{Amendment, Cue, Event, Position, VerdictFeedback};
use serde::{Deserialize, Serialize};

/// A command to a debate. Serialized in the command queue, so names are a stored format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub enum Command {
    /// The reply of an awaited seat: the host, a person or a bot. The take says when the seat was
    /// asked, so that a stale reply from before a reopening is refused.
    Reply {
        /// Take number at the time the seat was asked.
        take: u16,
        cue: Cue,
        /// The full text, with its claims block.
        text: String,
    },
    /// Add a remark to the prompts of all turns not asked yet.
    Interject { text: String },
    /// Pause before the next turn.
    Hold,
    /// Start a round that waits for confirmation.
    Continue {
        /// Position of that round.
        before: Position,
    },
    /// Change a setting of the debate.
    Amend { change: Amendment, because: String },
    /// Skip to the final act.
    Conclude {
        /// Reason, if it is not simply the user's decision.
        because: Option<String>,
    },
    /// Stop for good, without a verdict.
    Cancel {
        /// Reason, if it is not simply the user's decision.
        because: Option<String>,
    },
    /// Retry from a failed turn.
    Reopen { from: Cue },
    /// Record the user's decision.
    Decide { text: String },
    /// Record how the verdict turned out.
    Learn {
        /// Whether it was right.
        proof: VerdictFeedback,
        /// Confidence at that time, in percent.
        confidence: Option<u8>,
        note: String,
    },
    /// Keep or delete the exported record.
    Keep {
        /// False to delete it.
        keep: bool,
    },
}

/// A reply of an awaited seat, before it is parsed.
pub(super) struct AwaitedReply {
    pub(super) take: u16,
    pub(super) cue: Cue,
    pub(super) text: String,
}

impl Command {
    /// Commands that change the topic and tell the participants.
    pub fn steer(topic: String) -> [Command; 2] {
        let text = format!("The topic is now: {topic}");
        let because = "the user steers".into();
        [
            Command::Amend { change: Amendment::Topic { topic }, because },
            Command::Interject { text },
        ]
    }

    /// Command that asks for more detail on something.
    pub fn deepen(about: &str) -> Command {
        Command::Interject { text: format!("Go deeper on this: {about}") }
    }

    /// Whether it makes turns due, so that the debate has to run, and not only adds an event.
    pub fn makes_turns_due(&self) -> bool {
        matches!(
            self,
            Command::Reply { .. }
                | Command::Continue { .. }
                | Command::Conclude { .. }
                | Command::Reopen { .. }
        )
    }

    /// The event it becomes, or a reply that has to be parsed first.
    pub(super) fn into_event(self) -> Result<Event, AwaitedReply> {
        Ok(match self {
            Command::Reply { take, cue, text } => return Err(AwaitedReply { take, cue, text }),
            Command::Interject { text } => Event::Interjected { text },
            Command::Hold => Event::Held,
            Command::Continue { before } => Event::Continued { before },
            Command::Amend { change, because } => Event::Amended { change, because },
            Command::Conclude { because } => Event::Concluded { because },
            Command::Cancel { because } => Event::Cancelled { because },
            Command::Reopen { from } => Event::Reopened { from },
            Command::Decide { text } => Event::Decided { text },
            Command::Learn { proof, confidence, note } => {
                Event::Learned { proof, confidence, note }
            }
            Command::Keep { keep } => Event::Kept { keep },
        })
    }
}
