//! [`SessionError`]: the errors of commands and of the session.
use super::ports::LogError;
use super::redaction_gate::RedactionError;
use crate::debate::{Cue, IllegalEvent, RuleFinding};

/// Errors of commands and of the session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The event is not legal at the moment.
    #[error(transparent)]
    Illegal(#[from] Box<IllegalEvent>),
    /// The reply was parsed but breaks rules of the format.
    #[error(
        "the reply was not taken: {}",
        .0.iter().map(|finding| finding.says.as_str()).collect::<Vec<_>>().join("; ")
    )]
    ReplyRejected(Vec<RuleFinding>),
    /// The reply could not be parsed.
    #[error("the reply was not taken: {0}")]
    ReplyUnparsable(String),
    /// The turn already has a reply with another text.
    #[error("turn {0} was taken already, with another text")]
    TurnTaken(Cue),
    /// The log could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// This process does not run the debate any more.
    #[error("the debate is no longer being run by this process")]
    NotRunning,
}

impl From<IllegalEvent> for SessionError {
    fn from(illegal: IllegalEvent) -> SessionError {
        SessionError::Illegal(Box::new(illegal))
    }
}

impl From<RedactionError> for SessionError {
    fn from(error: RedactionError) -> SessionError {
        SessionError::Log(error.into())
    }
}
