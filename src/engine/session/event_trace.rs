//! Log lines about the events of a session. They never contain the text of prompts or replies.
use crate::debate::{Cue, Debate, Envelope, Event, PauseReason, Step};

/// Logs an event after it was recorded.
pub(super) fn log_event(debate: &Debate, seq: u64, event: &Event) {
    let id = debate.setup().id.as_str();
    let seat = |cue: Cue| debate.seat(cue).name.as_str();
    match event {
        Event::Asked { cues, .. } => {
            tracing::debug!(debate = %id, seq, turns = cues.len(), "turns asked");
        }
        Event::Spoke { cue, reply } => {
            let Envelope { tool, duration_ms, tokens_in, tokens_out, .. } = &reply.envelope;
            tracing::info!(
                debate = %id,
                seq,
                turn = %cue,
                seat = seat(*cue),
                %tool,
                duration_ms,
                tokens_in,
                tokens_out,
                citations = reply.citations.len(),
                "turn answered"
            );
        }
        Event::Refused { cue, attempt } => {
            let (seat, findings) = (seat(*cue), attempt.findings.len());
            tracing::info!(debate = %id, seq, turn = %cue, seat, findings, "reply refused");
        }
        Event::Failed { cue, failure } => {
            let (seat, reason) = (seat(*cue), failure.trouble.as_str());
            tracing::info!(debate = %id, seq, turn = %cue, seat, reason, "turn failed");
        }
        Event::Continued { before } => {
            tracing::info!(debate = %id, seq, round = before.round, "debate continued");
        }
        Event::Concluded { .. } => tracing::info!(debate = %id, seq, "debate concluded early"),
        Event::Cancelled { .. } => tracing::info!(debate = %id, seq, "debate cancelled"),
        Event::Closed { outcome } => {
            tracing::info!(debate = %id, seq, ?outcome, "debate finished");
        }
        Event::Reopened { from } => {
            tracing::info!(debate = %id, seq, turn = %from, "debate reopened");
        }
        // The archive logs every event at debug level.
        Event::Interjected { .. }
        | Event::Held
        | Event::Amended { .. }
        | Event::Decided { .. }
        | Event::Learned { .. }
        | Event::Kept { .. } => {}
    }
}

/// Logs what an idle session waits for.
pub(super) fn log_idle(debate: &Debate, step: &Step) {
    let id = debate.setup().id.as_str();
    match step {
        Step::Speak { awaited, .. } => {
            tracing::debug!(debate = %id, turns = awaited.len(), "waiting for replies");
        }
        Step::Hold { next, pause } => {
            let reason = match pause {
                PauseReason::UserHold => "hold",
                PauseReason::BudgetExhausted { .. } => "budget exhausted",
            };
            tracing::info!(debate = %id, reason, turn = %next, "debate paused");
        }
        Step::Close(_) | Step::Done => tracing::debug!(debate = %id, "session idle"),
    }
}
