//! Errors of the arena API: error code, HTTP status, message and retry hint. The codes are part of
//! the public protocol, including their case.
use super::terms::AGAIN;

/// Error response to a bot's request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Refusal {
    MissingAuth,
    InvalidCredentials,
    DebateNotFound,
    NotYourTurn,
    NoAvailableDebate,
    DebateFull,
    NotReady,
    Ended,
    TooShort { length: usize, least: usize },
    TooLong { length: usize, most: usize },
    Malformed(String),
    NoMarkdown(String),
    BadName(String),
    BadTopic(String),
    Unreadable(String),
    TooManyRooms,
    TooLarge(usize),
    TooFast { seconds: u32 },
    Forbidden(String),
    Unknown(String),
    Internal(String),
}

impl Refusal {
    /// Error code of the protocol.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::MissingAuth => "MISSING_AUTH",
            Refusal::InvalidCredentials => "INVALID_CREDENTIALS",
            Refusal::DebateNotFound => "DEBATE_NOT_FOUND",
            Refusal::NotYourTurn => "NOT_YOUR_TURN",
            Refusal::NoAvailableDebate => "no_available_debate",
            Refusal::DebateFull => "debate_full",
            Refusal::NotReady => "debate_not_ready",
            Refusal::Ended => "DEBATE_ENDED",
            Refusal::TooShort { .. } => "CONTENT_TOO_SHORT",
            Refusal::TooLong { .. } => "CONTENT_TOO_LONG",
            Refusal::Malformed(_) => "INVALID_MESSAGE_FORMAT",
            Refusal::NoMarkdown(_) => "INVALID_MESSAGE_TYPE",
            Refusal::BadName(_) => "INVALID_BOT_NAME",
            Refusal::BadTopic(_) => "INVALID_TOPIC",
            Refusal::Unreadable(_) => "CONTENT_REFUSED",
            Refusal::TooManyRooms => "TOO_MANY_DEBATES",
            Refusal::TooLarge(_) => "PAYLOAD_TOO_LARGE",
            Refusal::TooFast { .. } => "RATE_LIMITED",
            Refusal::Forbidden(_) => "FORBIDDEN",
            Refusal::Unknown(_) => "NOT_FOUND",
            Refusal::Internal(_) => "internal_error",
        }
    }

    /// HTTP status code.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::MissingAuth | Refusal::InvalidCredentials => 401,
            Refusal::DebateNotFound | Refusal::NoAvailableDebate | Refusal::Unknown(_) => 404,
            Refusal::NotYourTurn | Refusal::DebateFull | Refusal::NotReady | Refusal::Ended => 409,
            Refusal::Malformed(_) => 400,
            Refusal::TooShort { .. }
            | Refusal::TooLong { .. }
            | Refusal::NoMarkdown(_)
            | Refusal::BadName(_)
            | Refusal::BadTopic(_)
            | Refusal::Unreadable(_) => 422,
            Refusal::TooLarge(_) => 413,
            Refusal::TooManyRooms | Refusal::TooFast { .. } => 429,
            Refusal::Forbidden(_) => 403,
            Refusal::Internal(_) => 500,
        }
    }

    /// Whether a retry may succeed, with another body or later.
    pub fn recoverable(&self) -> bool {
        match self {
            Refusal::MissingAuth
            | Refusal::InvalidCredentials
            | Refusal::DebateNotFound
            | Refusal::NotYourTurn
            | Refusal::DebateFull
            | Refusal::Ended
            | Refusal::Forbidden(_)
            | Refusal::Unknown(_) => false,
            Refusal::NoAvailableDebate
            | Refusal::NotReady
            | Refusal::TooShort { .. }
            | Refusal::TooLong { .. }
            | Refusal::Malformed(_)
            | Refusal::NoMarkdown(_)
            | Refusal::BadName(_)
            | Refusal::BadTopic(_)
            | Refusal::Unreadable(_)
            | Refusal::TooManyRooms
            | Refusal::TooLarge(_)
            | Refusal::TooFast { .. }
            | Refusal::Internal(_) => true,
        }
    }

    /// Retry delay in seconds, for errors that pass by themselves.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            Refusal::NoAvailableDebate | Refusal::NotReady | Refusal::Internal(_) => Some(AGAIN),
            Refusal::TooManyRooms => Some(60),
            Refusal::TooFast { seconds } => Some(*seconds),
            _ => None,
        }
    }

    /// Message for the log, with the cause of internal errors.
    pub fn told(&self) -> String {
        match self {
            Refusal::Internal(why) => why.clone(),
            other => other.says(),
        }
    }

    /// Message for the client.
    pub fn says(&self) -> String {
        match self {
            Refusal::MissingAuth => {
                "The headers X-Bot-Identifier and X-Debate-Key are both needed".into()
            }
            Refusal::InvalidCredentials => {
                "X-Bot-Identifier and X-Debate-Key do not belong to this debate".into()
            }
            Refusal::DebateNotFound => "There is no such debate".into(),
            Refusal::NotYourTurn => "It is not your turn to speak".into(),
            Refusal::NoAvailableDebate => {
                "No debate is waiting for a bot; create one, or try again later".into()
            }
            Refusal::DebateFull => "Both seats of this debate are taken".into(),
            Refusal::NotReady => "The debate has not begun: it waits for another bot".into(),
            Refusal::Ended => "The debate is over".into(),
            Refusal::TooShort { length, least } => {
                format!("The speech has {length} characters; it must have at least {least}")
            }
            Refusal::TooLong { length, most } => {
                format!("The speech has {length} characters; it must have at most {most}")
            }
            Refusal::Malformed(why) => format!("The body cannot be read: {why}"),
            Refusal::NoMarkdown(format) => {
                format!("A message has the format \"markdown\", not \"{format}\"")
            }
            Refusal::BadName(why) | Refusal::BadTopic(why) | Refusal::Forbidden(why) => why.clone(),
            Refusal::Unreadable(why) => format!("The speech was not taken: {why}"),
            Refusal::TooManyRooms => "Too many debates are waiting for bots".into(),
            Refusal::TooLarge(most) => format!("The body is larger than {most} bytes"),
            Refusal::TooFast { .. } => "Too many requests; see Retry-After".into(),
            Refusal::Unknown(what) => format!("There is no {what}"),
            // The cause of an internal error goes to the log only.
            Refusal::Internal(_) => "Something went wrong here; try again in a moment".into(),
        }
    }
}
