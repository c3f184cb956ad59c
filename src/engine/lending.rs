//! One-shot requests: asks a participant for one text outside of any debate. Used by the arena
//! client.
//!
//! The participant gets the prompt and an empty folder, without web access or repository. Prompt
//! and reply are redacted as in a debate.
use super::desk::{Desk, DeskError};
use super::gate::Gate;
use super::live::Live;
use super::ports::{Ask, Boxed, Said, Stream};
use super::turn::fetch;
use crate::debate::{Cue, Effort, FailureKind, Participant, ReplyKind, Role, TurnFailure};
use std::path::PathBuf;

/// A request for one text.
#[derive(Clone, Debug)]
pub struct Errand {
    pub voice: Participant,
    /// Reasoning effort.
    pub effort: Option<Effort>,
    pub prompt: String,
    /// Name of the seat. Scripts select their lines by it.
    pub seat: String,
    /// Name of the phase. Scripts select their lines by it.
    pub phase: String,
    /// Round number of the caller.
    pub round: u8,
    /// 1, or 2 after the first reply was rejected.
    pub attempt: u8,
    /// Timeout in seconds.
    pub seconds: u32,
}

/// Result of a one-shot request.
#[derive(Clone, Debug)]
pub struct Lent {
    /// The redacted reply, or the error.
    pub said: Result<String, TurnFailure>,
    /// Text streamed before an error or timeout. The caller may use it as a partial reply.
    pub so_far: String,
}

/// Sends one-shot requests. Implemented by [`App`], and by fakes in tests.
pub trait Lender: Send + Sync {
    /// Requests one text. Dropping the future cancels the request.
    fn lend<'a>(&'a self, errand: &'a Errand) -> Boxed<'a, Lent>;
}

impl Lender for Desk {
    fn lend<'a>(&'a self, errand: &'a Errand) -> Boxed<'a, Lent> {
        Box::pin(async move {
            let gate = Gate::outside(&self.secrets);
            let ask = asked(errand, gate.text(&errand.prompt));
            let (cue, live) = (ask.cue, Live::default());
            let stream = Stream::new(cue, live.clone(), &gate);
            let said = fetch(&*self.voices, ask, stream).await;
            let said = said.map(|Said { text, .. }| gate.text(&text));
            Lent { said, so_far: live.said(cue) }
        })
    }
}

impl Desk {
    /// Whether a participant can take one-shot requests: models and scripts only.
    pub fn lends(&self, voice: &Participant) -> bool {
        let model = matches!(voice, Participant::Model { .. });
        model && (self.voices.model(voice) || voice.tool() == "script")
    }

    /// The participant with its default model. Checks configuration and availability.
    pub fn lendable(
        &self,
        voice: &Participant,
        effort: Option<Effort>,
    ) -> Result<Participant, DeskError> {
        self.voices.sound().map_err(DeskError::Settings)?;
        let voice = self.usually(voice, effort).unwrap_or_else(|| voice.clone());
        self.voices.playable(&voice)?;
        Ok(voice)
    }

    /// Probes a participant. Returns a warning on timeout, and an error if it fails otherwise.
    pub async fn answers(&self, voice: &Participant) -> Result<Option<String>, DeskError> {
        let probes = self.probe(vec![voice.clone()], std::time::Duration::MAX).await;
        let failed = probes.into_iter().find_map(|probe| probe.came.err());
        match failed {
            None => Ok(None),
            Some(TurnFailure { trouble: FailureKind::TimedOut, note, .. }) => {
                Ok(Some(format!("`{voice}` has not answered yet: {note}")))
            }
            Some(failure) => {
                let (voice, failure) = (voice.to_string(), Box::new(failure));
                Err(DeskError::Silent { voice, failure, others: vec![] })
            }
        }
    }
}

fn asked(errand: &Errand, prompt: String) -> Ask {
    Ask {
        debate: String::new(),
        cue: Cue { act: 0, round: errand.round, phase: 0, seat: 0 },
        seat: errand.seat.clone(),
        role: Role::Pro,
        phase: errand.phase.clone(),
        round: errand.round,
        reply: ReplyKind::Speech,
        voice: errand.voice.clone(),
        effort: errand.effort,
        prompt,
        seconds: errand.seconds.max(1),
        schema: None,
        web: false,
        root: PathBuf::new(),
        pin: None,
        attempt: errand.attempt,
    }
}
