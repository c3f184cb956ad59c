//! One-shot requests: asks a participant for one text outside of any debate. Used by the arena
//! client.
//!
//! The participant gets the prompt and an empty folder, without web access or repository. Prompt
//! and reply are redacted as in a debate.
use crate::app::{App, AppError};
use crate::debate::{Cue, Effort, FailureKind, Participant, ReplyKind, Role, TurnFailure};
use crate::engine::ports::{BoxFuture, ProviderReply, ReplyStream, TurnRequest};
use crate::engine::redaction_gate::RedactionGate;
use crate::engine::turn::fetch_reply;
use crate::engine::updates::UpdateBroadcaster;
use std::path::PathBuf;

/// A request for one text.
#[derive(Clone, Debug)]
pub struct OneShotRequest {
    pub participant: Participant,
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
    pub timeout_secs: u32,
}

/// Result of a one-shot request.
#[derive(Clone, Debug)]
pub struct OneShotReply {
    /// The redacted reply, or the error.
    pub result: Result<String, TurnFailure>,
    /// Text streamed before an error or timeout. The caller may use it as a partial reply.
    pub partial_text: String,
}

/// Sends one-shot requests. Implemented by [`App`], and by fakes in tests.
pub trait OneShotProvider: Send + Sync {
    /// Requests one text. Dropping the future cancels the request.
    fn ask_once<'a>(&'a self, errand: &'a OneShotRequest) -> BoxFuture<'a, OneShotReply>;
}

impl OneShotProvider for App {
    fn ask_once<'a>(&'a self, request: &'a OneShotRequest) -> BoxFuture<'a, OneShotReply> {
        Box::pin(async move {
            let gate = RedactionGate::for_one_shot(&self.secrets);
            let turn_request = build_turn_request(request, gate.redact_text(&request.prompt));
            let (cue, broadcaster) = (turn_request.cue, UpdateBroadcaster::default());
            let stream = ReplyStream::new(cue, broadcaster.clone(), &gate);
            let result = fetch_reply(&*self.providers, turn_request, stream).await;
            let result = result.map(|ProviderReply { text, .. }| gate.redact_text(&text));
            OneShotReply { result, partial_text: broadcaster.partial_text(cue) }
        })
    }
}

impl App {
    /// Whether a participant can take one-shot requests: models and scripts only.
    pub fn can_ask_once(&self, participant: &Participant) -> bool {
        let model = matches!(participant, Participant::Model { .. });
        model && (self.providers.is_model(participant) || participant.tool() == "script")
    }

    /// The participant with its default model. Checks configuration and availability.
    pub fn resolve_one_shot(
        &self,
        participant: &Participant,
        effort: Option<Effort>,
    ) -> Result<Participant, AppError> {
        self.providers.check_config().map_err(AppError::InvalidConfig)?;
        let participant =
            self.default_participant(participant, effort).unwrap_or_else(|| participant.clone());
        self.providers.check_available(&participant)?;
        Ok(participant)
    }

    /// Probes a participant. Returns a warning on timeout, and an error if it fails otherwise.
    pub async fn probe_one(&self, participant: &Participant) -> Result<Option<String>, AppError> {
        let probes = self.probe(vec![participant.clone()], std::time::Duration::MAX).await;
        let failed = probes.into_iter().find_map(|probe| probe.result.err());
        match failed {
            None => Ok(None),
            Some(TurnFailure { trouble: FailureKind::TimedOut, note, .. }) => {
                Ok(Some(format!("`{participant}` has not answered yet: {note}")))
            }
            Some(failure) => {
                let failure = Box::new(failure);
                Err(AppError::ProbeFailed {
                    voice: participant.to_string(),
                    failure,
                    alternatives: vec![],
                })
            }
        }
    }
}

fn build_turn_request(request: &OneShotRequest, prompt: String) -> TurnRequest {
    TurnRequest {
        debate_id: String::new(),
        cue: Cue { act: 0, round: request.round, phase: 0, seat: 0 },
        seat: request.seat.clone(),
        role: Role::Pro,
        phase: request.phase.clone(),
        round: request.round,
        reply_kind: ReplyKind::Speech,
        participant: request.participant.clone(),
        effort: request.effort,
        prompt,
        timeout_secs: request.timeout_secs.max(1),
        schema: None,
        web_allowed: false,
        root: PathBuf::new(),
        pin: None,
        attempt: request.attempt,
    }
}
