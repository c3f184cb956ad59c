//! What is being said right now, for somebody who waits: the last words of whoever speaks, now and
//! then, and never of an answer that is still sealed.
use crate::debate::{Cue, Debate, Kind};
use crate::report::aloud::Aloud;
use crate::report::text::{one_line, printable};
use std::time::Duration;
use tokio::time::Instant;

/// How often words are passed on.
const PACE: Duration = Duration::from_secs(1);
/// How many characters of them.
const LAST: usize = 120;

/// When words were last passed on.
#[derive(Default)]
pub(super) struct Tail(Option<Instant>);

impl Tail {
    /// What to pass on of a turn, if it is time to. All of the turn is looked at: whoever begins to
    /// wait in the middle of one must not take its claims for prose.
    pub(super) fn heard(
        &mut self,
        debate: &Debate,
        cue: Cue,
        all: impl FnOnce() -> String,
    ) -> Option<String> {
        let early = self.0.is_some_and(|told| told.elapsed() < PACE);
        if early || debate.sealed(cue) {
            return None;
        }
        let prose = matches!(debate.setup().phase(cue).reply, Kind::Speech | Kind::Sections);
        let mut aloud = if prose { Aloud::prose() } else { Aloud::object() };
        let line = one_line(&printable(&aloud.push(&all())));
        if line.trim().is_empty() {
            return None;
        }
        self.0 = Some(Instant::now());
        let skip = line.chars().count().saturating_sub(LAST);
        let mark = if skip > 0 { "…" } else { "" };
        let last: String = line.chars().skip(skip).collect();
        Some(format!("{} ({}): {mark}{last}", debate.seat(cue).title(), debate.tool(cue)))
    }
}
