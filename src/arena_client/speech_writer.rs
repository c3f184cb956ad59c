//! Writes one speech before its deadline: asks the model, retries once if the length is wrong, and
//! truncates the reply if it still does not fit. On a timeout it uses the partial text.
use super::events::ClientEvent;
use super::fit_length::{self, LengthCheck};
use super::prompt::{self, SpeechKind, SpeechTemplates};
use super::protocol::{LengthLimits, PollResponse};
use super::retry_policy;
use crate::debate::{Effort, FailureKind, Participant, TurnFailure};
use crate::engine::{OneShotProvider, OneShotReply, OneShotRequest};
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
        left: Duration,
    ) -> Result<PreparedSpeech, String> {
        let (lengths, until) = (poll.limits, Instant::now() + left);
        let first = prompt::build_prompt(self.templates, poll, self.identifier, salt);
        let began = Instant::now();
        let came = self.ask_model(poll, first.clone(), 1, left).await;
        let left = until.saturating_duration_since(Instant::now());
        let more = retry_policy::has_time_to_retry(began.elapsed(), left);
        let (draft, why, next) = match came {
            WriteAttempt::Speech(text) => return Ok(PreparedSpeech { text, truncated: false }),
            WriteAttempt::WrongLength(draft, why) => {
                let next = prompt::build_retry_prompt(self.templates, &first, &draft, &why, salt);
                (draft, why, next)
            }
            WriteAttempt::TimedOut(text) => {
                return truncate_partial(&text, lengths).ok_or("it took too long".into());
            }
            WriteAttempt::Failed(why) => (String::new(), why, first),
        };
        if !more {
            return truncate_to_limits(&draft, lengths).ok_or(why);
        }
        (self.on_event)(ClientEvent::AskedAgain { why: why.clone() });
        match self.ask_model(poll, next, 2, left).await {
            WriteAttempt::Speech(text) => Ok(PreparedSpeech { text, truncated: false }),
            WriteAttempt::WrongLength(text, _) => truncate_to_limits(&text, lengths)
                .or_else(|| truncate_to_limits(&draft, lengths))
                .ok_or(why),
            // A draft that was too long is at least complete up to the cut.
            WriteAttempt::TimedOut(text) => truncate_to_limits(&draft, lengths)
                .or_else(|| truncate_partial(&text, lengths))
                .ok_or(why),
            WriteAttempt::Failed(later) => truncate_to_limits(&draft, lengths).ok_or(later),
        }
    }

    async fn ask_model(
        &self,
        poll: &PollResponse,
        prompt: String,
        attempt: u8,
        left: Duration,
    ) -> WriteAttempt {
        let moment = SpeechKind::from_poll(poll, self.identifier);
        let errand = OneShotRequest {
            participant: self.participant.clone(),
            effort: self.effort,
            prompt,
            seat: prompt::own_side(poll).as_str().into(),
            phase: moment.template_names()[0].into(),
            round: u8::try_from(prompt::current_round(poll, self.identifier)).unwrap_or(u8::MAX),
            attempt,
            timeout_secs: u32::try_from(left.as_secs()).unwrap_or(u32::MAX).max(1),
        };
        let OneShotReply { result: said, partial_text: so_far } =
            self.provider.ask_once(&errand).await;
        let text = match said {
            Ok(text) => fit_length::normalize(&text),
            Err(TurnFailure { trouble: FailureKind::TimedOut, .. }) => {
                return WriteAttempt::TimedOut(fit_length::normalize(&so_far));
            }
            Err(failure) => return WriteAttempt::Failed(failure.note),
        };
        let LengthLimits { min: least, max: most } = poll.limits;
        match fit_length::check_length(&text, poll.limits) {
            LengthCheck::WithinLimits => WriteAttempt::Speech(text),
            LengthCheck::TooShort(has) => WriteAttempt::WrongLength(
                text,
                format!("it has {has} characters, and at least {least} are taken"),
            ),
            LengthCheck::TooLong(has) => WriteAttempt::WrongLength(
                text,
                format!("it has {has} characters, and at most {most} are taken"),
            ),
        }
    }
}

/// Truncates a text to the limits. `None` if it is too short.
fn truncate_to_limits(text: &str, lengths: LengthLimits) -> Option<PreparedSpeech> {
    let text = fit_length::truncate(text, lengths);
    (fit_length::check_length(&text, lengths) == LengthCheck::WithinLimits)
        .then_some(PreparedSpeech { text, truncated: true })
}

/// Truncates a partial text. `None` if it is too short.
fn truncate_partial(text: &str, lengths: LengthLimits) -> Option<PreparedSpeech> {
    let text = fit_length::truncate_incomplete(text, lengths);
    (fit_length::check_length(&text, lengths) == LengthCheck::WithinLimits)
        .then_some(PreparedSpeech { text, truncated: true })
}
