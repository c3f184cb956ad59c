//! Errors of the arena API: error code, HTTP status, message and retry hint. The codes are part of
//! the public protocol, including their case.
use super::limits::{DEFAULT_RETRY_SECONDS, TOO_MANY_ROOMS_RETRY_SECONDS};

/// Error response to a bot's request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArenaError {
    MissingAuth,
    InvalidCredentials,
    DebateNotFound,
    NotYourTurn,
    NoAvailableDebate,
    DebateFull,
    DebateNotReady,
    DebateEnded,
    SpeechTooShort { length: usize, min: usize },
    SpeechTooLong { length: usize, max: usize },
    MalformedBody(String),
    UnsupportedFormat(String),
    InvalidBotName(String),
    InvalidTopic(String),
    SpeechRejected(String),
    TooManyRooms,
    BodyTooLarge(usize),
    RateLimited { seconds: u32 },
    Forbidden(String),
    UnknownRoute(String),
    Internal(String),
}

impl ArenaError {
    /// Error code of the protocol.
    pub fn code(&self) -> &'static str {
        match self {
            ArenaError::MissingAuth => "MISSING_AUTH",
            ArenaError::InvalidCredentials => "INVALID_CREDENTIALS",
            ArenaError::DebateNotFound => "DEBATE_NOT_FOUND",
            ArenaError::NotYourTurn => "NOT_YOUR_TURN",
            ArenaError::NoAvailableDebate => "no_available_debate",
            ArenaError::DebateFull => "debate_full",
            ArenaError::DebateNotReady => "debate_not_ready",
            ArenaError::DebateEnded => "DEBATE_ENDED",
            ArenaError::SpeechTooShort { .. } => "CONTENT_TOO_SHORT",
            ArenaError::SpeechTooLong { .. } => "CONTENT_TOO_LONG",
            ArenaError::MalformedBody(_) => "INVALID_MESSAGE_FORMAT",
            ArenaError::UnsupportedFormat(_) => "INVALID_MESSAGE_TYPE",
            ArenaError::InvalidBotName(_) => "INVALID_BOT_NAME",
            ArenaError::InvalidTopic(_) => "INVALID_TOPIC",
            ArenaError::SpeechRejected(_) => "CONTENT_REFUSED",
            ArenaError::TooManyRooms => "TOO_MANY_DEBATES",
            ArenaError::BodyTooLarge(_) => "PAYLOAD_TOO_LARGE",
            ArenaError::RateLimited { .. } => "RATE_LIMITED",
            ArenaError::Forbidden(_) => "FORBIDDEN",
            ArenaError::UnknownRoute(_) => "NOT_FOUND",
            ArenaError::Internal(_) => "internal_error",
        }
    }

    /// HTTP status code.
    pub fn http_status(&self) -> u16 {
        match self {
            ArenaError::MissingAuth | ArenaError::InvalidCredentials => 401,
            ArenaError::DebateNotFound
            | ArenaError::NoAvailableDebate
            | ArenaError::UnknownRoute(_) => 404,
            ArenaError::NotYourTurn
            | ArenaError::DebateFull
            | ArenaError::DebateNotReady
            | ArenaError::DebateEnded => 409,
            ArenaError::MalformedBody(_) => 400,
            ArenaError::SpeechTooShort { .. }
            | ArenaError::SpeechTooLong { .. }
            | ArenaError::UnsupportedFormat(_)
            | ArenaError::InvalidBotName(_)
            | ArenaError::InvalidTopic(_)
            | ArenaError::SpeechRejected(_) => 422,
            ArenaError::BodyTooLarge(_) => 413,
            ArenaError::TooManyRooms | ArenaError::RateLimited { .. } => 429,
            ArenaError::Forbidden(_) => 403,
            ArenaError::Internal(_) => 500,
        }
    }

    /// Whether a retry may succeed, with another body or later.
    pub fn is_recoverable(&self) -> bool {
        match self {
            ArenaError::MissingAuth
            | ArenaError::InvalidCredentials
            | ArenaError::DebateNotFound
            | ArenaError::NotYourTurn
            | ArenaError::DebateFull
            | ArenaError::DebateEnded
            | ArenaError::Forbidden(_)
            | ArenaError::UnknownRoute(_) => false,
            ArenaError::NoAvailableDebate
            | ArenaError::DebateNotReady
            | ArenaError::SpeechTooShort { .. }
            | ArenaError::SpeechTooLong { .. }
            | ArenaError::MalformedBody(_)
            | ArenaError::UnsupportedFormat(_)
            | ArenaError::InvalidBotName(_)
            | ArenaError::InvalidTopic(_)
            | ArenaError::SpeechRejected(_)
            | ArenaError::TooManyRooms
            | ArenaError::BodyTooLarge(_)
            | ArenaError::RateLimited { .. }
            | ArenaError::Internal(_) => true,
        }
    }

    /// Retry delay in seconds, for errors that pass by themselves.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            ArenaError::NoAvailableDebate
            | ArenaError::DebateNotReady
            | ArenaError::Internal(_) => Some(DEFAULT_RETRY_SECONDS),
            ArenaError::TooManyRooms => Some(TOO_MANY_ROOMS_RETRY_SECONDS),
            ArenaError::RateLimited { seconds } => Some(*seconds),
            _ => None,
        }
    }

    /// Message for the log, with the cause of internal errors.
    pub fn log_message(&self) -> String {
        match self {
            ArenaError::Internal(cause) => cause.clone(),
            other => other.message(),
        }
    }

    /// Message for the client.
    pub fn message(&self) -> String {
        match self {
            ArenaError::MissingAuth => {
                "The headers X-Bot-Identifier and X-Debate-Key are both needed".into()
            }
            ArenaError::InvalidCredentials => {
                "X-Bot-Identifier and X-Debate-Key do not belong to this debate".into()
            }
            ArenaError::DebateNotFound => "There is no such debate".into(),
            ArenaError::NotYourTurn => "It is not your turn to speak".into(),
            ArenaError::NoAvailableDebate => {
                "No debate is waiting for a bot; create one, or try again later".into()
            }
            ArenaError::DebateFull => "Both seats of this debate are taken".into(),
            ArenaError::DebateNotReady => {
                "The debate has not begun: it waits for another bot".into()
            }
            ArenaError::DebateEnded => "The debate is over".into(),
            ArenaError::SpeechTooShort { length, min } => {
                format!("The speech has {length} characters; it must have at least {min}")
            }
            ArenaError::SpeechTooLong { length, max } => {
                format!("The speech has {length} characters; it must have at most {max}")
            }
            ArenaError::MalformedBody(reason) => format!("The body cannot be read: {reason}"),
            ArenaError::UnsupportedFormat(format) => {
                format!("The message format must be \"markdown\", not \"{format}\"")
            }
            ArenaError::InvalidBotName(reason)
            | ArenaError::InvalidTopic(reason)
            | ArenaError::Forbidden(reason) => reason.clone(),
            ArenaError::SpeechRejected(reason) => format!("The speech was rejected: {reason}"),
            ArenaError::TooManyRooms => "Too many debates are waiting for bots".into(),
            ArenaError::BodyTooLarge(max) => format!("The body is larger than {max} bytes"),
            ArenaError::RateLimited { .. } => "Too many requests; see Retry-After".into(),
            ArenaError::UnknownRoute(route) => format!("There is no {route}"),
            // The cause of an internal error goes to the log only.
            ArenaError::Internal(_) => "Internal server error; try again in a moment".into(),
        }
    }
}
