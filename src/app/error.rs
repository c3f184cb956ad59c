//! [`AppError`]: the errors of all use cases. A message says what happened; the CLI and the MCP
//! server add what to do.
use crate::app::pairing::VacantSeat;
use crate::app::unsigned_file::UnsignedFile;
use crate::debate::{FailureKind, SetupError, TurnFailure};
use crate::engine::SessionError;
use crate::engine::format_catalog::FormatError;
use crate::engine::ports::{ArchiveError, ContextError, ProviderUnavailable};

/// Errors of the use cases.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AppError {
    #[error("unknown format `{name}`; known: {known}")]
    UnknownFormat { name: String, known: String },
    #[error("the format `{name}` in `{file}` is invalid: {why}")]
    InvalidFormat { name: String, file: String, why: String },
    #[error("`{voice}` would judge a debate in which it argues as {name}")]
    BiasedJudge { voice: String, name: String },
    #[error("{0}")]
    InvalidOption(String),
    #[error("{asked} rounds were asked for; this format has {least} to {most}")]
    RoundsOutOfRange { asked: u64, least: u8, most: u8 },
    #[error("{0}")]
    SideConflict(String),
    #[error(transparent)]
    ProviderUnavailable(#[from] ProviderUnavailable),
    #[error(transparent)]
    VacantSeat(#[from] VacantSeat),
    #[error("{0}: {1}")]
    NoCandidateLeft(VacantSeat, String),
    #[error("invalid configuration: {0}")]
    InvalidConfig(String),
    #[error("`{voice}` does not answer ({}): {}", failure.trouble.as_str(), failure.note)]
    ProbeFailed { voice: String, failure: Box<TurnFailure>, alternatives: Vec<String> },
    #[error(transparent)]
    InvalidSetup(#[from] SetupError),
    #[error(transparent)]
    Context(#[from] ContextError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("there is no {}debate in `{root}`", if *unfinished { "unfinished " } else { "" })]
    NoDebateHere { unfinished: bool, root: String },
    #[error(
        "there is no debate of yours here; `{}` holds one you have not signed: \"{}\", {} turns, \
         said to be by {}",
        .0.path.display(), .0.topic(), .0.transcript.turns.len(), .0.speakers()
    )]
    OnlyUnsignedFile(Box<UnsignedFile>),
    #[error("there is no seat `{name}`")]
    UnknownSeat { name: String, names: String },
    #[error("debate `{id}` can be read but not continued: event {seq} of its log {why}")]
    CorruptLog { id: String, seq: u64, why: String },
    #[error("the log in this file is not one this program could have written: {0}")]
    InvalidImportedLog(String),
    #[error("{0}")]
    CommandRefused(String),
    #[error("{holder} runs this debate and did not answer in time; the command was withdrawn")]
    CommandTimedOut { holder: String },
    #[error(transparent)]
    Outcome(#[from] OutcomeError),
    #[error("no random numbers: {0}")]
    NoRandomness(String),
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Why an outcome cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OutcomeError {
    #[error("this debate has not ended")]
    NotEnded { id: String },
    #[error("the decision is empty")]
    EmptyDecision,
    #[error("this debate came to no verdict that could be right or wrong")]
    NoVerdict,
}

impl From<FormatError> for AppError {
    fn from(error: FormatError) -> AppError {
        match error {
            FormatError::Unknown { name, known } => AppError::UnknownFormat { name, known },
            FormatError::Invalid { name, file, why } => AppError::InvalidFormat { name, file, why },
        }
    }
}

impl AppError {
    /// Whether the cause is that no provider is available or logged in.
    pub fn is_provider_missing(&self) -> bool {
        let is_missing = |failure: &TurnFailure| {
            matches!(failure.trouble, FailureKind::NotFound | FailureKind::NotLoggedIn)
        };
        match self {
            AppError::VacantSeat(_)
            | AppError::NoCandidateLeft(..)
            | AppError::ProviderUnavailable(_) => true,
            AppError::ProbeFailed { failure, .. } => is_missing(failure),
            _ => false,
        }
    }
}
