//! Where the schedule stands. `plan::next_step` computes these values, and the state keeps them.
use super::event::DebateOutcome;
use crate::debate::setup::cue::{Cue, Position};

/// Cues the schedule has next, if any are left.
#[derive(Clone, Copy, Default)]
pub(in crate::debate) struct DueCues {
    /// The first cue without a recorded turn.
    pub(in crate::debate) first: Option<Cue>,
    /// The first cue that can still receive a remark or an amendment.
    pub(in crate::debate) unasked: Option<Cue>,
}

/// Where `next` begins its walk: the first phase that is not over, with what the phases before it
/// decided. Derived from the state and never stored in the log. `Debate::apply` moves it forward
/// after every event, so that a step does not cost more the longer the debate is.
///
/// It may skip a phase that is over, because that phase cannot change: its turns are recorded and
/// its speakers depend on earlier turns only. Whatever breaks this (a rewind, another number of
/// rounds, an early ending) restarts the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::debate) struct ScheduleCursor {
    /// Start of the phase.
    pub(in crate::debate) start: Cue,
    /// Outcome of a debate that skips to its last act, if one of these phases decided so.
    pub(in crate::debate) early_outcome: Option<DebateOutcome>,
    /// The last of these phases in which a turn lapsed.
    pub(in crate::debate) last_lapse: Option<(Position, String)>,
}

impl ScheduleCursor {
    /// Cursor at the first phase of a debate that was asked to end, or was not.
    pub(in crate::debate) fn at_start(is_concluded: bool) -> ScheduleCursor {
        let start = Cue { act: 0, round: 0, phase: 0, seat: 0 };
        let early_outcome = is_concluded.then_some(DebateOutcome::Ended);
        ScheduleCursor { start, early_outcome, last_lapse: None }
    }
}
