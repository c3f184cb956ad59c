//! Writes one speech before its deadline: asks the model, retries once if the length is wrong, and
//! truncates the reply if it still does not fit. On a timeout it uses the partial text.
use super::events::ClientEvent;
use super::fit_length::{self, LengthCheck};
use super::prompt::{self, SpeechKind, SpeechTemplates};
use super::protocol::{LengthLimits, PollResponse};
use super::retry_policy;
use crate::app::{OneShotProvider, OneShotReply, OneShotRequest};
use crate::debate::{Effort, FailureKind, Participant, TurnFailure};
use std::time::Duration;
use tokio::time::Instant;

/// A speech that is ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PreparedSpeech {
    pub(super) text: String,
    /// Whether the text was truncated.
    pub(super) truncated: bool,
}

/// Asks the model for speeches.
pub(super) struct SpeechWriter<'a> {
    pub(super) provider: &'a dyn OneShotProvider,
    pub(super) participant: &'a Participant,
    pub(super) effort: Option<Effort>,
    pub(super) templates: &'a SpeechTemplates,
    pub(super) identifier: &'a str,
    pub(super) on_event: &'a (dyn Fn(ClientEvent) + Send + Sync),
}

/// Result of one model request.
enum WriteAttempt {
    Speech(String),
    /// The length is wrong. Holds the text and the reason.
    WrongLength(String, String),
    /// Timeout. Holds the partial text.
    TimedOut(String),
    Failed(String),
}

impl SpeechWriter<'_> {
    /// Writes a speech for the turn that is due. The error is the reason why there is none.
    pub(super) async fn write(
        &self,
        poll: &PollResponse,
        salt: &str,
        time_left: Duration,
    ) -> Result<PreparedSpeech, String> {
        let (limits, deadline) = (poll.limits, Instant::now() + time_left);
        let first_prompt = prompt::build_prompt(self.templates, poll, self.identifier, salt);
        let started = Instant::now();
        let attempt = self.ask_model(poll, first_prompt.clone(), 1, time_left).await;
        let time_left = deadline.saturating_duration_since(Instant::now());
        let can_retry = retry_policy::has_time_to_retry(started.elapsed(), time_left);
        let (draft, reason, retry_prompt) = match attempt {
            WriteAttempt::Speech(text) => return Ok(PreparedSpeech { text, truncated: false }),
            WriteAttempt::WrongLength(draft, reason) => {
                let retry_prompt = prompt::build_retry_prompt(
                    self.templates,
                    &first_prompt,
                    &draft,
                    &reason,
                    salt,
                );
                (draft, reason, retry_prompt)
            }
            WriteAttempt::TimedOut(text) => {
                return truncate_partial(&text, limits).ok_or("it took too long".into());
            }
            WriteAttempt::Failed(reason) => (String::new(), reason, first_prompt),
        };
        if !can_retry {
            return truncate_to_limits(&draft, limits).ok_or(reason);
        }
        (self.on_event)(ClientEvent::AskedAgain { why: reason.clone() });
        match self.ask_model(poll, retry_prompt, 2, time_left).await {
            WriteAttempt::Speech(text) => Ok(PreparedSpeech { text, truncated: false }),
            WriteAttempt::WrongLength(text, _) => truncate_to_limits(&text, limits)
                .or_else(|| truncate_to_limits(&draft, limits))
                .ok_or(reason),
            // A draft that was too long is at least complete up to the cut.
            WriteAttempt::TimedOut(text) => truncate_to_limits(&draft, limits)
                .or_else(|| truncate_partial(&text, limits))
                .ok_or(reason),
            WriteAttempt::Failed(error) => truncate_to_limits(&draft, limits).ok_or(error),
        }
    }

    async fn ask_model(
        &self,
        poll: &PollResponse,
        prompt: String,
        attempt: u8,
        time_left: Duration,
    ) -> WriteAttempt {
        let speech_kind = SpeechKind::from_poll(poll, self.identifier);
        let request = OneShotRequest {
            participant: self.participant.clone(),
            effort: self.effort,
            prompt,
            seat: prompt::own_side(poll).as_str().into(),
            phase: speech_kind.template_names()[0].into(),
            round: u8::try_from(prompt::current_round(poll, self.identifier)).unwrap_or(u8::MAX),
            attempt,
            timeout_secs: u32::try_from(time_left.as_secs()).unwrap_or(u32::MAX).max(1),
        };
        let (round, started) = (request.round, Instant::now());
        tracing::debug!(round, attempt, "prompt sent");
        let OneShotReply { result, partial_text } = self.provider.ask_once(&request).await;
        let elapsed_ms = started.elapsed().as_millis();
        let text = match result {
            Ok(text) => fit_length::normalize(&text),
            Err(TurnFailure { trouble: FailureKind::TimedOut, .. }) => {
                tracing::info!(round, attempt, elapsed_ms, "model timed out");
                return WriteAttempt::TimedOut(fit_length::normalize(&partial_text));
            }
            Err(failure) => {
                let kind = failure.trouble.as_str();
                tracing::info!(round, attempt, elapsed_ms, kind, "model failed");
                return WriteAttempt::Failed(failure.note);
            }
        };
        tracing::info!(round, attempt, elapsed_ms, "turn answered");
        let LengthLimits { min, max } = poll.limits;
        match fit_length::check_length(&text, poll.limits) {
            LengthCheck::WithinLimits => WriteAttempt::Speech(text),
            LengthCheck::TooShort(length) => WriteAttempt::WrongLength(
                text,
                format!("it has {length} characters, and at least {min} are taken"),
            ),
            LengthCheck::TooLong(length) => WriteAttempt::WrongLength(
                text,
                format!("it has {length} characters, and at most {max} are taken"),
            ),
        }
    }
}

/// Truncates a text to the limits. `None` if it is too short.
fn truncate_to_limits(text: &str, limits: LengthLimits) -> Option<PreparedSpeech> {
    let text = fit_length::truncate(text, limits);
    (fit_length::check_length(&text, limits) == LengthCheck::WithinLimits)
        .then_some(PreparedSpeech { text, truncated: true })
}

/// Truncates a partial text. `None` if it is too short.
fn truncate_partial(text: &str, limits: LengthLimits) -> Option<PreparedSpeech> {
    let text = fit_length::truncate_incomplete(text, limits);
    (fit_length::check_length(&text, limits) == LengthCheck::WithinLimits)
        .then_some(PreparedSpeech { text, truncated: true })
}
