//! Writes one speech before its deadline: asks the model, retries once if the length is wrong, and
//! truncates the reply if it still does not fit. On a timeout it uses the partial text.
use super::fit::{self, Fit};
use super::manners;
use super::news::News;
use super::prompt::{self, Moment, Words};
use super::wire::{Lengths, Poll};
use crate::debate::{Effort, FailureKind, Participant, TurnFailure};
use crate::engine::{OneShotProvider, OneShotReply, OneShotRequest};
use std::time::Duration;
use tokio::time::Instant;

/// A speech that is ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Speech {
    pub(super) text: String,
    /// Whether the text was truncated.
    pub(super) cut: bool,
}

/// Asks the model for speeches.
pub(super) struct Speaker<'a> {
    pub(super) lender: &'a dyn OneShotProvider,
    pub(super) voice: &'a Participant,
    pub(super) effort: Option<Effort>,
    pub(super) words: &'a Words,
    pub(super) identifier: &'a str,
    pub(super) tell: &'a (dyn Fn(News) + Send + Sync),
}

/// Result of one model request.
enum Came {
    Speech(String),
    /// The length is wrong. Holds the text and the reason.
    Draft(String, String),
    /// Timeout. Holds the partial text.
    Late(String),
    Nothing(String),
}

impl Speaker<'_> {
    /// Writes a speech for the turn that is due. The error is the reason why there is none.
    pub(super) async fn speech(
        &self,
        poll: &Poll,
        salt: &str,
        left: Duration,
    ) -> Result<Speech, String> {
        let (lengths, until) = (poll.lengths, Instant::now() + left);
        let first = prompt::prompt(self.words, poll, self.identifier, salt);
        let began = Instant::now();
        let came = self.ask(poll, first.clone(), 1, left).await;
        let left = until.saturating_duration_since(Instant::now());
        let more = manners::again(began.elapsed(), left);
        let (draft, why, next) = match came {
            Came::Speech(text) => return Ok(Speech { text, cut: false }),
            Came::Draft(draft, why) => {
                let next = prompt::again(self.words, &first, &draft, &why, salt);
                (draft, why, next)
            }
            Came::Late(text) => return half(&text, lengths).ok_or("it took too long".into()),
            Came::Nothing(why) => (String::new(), why, first),
        };
        if !more {
            return cut(&draft, lengths).ok_or(why);
        }
        (self.tell)(News::Again { why: why.clone() });
        match self.ask(poll, next, 2, left).await {
            Came::Speech(text) => Ok(Speech { text, cut: false }),
            Came::Draft(text, _) => cut(&text, lengths).or_else(|| cut(&draft, lengths)).ok_or(why),
            // A draft that was too long is at least complete up to the cut.
            Came::Late(text) => cut(&draft, lengths).or_else(|| half(&text, lengths)).ok_or(why),
            Came::Nothing(later) => cut(&draft, lengths).ok_or(later),
        }
    }

    async fn ask(&self, poll: &Poll, prompt: String, attempt: u8, left: Duration) -> Came {
        let moment = Moment::of(poll, self.identifier);
        let errand = OneShotRequest {
            participant: self.voice.clone(),
            effort: self.effort,
            prompt,
            seat: prompt::side(poll).word().into(),
            phase: moment.names()[0].into(),
            round: u8::try_from(prompt::round(poll, self.identifier)).unwrap_or(u8::MAX),
            attempt,
            timeout_secs: u32::try_from(left.as_secs()).unwrap_or(u32::MAX).max(1),
        };
        let OneShotReply { result: said, partial_text: so_far } =
            self.lender.ask_once(&errand).await;
        let text = match said {
            Ok(text) => fit::tidy(&text),
            Err(TurnFailure { trouble: FailureKind::TimedOut, .. }) => {
                return Came::Late(fit::tidy(&so_far));
            }
            Err(failure) => return Came::Nothing(failure.note),
        };
        let Lengths { least, most } = poll.lengths;
        match fit::fit(&text, poll.lengths) {
            Fit::Right => Came::Speech(text),
            Fit::Short(has) => Came::Draft(
                text,
                format!("it has {has} characters, and at least {least} are taken"),
            ),
            Fit::Long(has) => {
                Came::Draft(text, format!("it has {has} characters, and at most {most} are taken"))
            }
        }
    }
}

/// Truncates a text to the limits. `None` if it is too short.
fn cut(text: &str, lengths: Lengths) -> Option<Speech> {
    let text = fit::cut(text, lengths);
    (fit::fit(&text, lengths) == Fit::Right).then_some(Speech { text, cut: true })
}

/// Truncates a partial text. `None` if it is too short.
fn half(text: &str, lengths: Lengths) -> Option<Speech> {
    let text = fit::broken_off(text, lengths);
    (fit::fit(&text, lengths) == Fit::Right).then_some(Speech { text, cut: true })
}
