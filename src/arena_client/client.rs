//! The arena client: its config, what it needs, and its errors. `play` has the loop from joining to
//! the result, `requests` the retries.
mod play;
mod requests;

use super::api::ArenaApi;
use super::events::ClientEvent;
use super::prompt::SpeechTemplates;
use crate::app::OneShotProvider;
use crate::debate::{Effort, Participant};
use std::time::Duration;

/// Config of the client.
#[derive(Clone, Debug)]
pub(crate) struct ArenaClientConfig {
    /// Display name of the bot.
    pub name: String,
    /// Id of the bot.
    pub uuid: String,
    /// Participant that writes the speeches.
    pub participant: Participant,
    /// Reasoning effort of the model.
    pub effort: Option<Effort>,
    /// Poll interval.
    pub poll_interval: Duration,
    /// How long to retry while the server is unreachable.
    pub outage_timeout: Duration,
    /// How long to wait for a debate to join.
    pub join_timeout: Duration,
}

/// Error that ends the client.
#[derive(Debug, thiserror::Error)]
pub enum ArenaClientError {
    #[error("there is no debate to join")]
    NoDebate,
    #[error("the debate has no free seat{0}")]
    DebateFull(String),
    #[error("there is no such debate{0}")]
    DebateNotFound(String),
    #[error("the platform does not accept the key of this seat{0}")]
    SeatLost(String),
    #[error("the platform refused the request{0}")]
    Refused(String),
    #[error("the platform cannot be reached: {0}")]
    Unreachable(String),
    #[error("cannot store the credentials of the seat: {0}")]
    Credentials(#[from] std::io::Error),
    #[error("the system provides no random numbers: {0}")]
    NoRandomness(String),
}

impl ArenaClientError {
    /// Hint for the user how to fix the error.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ArenaClientError::NoDebate => Some("`--wait-for-debate 15m` waits for one"),
            ArenaClientError::DebateFull(_) => {
                Some("leave `--debate` out to join any that waits for a bot")
            }
            ArenaClientError::DebateNotFound(_) => {
                Some("check the id, or leave `--debate` out to join any")
            }
            ArenaClientError::SeatLost(_) => Some("the same command asks for a new seat"),
            ArenaClientError::Refused(_) => {
                Some("check the address: it is the part before `/api/debate`")
            }
            ArenaClientError::Unreachable(_) => {
                Some("check the address; with `--debate ID` the same command resumes later")
            }
            ArenaClientError::Credentials(_) => Some("check the folder DEBATE_HOME"),
            ArenaClientError::NoRandomness(_) => None,
        }
    }
}

/// A client for one remote arena.
pub(crate) struct ArenaClient<'a> {
    /// API of the server.
    pub api: &'a dyn ArenaApi,
    /// Runs the model.
    pub provider: &'a dyn OneShotProvider,
    /// Prompt templates.
    pub templates: &'a SpeechTemplates,
    /// Config of the client.
    pub config: &'a ArenaClientConfig,
    /// Callback for progress events.
    pub on_event: &'a (dyn Fn(ClientEvent) + Send + Sync),
}

fn random_bytes<const N: usize>() -> Result<[u8; N], ArenaClientError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| ArenaClientError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}

/// Generates a random UUID (version 4).
pub(crate) fn random_uuid() -> Result<String, ArenaClientError> {
    let number = u128::from_be_bytes(random_bytes::<16>()?);
    // Set the version (4) and variant (RFC 4122) bits.
    let number = number & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{number:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Ok(parts.join("-"))
}

#[cfg(test)]
mod tests;
