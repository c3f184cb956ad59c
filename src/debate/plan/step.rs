//! The step of a debate that is due.
use crate::debate::record::event::DebateOutcome;
use crate::debate::setup::budget::{Budget, Spend};
use crate::debate::setup::cue::{Cue, join_cues};

/// The next step of a debate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// One wave: these cues are open at the same time. The engine requests the driven ones from
    /// their providers and waits for the awaited ones. A wave can contain both.
    Speak {
        /// Requested from a provider by the engine.
        driven: Vec<Cue>,
        /// Submitted from outside, by the host, a person or a bot.
        awaited: Vec<Cue>,
    },
    /// Waiting for the user. No cue at or after `next` has been asked yet.
    Hold {
        /// The first cue after the hold.
        next: Cue,
        pause: PauseReason,
    },
    /// The debate must be closed with this outcome.
    Close(DebateOutcome),
    /// The debate is already closed.
    Done,
}

/// Why a debate is on hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseReason {
    /// The user asked for a hold, or a hold point was reached.
    UserHold,
    /// The budget is exhausted until the user raises it.
    BudgetExhausted {
        /// Spent so far.
        spent: Spend,
        /// The current limits.
        budget: Budget,
    },
}

impl Step {
    /// All open cues, driven and awaited.
    pub fn open_cues(&self) -> impl Iterator<Item = Cue> {
        let (driven, awaited): (&[Cue], &[Cue]) = match self {
            Step::Speak { driven, awaited } => (driven, awaited),
            _ => (&[], &[]),
        };
        driven.iter().chain(awaited).copied()
    }

    /// Short description for error messages.
    pub fn describe(&self) -> String {
        match self {
            Step::Speak { driven, awaited } => {
                format!("turn {}", join_cues(&[driven.as_slice(), awaited.as_slice()].concat()))
            }
            Step::Hold { pause: PauseReason::UserHold, .. } => "the user's confirmation".into(),
            Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => {
                "a higher budget".into()
            }
            Step::Close(_) => "closing".into(),
            Step::Done => "nothing, the debate is closed".into(),
        }
    }

    /// The first cue without a recorded turn, whether or not it has been asked.
    pub fn first_cue(&self) -> Option<Cue> {
        match self {
            Step::Hold { next, .. } => Some(*next),
            step => step.open_cues().min(),
        }
    }
}
