//! Requests of the client with retries: polls, speeches and the backoff between attempts. Entry
//! points: `poll_with_retry`, `send_speech` and `back_off`, which `ArenaClient::run` uses, so that
//! an outage of the server does not end the debate at once.
use super::{ArenaClient, ArenaClientError, random_bytes};
use crate::arena_client::api::ArenaApiError;
use crate::arena_client::events::ClientEvent;
use crate::arena_client::fit_length::{self, lower_limits};
use crate::arena_client::protocol::{PollResponse, RemoteError, SeatCredentials};
use crate::arena_client::retry_policy::{self, ErrorAction, RequestKind};
use crate::arena_client::speech_writer::PreparedSpeech;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a speech is shortened for a server that counts its length differently.
const MAX_SHORTENINGS: usize = 3;

/// Retry counter for the backoff. A successful request resets it.
#[derive(Default)]
pub(super) struct RetryState {
    attempt: u32,
    since: Option<Instant>,
}

/// Outcome of sending a speech.
pub(super) enum SendOutcome {
    Accepted {
        chars: usize,
        truncated: bool,
    },
    /// Unknown. The next poll tells whether the speech was accepted.
    Unknown,
    /// Too short. Holds its length in characters.
    TooShort(usize),
    Rejected(String),
}

impl ArenaClient<'_> {
    /// Sends a speech. Shortens it if the server finds it too long.
    pub(super) async fn send_speech(
        &self,
        credentials: &SeatCredentials,
        poll: &PollResponse,
        speech: &PreparedSpeech,
        retries: &mut RetryState,
    ) -> Result<SendOutcome, ArenaClientError> {
        let PreparedSpeech { mut text, mut truncated } = speech.clone();
        let (mut limits, timeout) = (poll.limits, self.config.outage_timeout);
        for _ in 0..=MAX_SHORTENINGS {
            let refusal = match self.api.speak(credentials, &text).await {
                Ok(()) => {
                    return Ok(SendOutcome::Accepted { chars: text.chars().count(), truncated });
                }
                Err(ArenaApiError::Refused(refusal)) => refusal,
                Err(ArenaApiError::Unreachable(why) | ArenaApiError::InvalidResponse(why)) => {
                    self.back_off(retries, why, None, timeout).await?;
                    return Ok(SendOutcome::Unknown);
                }
            };
            match retry_policy::classify_error(RequestKind::Speech, &refusal) {
                ErrorAction::PollAgain => return Ok(SendOutcome::Unknown),
                ErrorAction::RetryLater(delay) => {
                    self.back_off(retries, describe_error(&refusal), delay, timeout).await?;
                    return Ok(SendOutcome::Unknown);
                }
                ErrorAction::Shorten => {
                    limits = lower_limits(&text, limits);
                    text = fit_length::truncate(&text, limits);
                    truncated = true;
                }
                ErrorAction::Lengthen => return Ok(SendOutcome::TooShort(text.chars().count())),
                ErrorAction::SeatLost => {
                    return Err(ArenaClientError::SeatLost(error_suffix(&refusal)));
                }
                ErrorAction::DebateNotFound => {
                    return Err(ArenaClientError::DebateNotFound(error_suffix(&refusal)));
                }
                _ => return Ok(SendOutcome::Rejected(describe_error(&refusal))),
            }
        }
        Ok(SendOutcome::Rejected("the platform found it too long at every length".into()))
    }

    /// Polls until a request succeeds.
    pub(super) async fn poll_with_retry(
        &self,
        credentials: &SeatCredentials,
        wait: bool,
        retries: &mut RetryState,
    ) -> Result<PollResponse, ArenaClientError> {
        let timeout = self.config.outage_timeout;
        loop {
            let refusal = match self.api.poll(credentials, wait).await {
                Ok(poll) => {
                    *retries = RetryState::default();
                    return Ok(poll);
                }
                Err(ArenaApiError::Refused(refusal)) => refusal,
                Err(ArenaApiError::Unreachable(why) | ArenaApiError::InvalidResponse(why)) => {
                    self.back_off(retries, why, None, timeout).await?;
                    continue;
                }
            };
            match retry_policy::classify_error(RequestKind::Poll, &refusal) {
                ErrorAction::SeatLost => {
                    return Err(ArenaClientError::SeatLost(error_suffix(&refusal)));
                }
                ErrorAction::DebateNotFound => {
                    return Err(ArenaClientError::DebateNotFound(error_suffix(&refusal)));
                }
                ErrorAction::RetryLater(delay) => {
                    self.back_off(retries, describe_error(&refusal), delay, timeout).await?;
                }
                _ => return Err(ArenaClientError::Refused(error_suffix(&refusal))),
            }
        }
    }

    /// Waits before a retry, with exponential backoff. Fails if the retries took longer than
    /// `timeout`.
    pub(super) async fn back_off(
        &self,
        retries: &mut RetryState,
        why: String,
        requested_delay: Option<Duration>,
        timeout: Duration,
    ) -> Result<(), ArenaClientError> {
        let since = *retries.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= timeout {
            return Err(ArenaClientError::Unreachable(why));
        }
        retries.attempt += 1;
        let [random_byte] = random_bytes::<1>()?;
        let delay =
            requested_delay.unwrap_or_else(|| retry_policy::backoff(retries.attempt, random_byte));
        tracing::info!(
            attempt = retries.attempt,
            wait_ms = delay.as_millis(),
            reason = why,
            "request is retried"
        );
        (self.on_event)(ClientEvent::RequestFailed { why, delay });
        sleep(delay).await;
        Ok(())
    }
}

/// Error response as a suffix of a message.
pub(super) fn error_suffix(refusal: &RemoteError) -> String {
    format!(": {}", describe_error(refusal))
}

/// Error response in one line: status, code and message.
pub(super) fn describe_error(refusal: &RemoteError) -> String {
    let code = if refusal.code.is_empty() { String::new() } else { format!(" {}", refusal.code) };
    let message = match refusal.message.split_whitespace().collect::<Vec<_>>().join(" ") {
        message if message.is_empty() => String::new(),
        message => format!(" ({message})"),
    };
    format!("{}{code}{message}", refusal.status)
}
