//! Reopening of a debate that ended early: at which turn it can continue.
use super::next_step::next;
use crate::debate::record::event::DebateOutcome;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;

impl Debate {
    /// A debate reopens at a failed turn, or where the user stopped it. The cue must then be due.
    pub(super) fn can_reopen(&self, from: Cue) -> bool {
        let stopped =
            matches!(self.outcome(), Some(DebateOutcome::Cancelled | DebateOutcome::Ended));
        if !self.has_cue(from) || (self.failure(from).is_none() && !stopped) {
            return false;
        }
        let mut rewound = self.clone();
        rewound.rewind(from);
        let due = next(&rewound);
        due.first_cue() == Some(from) || due.open_cues().any(|cue| cue == from)
    }

    /// Cue at which an ended debate can be reopened: the failure that cut it short, the point where
    /// the user stopped it, or else the last failed turn, because a rewind drops all later turns.
    pub fn reopen_cue(&self) -> Option<Cue> {
        let failed = || self.failed_turns().map(|(cue, _)| cue).filter(|cue| self.can_reopen(*cue));
        let stopped =
            || next(&self.without_ending()).first_cue().filter(|cue| self.can_reopen(*cue));
        let last = || {
            let last = self.wave_start(failed().last()?);
            failed().find(|cue| self.wave_start(*cue) == last)
        };
        match self.outcome() {
            Some(
                DebateOutcome::Curtailed { at, phase }
                | DebateOutcome::Aborted { at, phase }
                | DebateOutcome::Uncontested { at, phase },
            ) => failed()
                .find(|cue| cue.position() == *at && self.setup().phase(*cue).name == *phase)
                .or_else(last),
            Some(DebateOutcome::Ended) => {
                failed().find(|cue| cue.act == self.setup().ending_act()).or_else(stopped)
            }
            Some(DebateOutcome::Cancelled) => stopped().or_else(|| failed().last()),
            _ => last(),
        }
    }
}
