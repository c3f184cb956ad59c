//! Probe requests: a small prompt to each model before a debate is created, to see whether it
//! answers.
use crate::app::App;
use crate::debate::{Cue, Envelope, FailureKind, Participant, ReplyKind, Role, TurnFailure};
use crate::engine::ports::{ProviderReply, ReplyStream, TurnRequest};
use futures_util::future::join_all;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;

/// Prompt of the probe request.
const PROBE_PROMPT: &str = "Reply with the single word OK and nothing else.";
/// Timeout of a probe. A slower model gets a warning and keeps its seat.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(30);
/// With less time left no probe is sent.
const MIN_PROBE_TIME: Duration = Duration::from_secs(1);

/// Result of a probe request to one model.
#[derive(Clone, Debug)]
pub struct ProbeResult {
    pub participant: Participant,
    pub result: Result<Envelope, TurnFailure>,
}

impl App {
    /// Probes models concurrently, each once. Those with a fresh result in the cache are skipped.
    pub async fn probe(
        &self,
        mut participants: Vec<Participant>,
        timeout: Duration,
    ) -> Vec<ProbeResult> {
        let timeout = timeout.min(PROBE_TIMEOUT);
        if timeout < MIN_PROBE_TIME {
            return vec![];
        }
        let mut seen: Vec<Participant> = vec![];
        participants.retain(|participant| {
            let first = !seen.contains(participant);
            seen.push(participant.clone());
            first && self.providers.is_model(participant) && !self.probe_cache.is_fresh(participant)
        });
        join_all(participants.into_iter().map(|participant| async move {
            let request = probe_request(&participant, timeout);
            let stream = ReplyStream::discard(request.cue);
            let started = Instant::now();
            tracing::debug!(participant = %participant, "probe sent");
            let response =
                tokio::time::timeout(timeout, self.providers.request_reply(&request, stream));
            let result = response.await.unwrap_or_else(|_| {
                let note = format!("no reply within {} s", timeout.as_secs());
                Err(TurnFailure::new(FailureKind::TimedOut, note))
            });
            let result = result.map(|ProviderReply { envelope, .. }| envelope);
            let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            match &result {
                Ok(_) => {
                    tracing::debug!(participant = %participant, elapsed_ms, "probe answered");
                    self.probe_cache.insert(&participant);
                }
                Err(failure) => {
                    let reason = failure.trouble.as_str();
                    tracing::info!(participant = %participant, elapsed_ms, reason, "probe failed");
                }
            }
            ProbeResult { participant, result }
        }))
        .await
    }
}

/// The request of a probe. It belongs to no debate.
fn probe_request(participant: &Participant, timeout: Duration) -> TurnRequest {
    TurnRequest {
        debate_id: String::new(),
        cue: Cue { act: 0, round: 0, phase: 0, seat: 0 },
        seat: "probe".into(),
        role: Role::Pro,
        phase: "probe".into(),
        round: 0,
        reply_kind: ReplyKind::Speech,
        participant: participant.clone(),
        effort: None,
        prompt: PROBE_PROMPT.into(),
        timeout_secs: u32::try_from(timeout.as_secs()).unwrap_or(u32::MAX),
        schema: None,
        web_allowed: false,
        root: PathBuf::new(),
        pin: None,
        attempt: 1,
    }
}
