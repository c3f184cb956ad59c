//! What anyone outside may ask of a debate. Legal at some moments only, as for every event.
use super::ports::LogError;
use crate::debate::{Change, Cue, Event, Finding, Illegal, Proof, Stand};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

/// A wish, in the imperative. It can be written down, for whichever process plays the debate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub enum Command {
    /// An awaited seat answers: the host, a person, a bot. It says which take it was asked in,
    /// so that an answer to a question since withdrawn is not mistaken for one.
    Reply {
        /// As it was when the seat was asked.
        take: u16,
        /// The turn.
        cue: Cue,
        /// All of it, claims block and all.
        text: String,
    },
    /// A remark for whoever has not been asked yet.
    Interject {
        /// The user's words.
        text: String,
    },
    /// Stop before anyone else is asked.
    Hold,
    /// Let the round begin that waits for it.
    Continue {
        /// Which.
        before: Stand,
    },
    /// Change something that was fixed at the opening.
    Amend {
        /// What.
        change: Change,
        /// Why.
        because: String,
    },
    /// On to the ending.
    Conclude {
        /// Why, if it is not simply the user's wish.
        because: Option<String>,
    },
    /// Stop for good.
    Cancel {
        /// Why, if it is not simply the user's wish.
        because: Option<String>,
    },
    /// Go on from a turn that failed.
    Reopen {
        /// Which.
        from: Cue,
    },
    /// Put the user's decision on the record.
    Decide {
        /// In their words.
        text: String,
    },
    /// Put what became of the verdict on the record.
    Learn {
        /// Whether it was right.
        proof: Proof,
        /// How sure it was thought to be, in hundredths.
        confidence: Option<u8>,
        /// What happened.
        note: String,
    },
    /// Say whether the written record is to stay.
    Keep {
        /// Or to be deleted.
        keep: bool,
    },
}

/// What an awaited seat answers.
pub(super) struct Reply {
    pub(super) take: u16,
    pub(super) cue: Cue,
    pub(super) text: String,
}

impl Command {
    /// What turns a debate to another question, and says so on the record.
    pub fn steer(topic: String) -> [Command; 2] {
        let text = format!("The topic is now: {topic}");
        let because = "the user steers".into();
        [Command::Amend { change: Change::Topic { topic }, because }, Command::Interject { text }]
    }

    /// What asks for more about one thing.
    pub fn deepen(about: &str) -> Command {
        Command::Interject { text: format!("Go deeper on this: {about}") }
    }

    /// Whether it asks for something that somebody has to be fetched for, and not only for words on
    /// the record.
    pub fn sets_going(&self) -> bool {
        matches!(
            self,
            Command::Reply { .. }
                | Command::Continue { .. }
                | Command::Conclude { .. }
                | Command::Reopen { .. }
        )
    }

    /// The event that fulfils it, or the reply it is, which has to be read first.
    pub(super) fn event(self) -> Result<Event, Reply> {
        Ok(match self {
            Command::Reply { take, cue, text } => return Err(Reply { take, cue, text }),
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

/// Commands, and where to say whether they were recorded: all of them, or none.
pub struct Request {
    /// The wishes.
    pub commands: Vec<Command>,
    /// The answer to it.
    pub answer: oneshot::Sender<Result<(), Error>>,
}

/// Why a command was not carried out, or a debate cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not now.
    #[error(transparent)]
    Illegal(#[from] Box<Illegal>),
    /// The reply could be read, but not taken.
    #[error("the reply was not taken: {}", .0.iter().map(|f| f.says.as_str()).collect::<Vec<_>>().join("; "))]
    Refused(Vec<Finding>),
    /// The reply could not be read.
    #[error("the reply was not taken: {0}")]
    Unreadable(String),
    /// The turn was taken before, with other words.
    #[error("turn {0} was taken already, with another text")]
    Taken(Cue),
    /// The archive would not take it.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The debate is no longer being run.
    #[error("the debate is no longer being run by this process")]
    Gone,
}

impl From<Illegal> for Error {
    fn from(illegal: Illegal) -> Error {
        Error::Illegal(Box::new(illegal))
    }
}
