//! Exit codes ([`Exit`]) and the error type of all commands ([`CliError`]), with a hint for each
//! error.
use crate::app::AppError;
use crate::app::error::OutcomeError;
use crate::app::pairing::VacantSeat;
use crate::arena_client::ArenaClientError;
use crate::debate::{Debate, FailureKind, SetupError, Status, status};
use crate::engine::{ArchiveError, LogError, SessionError};
use std::io;

/// Exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// The command failed.
    Failure = 1,
    /// Invalid usage, cancelled, or stopped before the end.
    Stopped = 2,
    /// The verdict blocks the change.
    Blocked = 3,
    /// No model is available for a seat, or it is not logged in.
    NoModel = 4,
    /// Finished, but with failed turns or missing parts.
    Degraded = 5,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> std::process::ExitCode {
        std::process::ExitCode::from(exit as u8)
    }
}

/// Error of a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The reader of stdout has closed the pipe.
    #[error("the reader of stdout has closed the pipe")]
    BrokenPipe,
    /// Invalid arguments: message and hint.
    #[error("{0}")]
    Usage(String, String),
    /// No model for a seat: message and hint.
    #[error("{0}")]
    NoModel(String, String),
    /// Error of the application.
    #[error(transparent)]
    App(#[from] AppError),
    /// Error of the arena client.
    #[error(transparent)]
    ArenaClient(#[from] ArenaClientError),
    /// I/O error, with the path.
    #[error("`{0}`: {1}")]
    File(String, io::Error),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl CliError {
    /// Exit code of this error.
    pub fn exit(&self) -> Exit {
        match self {
            CliError::BrokenPipe => Exit::Ok,
            CliError::Usage(..) => Exit::Stopped,
            CliError::NoModel(..) => Exit::NoModel,
            CliError::App(error) => match error {
                AppError::ProviderUnavailable(_)
                | AppError::VacantSeat(_)
                | AppError::NoCandidateLeft(..)
                | AppError::ProbeFailed { .. } => Exit::NoModel,
                AppError::InvalidConfig(_)
                | AppError::UnknownFormat { .. }
                | AppError::RoundsOutOfRange { .. }
                | AppError::InvalidFormat { .. }
                | AppError::BiasedJudge { .. }
                | AppError::InvalidOption(_)
                | AppError::SideConflict(_)
                | AppError::InvalidSetup(_)
                | AppError::Context(_)
                | AppError::NoDebateHere { .. }
                | AppError::OnlyUnsignedFile(_)
                | AppError::UnknownSeat { .. }
                | AppError::Outcome(_)
                | AppError::Session(SessionError::Log(LogError::LeaseLost { .. }))
                | AppError::Archive(
                    ArchiveError::UnknownDebate(_) | ArchiveError::AmbiguousId(..),
                ) => Exit::Stopped,
                _ => Exit::Failure,
            },
            CliError::ArenaClient(_) | CliError::File(..) | CliError::Other(_) => Exit::Failure,
        }
    }

    /// What the user can do about this error, if known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            CliError::Usage(_, hint) | CliError::NoModel(_, hint) => hint.as_str(),
            CliError::ArenaClient(error) => return error.hint().map(Into::into),
            CliError::App(AppError::VacantSeat(VacantSeat(role))) => {
                return Some(format!(
                    "name one with `--{role} SEAT`, or install another model CLI; `debate models` \
                     shows who can play, and `debate demo` needs no model"
                ));
            }
            CliError::App(AppError::InvalidConfig(_)) => {
                "fix `debate/config.toml` in your configuration directory"
            }
            CliError::App(AppError::ProbeFailed { alternatives, .. })
                if !alternatives.is_empty() =>
            {
                return Some(format!("others that can be named here: {}", alternatives.join(", ")));
            }
            CliError::App(AppError::ProbeFailed { .. } | AppError::NoCandidateLeft(..)) => {
                "`debate models --probe` tests every model; `--no-probe` starts without the test"
            }
            CliError::App(AppError::ProviderUnavailable(_)) => {
                "`debate models` shows who can play; `human`, `script:FILE` and `demo` always can"
            }
            CliError::App(AppError::SideConflict(_)) => {
                "name two that differ; `debate models` shows who can play"
            }
            CliError::App(AppError::UnknownFormat { .. }) => "`debate formats` lists the formats",
            CliError::App(AppError::InvalidFormat { .. }) => {
                "fix that file; `debate formats` shows whether it is valid"
            }
            CliError::App(AppError::BiasedJudge { .. }) => {
                "name another with `--judge SEAT`; `--same-judge` allows it, and the verdict says \
                 so"
            }
            CliError::App(AppError::Outcome(error)) => return Some(outcome_hint(error)),
            CliError::App(AppError::InvalidOption(_)) => {
                "`debate formats NAME` shows what a format takes"
            }
            CliError::App(AppError::RoundsOutOfRange { .. }) => {
                "leave `--rounds` out for the default number"
            }
            CliError::App(AppError::InvalidSetup(SetupError::EmptyTopic)) => {
                "ask a question, as in: debate run \"sqlx or rusqlite?\" ..."
            }
            CliError::App(AppError::InvalidSetup(SetupError::TooLong(..))) => {
                "put the question in a sentence, and the rest into a file for `--context file=PATH`"
            }
            CliError::App(AppError::InvalidSetup(SetupError::InvalidPrompt(..))) => {
                "fix or remove your own prompt of that name"
            }
            CliError::App(AppError::Context(_)) => {
                "`--context none`, or `debate brief --help` for what can be given"
            }
            CliError::App(AppError::NoDebateHere { .. }) => {
                "`debate list --all` shows those of other repositories"
            }
            CliError::App(AppError::Archive(ArchiveError::UnknownDebate(_))) => {
                "`debate list --all` shows every debate there is"
            }
            CliError::App(AppError::Archive(ArchiveError::AmbiguousId(..))) => {
                "give more of the id; `debate list --all` shows them"
            }
            CliError::App(AppError::Archive(ArchiveError::LeaseHeld { id, .. })) => {
                return Some(format!(
                    "`debate watch {id}` follows it; `debate resume {id} --take-over` takes it \
                     over, and the other stops"
                ));
            }
            CliError::App(AppError::OnlyUnsignedFile(unsigned)) => {
                return Some(format!(
                    "`debate import {}` imports it as a transcript; then `debate resume`",
                    unsigned.path.display()
                ));
            }
            CliError::App(AppError::UnknownSeat { names, .. }) => {
                return Some(format!("its seats are {names}"));
            }
            CliError::App(AppError::Session(SessionError::Log(LogError::LeaseLost { .. }))) => {
                "`debate watch` follows it; `debate resume --take-over` takes it back"
            }
            CliError::App(AppError::Archive(ArchiveError::Storage(_))) => {
                "`debate doctor` shows more; state files in your repositories can be imported again"
            }
            CliError::App(AppError::CommandTimedOut { .. }) => {
                "try again; `debate resume --take-over` takes it over from the stuck process"
            }
            CliError::App(AppError::CorruptLog { .. }) => {
                "`debate show` and `debate export` still read it"
            }
            CliError::App(AppError::Archive(ArchiveError::SchemaTooNew(_))) => {
                "update this program, or set DEBATE_HOME to another folder"
            }
            _ => return None,
        };
        Some(hint.into())
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::BrokenPipe,
            _ => CliError::Other(error.to_string()),
        }
    }
}

impl From<ArchiveError> for CliError {
    fn from(error: ArchiveError) -> CliError {
        CliError::App(error.into())
    }
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> CliError {
        CliError::App(error.into())
    }
}

impl From<crate::debate::SetupError> for CliError {
    fn from(error: crate::debate::SetupError) -> CliError {
        CliError::App(error.into())
    }
}

/// Exit code for the status of a debate.
pub fn exit_for_debate(debate: &Debate) -> Exit {
    match status::status(debate) {
        Status::Completed => Exit::Ok,
        Status::Degraded => Exit::Degraded,
        Status::InProgress | Status::Paused | Status::Cancelled => Exit::Stopped,
        Status::Aborted | Status::Failed => {
            let is_model_error =
                |kind| matches!(kind, FailureKind::NotFound | FailureKind::NotLoggedIn);
            let no_model =
                debate.failed_turns().any(|(_, failure)| is_model_error(failure.trouble));
            if no_model { Exit::NoModel } else { Exit::Failure }
        }
    }
}

/// What the user can do if an outcome cannot be recorded.
fn outcome_hint(error: &OutcomeError) -> String {
    match error {
        OutcomeError::NotEnded { id } => format!("`debate resume {id}` goes on with it"),
        OutcomeError::EmptyDecision => {
            "write it in your own words, or leave `--decided` out".into()
        }
        OutcomeError::NoVerdict => "`--decided TEXT` records what you decided".into(),
    }
}
