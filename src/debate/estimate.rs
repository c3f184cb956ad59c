//! What a debate may come to before anything is spent: how many calls, and about how many tokens. It
//! is played to the end in thought, with replies of the usual length, so whatever a format asks for
//! is counted as it would be asked.
use super::body::Kind;
use super::format::{Hears, OPEN_LIMIT, Rounds};
use super::setup::Setup;

/// What one seat may come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Its number.
    pub seat: u8,
    /// How often it is called.
    pub calls: u32,
    /// About how much it reads.
    pub tokens_in: u64,
    /// About how much it writes.
    pub tokens_out: u64,
}

/// Bytes of a token, about. Stated wherever a figure is shown.
const TOKEN: u64 = 4;
/// What stands around every prompt: marks, headings, what is known of claims.
const FRAME: u64 = 200;

/// For each seat that is fetched, if every round is played and nobody is asked twice.
pub fn estimate(setup: &Setup) -> Vec<Estimate> {
    let seats = || setup.seats.iter().zip(0u8..);
    let mut all: Vec<Estimate> =
        seats().map(|(_, seat)| Estimate { seat, calls: 0, tokens_in: 0, tokens_out: 0 }).collect();
    let fixed = (setup.topic.len() + setup.brief.len()) as u64 / TOKEN + FRAME;
    let mut said = 0;
    for (act, span) in setup.format.acts.iter().zip(setup.format.spans(setup.rounds)) {
        // An open act ends when the user ends it; what was asked for is as good a guess as any.
        let most = if act.rounds == Rounds::Open { setup.rounds } else { OPEN_LIMIT };
        for _ in span.take_while(|round| *round <= most) {
            for phase in &act.phases {
                let prompt = setup.prompts.get(&phase.name).map_or(0, String::len) as u64 / TOKEN;
                let heard = match phase.hears {
                    Hears::Nothing => 0,
                    // A summary and the last round stand for everything before.
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

/// How long replies usually are, in tokens.
fn usual(kind: Kind) -> u64 {
    match kind {
        Kind::Speech => 1_000,
        Kind::Verdict | Kind::Sections => 700,
        Kind::Audit => 500,
        Kind::Score | Kind::Petition | Kind::Ruling | Kind::Vote => 200,
    }
}
