//! Estimates the calls and tokens of a debate before it starts, by walking through all phases of
//! its format with replies of typical length.
use crate::debate::setup::debate_setup::Setup;
use crate::debate::setup::format::{MAX_OPEN_ROUNDS, ReplyKind, Rounds, TranscriptScope};

/// Estimated usage of one seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatEstimate {
    /// Index of the seat in the setup.
    pub seat: u8,
    /// Number of requests.
    pub calls: u32,
    /// Estimated input tokens.
    pub tokens_in: u64,
    /// Estimated output tokens.
    pub tokens_out: u64,
}

/// Approximate bytes per token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens of every prompt besides its template and the transcript: markers, headings, claim
/// statuses.
const PROMPT_OVERHEAD_TOKENS: u64 = 200;

/// Estimates the usage of every seat played by a model, for all rounds and without retries.
pub fn estimate_usage(setup: &Setup) -> Vec<SeatEstimate> {
    let seats = || setup.seats.iter().zip(0u8..);
    let mut estimates: Vec<SeatEstimate> = seats()
        .map(|(_, seat)| SeatEstimate { seat, calls: 0, tokens_in: 0, tokens_out: 0 })
        .collect();
    let fixed_tokens =
        (setup.topic.len() + setup.brief.len()) as u64 / BYTES_PER_TOKEN + PROMPT_OVERHEAD_TOKENS;
    let mut transcript_tokens = 0;
    for (act, rounds) in setup.format.acts.iter().zip(setup.format.round_ranges(setup.rounds)) {
        // The user ends an open act, so the configured number of rounds is the best guess.
        let max_rounds = if act.rounds == Rounds::Open { setup.rounds } else { MAX_OPEN_ROUNDS };
        for _ in rounds.take_while(|round| *round <= max_rounds) {
            for phase in &act.phases {
                let template_tokens =
                    setup.prompts.get(&phase.name).map_or(0, String::len) as u64 / BYTES_PER_TOKEN;
                let visible_tokens = match phase.hears {
                    TranscriptScope::Nothing => 0,
                    // The prompt has a summary and the last round instead of all earlier speeches.
                    TranscriptScope::Digest => transcript_tokens.min(
                        typical_reply_tokens(ReplyKind::Sections)
                            + 2 * typical_reply_tokens(ReplyKind::Speech),
                    ),
                    _ => transcript_tokens,
                };
                let speaks = |role| phase.speakers.roles().contains(&role);
                for (seat, index) in seats().filter(|(seat, _)| speaks(seat.role)) {
                    let reply_tokens = typical_reply_tokens(phase.reply);
                    transcript_tokens += reply_tokens;
                    if !seat.voice.is_awaited() {
                        let seat_estimate = &mut estimates[usize::from(index)];
                        seat_estimate.calls += 1;
                        seat_estimate.tokens_in += fixed_tokens + template_tokens + visible_tokens;
                        seat_estimate.tokens_out += reply_tokens;
                    }
                }
            }
        }
    }
    estimates.retain(|estimate| estimate.calls > 0);
    estimates
}

/// Typical length of a reply, in tokens.
fn typical_reply_tokens(kind: ReplyKind) -> u64 {
    match kind {
        ReplyKind::Speech => 1_000,
        ReplyKind::Verdict | ReplyKind::Sections => 700,
        ReplyKind::Audit => 500,
        ReplyKind::Score | ReplyKind::Petition | ReplyKind::Ruling | ReplyKind::Vote => 200,
    }
}

#[cfg(test)]
mod tests;
