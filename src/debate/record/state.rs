//! State of a debate, folded from its events. `queries` has the read access and `fold` the changes.
//! The state knows no schedule: `plan` computes what is due and validates every event before it is
//! folded in.
use crate::debate::record::event::{DebateOutcome, RejectedReply, VerdictFeedback};
use crate::debate::record::persistent_map::PersistentMap;
use crate::debate::record::recorded_turns::RecordedTurns;
use crate::debate::record::schedule_cursor::ScheduleCursor;
use crate::debate::setup::budget::{Budget, Spend};
use crate::debate::setup::cue::{Cue, Position};
use crate::debate::setup::debate_setup::{HoldPoint, Setup};
use crate::debate::setup::seat::{Participant, Seat};
use std::collections::BTreeMap;
use std::sync::Arc;

mod fold;
mod queries;

/// State of a debate after all its events. Logs that lead to the same state compare equal. A clone
/// shares the setup, the turns and all that grows with the log, so drafting a change is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debate {
    setup: Arc<Setup>,
    /// Settings after each amendment, with the first cue they apply to. The last entry is current.
    settings_history: Arc<Vec<EffectiveSettings>>,
    holds: Vec<HoldPoint>,
    terms: Arc<BTreeMap<String, String>>,
    budget: Budget,
    turns: RecordedTurns,
    /// Cues that were asked, with their deadlines in Unix milliseconds.
    asked: PersistentMap<Cue, Option<i64>>,
    refused: PersistentMap<Cue, RejectedReply>,
    remarks: Arc<Vec<Remark>>,
    /// In order.
    seat_transfers: Arc<Vec<SeatTransfer>>,
    /// Derived from all other fields, so that two equal states also agree here.
    schedule_cursor: ScheduleCursor,
    /// The latest round the user allowed to begin.
    continued: Option<Position>,
    held: bool,
    concluded: bool,
    /// Reasons for concluding and for cancelling, if given.
    concluded_because: Option<String>,
    cancelled_because: Option<String>,
    /// Over all takes: a rewound turn is not refunded.
    spent: Spend,
    take: u16,
    outcome: Option<DebateOutcome>,
    decision: Option<String>,
    feedback: Option<RecordedFeedback>,
    keep_record: Option<bool>,
}

/// Whether a verdict proved right, as the user reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFeedback {
    pub proof: VerdictFeedback,
    /// Confidence of the verdict at that time, in percent.
    pub confidence: Option<u8>,
    /// What happened.
    pub note: String,
}

/// A remark by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// First cue whose prompt contains it.
    pub from: Cue,
    pub text: String,
}

/// Transfer of a seat to another participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatTransfer {
    /// Index of the seat.
    pub seat: u8,
    /// Previous participant.
    pub from: Participant,
    /// New participant.
    pub to: Participant,
    /// The cue that was due.
    pub due_cue: Option<Cue>,
    /// Reason, and who requested it.
    pub reason: String,
}

/// Settings for all cues asked from `from` on. Earlier cues keep theirs, because a prompt never
/// changes once it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EffectiveSettings {
    from: Cue,
    seats: Vec<Seat>,
    rounds: u8,
    topic: String,
}

impl Debate {
    /// Creates the state of a debate without turns. `Debate::open` validates the setup before.
    pub(in crate::debate) fn new(setup: Setup) -> Debate {
        let initial = EffectiveSettings {
            from: Cue { act: 0, round: 0, phase: 0, seat: 0 },
            seats: setup.seats.clone(),
            rounds: setup.rounds,
            topic: setup.topic.clone(),
        };
        Debate {
            settings_history: Arc::new(vec![initial]),
            holds: setup.holds.clone(),
            terms: Arc::new(setup.terms.clone()),
            budget: setup.limits.budget,
            turns: RecordedTurns::new(),
            asked: PersistentMap::new(),
            refused: PersistentMap::new(),
            remarks: Arc::default(),
            seat_transfers: Arc::default(),
            continued: None,
            held: false,
            concluded: false,
            concluded_because: None,
            cancelled_because: None,
            spent: Spend::default(),
            take: 0,
            outcome: None,
            decision: None,
            feedback: None,
            keep_record: None,
            schedule_cursor: ScheduleCursor::at_start(false),
            setup: Arc::new(setup),
        }
    }

    /// The current settings.
    fn current_settings(&self) -> &EffectiveSettings {
        &self.settings_history[self.settings_history.len() - 1]
    }

    /// Settings when this cue was asked, or if it were asked now.
    fn settings_at(&self, cue: Cue) -> &EffectiveSettings {
        let horizon = self.wave_start(cue);
        self.settings_history
            .iter()
            .rfind(|settings| settings.from <= horizon)
            .unwrap_or(&self.settings_history[0])
    }
}
