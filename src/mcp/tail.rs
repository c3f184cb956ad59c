//! What is being said right now, for somebody who waits: the last words of whoever speaks, now and
//! then, and never of an answer that is still sealed.
use crate::debate::{Cue, Debate, Kind};
use crate::report::aloud::Aloud;
use crate::report::text::{one_line, printable};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// How often words are passed on.
const PACE: Duration = Duration::from_secs(1);
/// How many characters of them.
const LAST: usize = 120;

/// Everyone who is speaking.
#[derive(Default)]
pub(super) struct Tail {
    voices: BTreeMap<Cue, (Aloud, String)>,
    told: Option<Instant>,
}

impl Tail {
    /// Takes what was just said, and says what to pass on, if it is time to.
    pub(super) fn heard(&mut self, debate: &Debate, cue: Cue, words: &str) -> Option<String> {
        let prose = matches!(debate.setup().phase(cue).reply, Kind::Speech | Kind::Sections);
        let new = || if prose { Aloud::prose() } else { Aloud::object() };
        let (aloud, said) = self.voices.entry(cue).or_insert_with(|| (new(), String::new()));
        said.push_str(&aloud.push(words));
        if said.trim().is_empty() || debate.sealed(cue) {
            return None;
        }
        let early = self.told.is_some_and(|told| told.elapsed() < PACE);
        if early {
            return None;
        }
        self.told = Some(Instant::now());
        let line = one_line(&printable(said));
        let skip = line.chars().count().saturating_sub(LAST);
        let mark = if skip > 0 { "…" } else { "" };
        let last: String = line.chars().skip(skip).collect();
        Some(format!("{} ({}): {mark}{last}", debate.seat(cue).title(), debate.tool(cue)))
    }

    /// Somebody has finished.
    pub(super) fn over(&mut self, cue: Cue) {
        self.voices.remove(&cue);
    }
}
