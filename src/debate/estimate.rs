//! Estimates the calls and tokens of a debate before it starts, by walking through all phases of
//! its format with replies of typical length.
use super::body::Kind;
use super::format::{Hears, OPEN_LIMIT, Rounds};
use super::setup::Setup;

/// Estimated usage of one seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
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
const TOKEN: u64 = 4;
/// Tokens of every prompt besides its template and the transcript: markers, headings, claim
/// statuses.
const FRAME: u64 = 200;

/// Estimates the usage of every seat played by a model, for all rounds and without retries.
pub fn estimate(setup: &Setup) -> Vec<Estimate> {
    let seats = || setup.seats.iter().zip(0u8..);
    let mut all: Vec<Estimate> =
        seats().map(|(_, seat)| Estimate { seat, calls: 0, tokens_in: 0, tokens_out: 0 }).collect();
    let fixed = (setup.topic.len() + setup.brief.len()) as u64 / TOKEN + FRAME;
    let mut said = 0;
    for (act, span) in setup.format.acts.iter().zip(setup.format.spans(setup.rounds)) {
        // The user ends an open act, so the configured number of rounds is the best guess.
        let most = if act.rounds == Rounds::Open { setup.rounds } else { OPEN_LIMIT };
        for _ in span.take_while(|round| *round <= most) {
            for phase in &act.phases {
                let prompt = setup.prompts.get(&phase.name).map_or(0, String::len) as u64 / TOKEN;
                let heard = match phase.hears {
                    Hears::Nothing => 0,
                    // The prompt has a summary and the last round instead of all earlier speeches.
                    Hears::Digest => said.min(usual(Kind::Sections) + 2 * usual(Kind::Speech)),
                    _ => said,
                };
                let speaks = |role| phase.speakers.names().contains(&role);
                for (seat, nth) in seats().filter(|(seat, _)| speaks(seat.role)) {
                    let out = usual(phase.reply);
                    said += out;
                    if !seat.voice.awaited() {
                        let own = &mut all[usize::from(nth)];
                        own.calls += 1;
                        own.tokens_in += fixed + prompt + heard;
                        own.tokens_out += out;
                    }
                }
            }
        }
    }
    all.retain(|one| one.calls > 0);
    all
}

/// Typical length of a reply, in tokens.
fn usual(kind: Kind) -> u64 {
    match kind {
        Kind::Speech => 1_000,
        Kind::Verdict | Kind::Sections => 700,
        Kind::Audit => 500,
        Kind::Score | Kind::Petition | Kind::Ruling | Kind::Vote => 200,
    }
}
