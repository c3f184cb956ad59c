//! Event-sourced state of a debate: [`Debate::apply`] validates an event and folds it into the
//! state. `queries` has the read access, `reopening` the rewind, and [`super::next_step`] computes
//! what is due.
use super::budget::Budget;
use super::envelope::Spend;
use super::event::{
    Amendment, Cue, DebateOutcome, Event, Position, RejectedReply, Reply, VerdictFeedback,
};
use super::format::MAX_OPEN_ROUNDS;
use super::next_step::{PauseReason, ScheduleCursor, Step, advance, next, wave_range};
use super::persistent_map::PersistentMap;
use super::recorded_turns::RecordedTurns;
use super::rules::RuleWeight;
use super::seat::{Participant, Seat};
use super::setup::{HoldPoint, MAX_TOPIC_CHARS, Setup, SetupError};
use std::collections::BTreeMap;
use std::sync::Arc;

mod queries;
mod reopening;

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

/// Error for an event that is not legal now.
#[derive(Debug, thiserror::Error)]
#[error("{} is not possible now; expected: {}", event.name(), due.describe())]
pub struct IllegalEvent {
    /// The rejected event.
    pub event: Box<Event>,
    /// The step that was due.
    pub due: Step,
}

/// The first invalid event of a log. Later events are still shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFlaw {
    /// Sequence number, from 1.
    pub seq: u64,
    /// Error message.
    pub message: String,
}

impl Debate {
    /// Creates a debate without turns, if the setup is valid.
    pub fn open(setup: Setup) -> Result<Debate, SetupError> {
        setup.validate()?;
        let initial = EffectiveSettings {
            from: Cue { act: 0, round: 0, phase: 0, seat: 0 },
            seats: setup.seats.clone(),
            rounds: setup.rounds,
            topic: setup.topic.clone(),
        };
        let mut debate = Debate {
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
        };
        debate.advance_schedule();
        Ok(debate)
    }

    /// Validates an event: it must match [`next`] or be a user action that is allowed now. Runs
    /// before an event is appended and again on replay, so no log can hold a history this program
    /// could not have produced.
    pub fn validate(&self, event: &Event) -> Result<(), IllegalEvent> {
        let due = next(self);
        let running = matches!(due, Step::Speak { .. } | Step::Hold { .. });
        let legal = match (event, &due) {
            (Event::Asked { cues, .. }, step) => self.can_ask(cues, step),
            (Event::Refused { cue, .. }, step) => {
                self.is_open(*cue, step)
                    && !self.seat(*cue).voice.is_awaited()
                    && !self.refused.contains_key(*cue)
            }
            (Event::Spoke { cue, reply }, step) => {
                self.is_open(*cue, step) && self.is_valid_reply(*cue, reply)
            }
            (Event::Failed { cue, .. }, step) => self.is_open(*cue, step),
            (Event::Interjected { text }, _) => running && !text.trim().is_empty(),
            (Event::Held, _) => running && !self.held,
            (Event::Continued { before }, Step::Hold { next, pause: PauseReason::UserHold }) => {
                *before == next.position()
            }
            (Event::Amended { change, .. }, _) => running && self.can_amend(change),
            (Event::Concluded { .. }, step) => self.can_conclude(step),
            (Event::Cancelled { .. }, step) => *step != Step::Done,
            (Event::Closed { outcome }, Step::Close(expected)) => outcome == expected,
            (Event::Reopened { from }, Step::Done | Step::Hold { .. }) => self.can_reopen(*from),
            (Event::Decided { text }, _) => !text.trim().is_empty(),
            (Event::Kept { .. } | Event::Learned { .. }, Step::Done) => true,
            _ => false,
        };
        if legal { Ok(()) } else { Err(IllegalEvent { event: Box::new(event.clone()), due }) }
    }

    /// Validates an event and applies it.
    pub fn apply(&mut self, event: Event) -> Result<(), IllegalEvent> {
        self.validate(&event)?;
        self.apply_unchecked(event);
        self.advance_schedule();
        Ok(())
    }

    /// Applies an event without moving the schedule cursor.
    fn apply_unchecked(&mut self, event: Event) {
        match event {
            Event::Asked { cues, deadline, .. } => {
                for cue in cues {
                    self.asked.insert(cue, deadline);
                }
            }
            Event::Refused { cue, attempt } => {
                self.spent += attempt.envelope.spend();
                self.refused.insert(cue, attempt);
            }
            Event::Spoke { cue, reply } => {
                self.spent += reply.envelope.spend();
                self.turns.insert(cue, Ok(reply));
            }
            Event::Failed { cue, failure } => {
                self.spent += failure.envelope.spend();
                self.turns.insert(cue, Err(failure));
            }
            Event::Interjected { text } => {
                let from = self.next_unasked();
                if let Some(from) = from {
                    Arc::make_mut(&mut self.remarks).push(Remark { from, text });
                }
            }
            Event::Held => self.held = true,
            Event::Continued { before } => {
                self.continued = self.continued.max(Some(before));
                self.held = false;
            }
            Event::Amended { change, because } => {
                if let Some(transfer) = self.seat_transfer(&change, because) {
                    Arc::make_mut(&mut self.seat_transfers).push(transfer);
                }
                self.amend(change);
            }
            Event::Concluded { because } => {
                (self.concluded, self.concluded_because) = (true, because);
                self.restart_schedule();
            }
            Event::Cancelled { because } => {
                (self.outcome, self.cancelled_because) = (Some(DebateOutcome::Cancelled), because);
            }
            Event::Closed { outcome } => self.outcome = Some(outcome),
            Event::Reopened { from } => {
                self.rewind(from);
                self.take += 1;
            }
            Event::Decided { text } => self.decision = Some(text),
            Event::Learned { proof, confidence, note } => {
                self.feedback = Some(RecordedFeedback { proof, confidence, note });
            }
            Event::Kept { keep } => self.keep_record = Some(keep),
        }
    }

    /// Replays a log. Returns an error at the first illegal event.
    pub fn replay(
        setup: Setup,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<Debate, ReplayError> {
        let mut debate = Debate::open(setup)?;
        events.into_iter().try_for_each(|event| debate.apply(event))?;
        Ok(debate)
    }

    /// Replays an invalid log for reading only. The first illegal event is reported, and later ones
    /// are applied as far as their acts, phases and seats exist.
    pub fn replay_lenient(
        setup: Setup,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<(Debate, Option<LogFlaw>), SetupError> {
        let mut debate = Debate::open(setup)?;
        let mut flaw = None;
        for (seq, event) in (1..).zip(events) {
            if flaw.is_none()
                && let Err(illegal) = debate.validate(&event)
            {
                flaw = Some(LogFlaw { seq, message: illegal.to_string() });
            }
            if debate.is_applicable(&event) {
                debate.apply_unchecked(event);
            }
            // An illegal event can change a phase that was over.
            if flaw.is_some() {
                debate.restart_schedule();
            } else {
                debate.advance_schedule();
            }
        }
        Ok((debate, flaw))
    }

    /// Moves the schedule cursor over the phases that are over.
    fn advance_schedule(&mut self) {
        self.schedule_cursor = advance(self, self.schedule_cursor.clone());
    }

    /// Moves the schedule cursor back, after a change to phases before it.
    fn restart_schedule(&mut self) {
        self.schedule_cursor = ScheduleCursor::at_start(self.concluded);
    }

    /// Whether an event refers only to acts, phases and seats that exist.
    fn is_applicable(&self, event: &Event) -> bool {
        match event {
            Event::Asked { cues, .. } => cues.iter().all(|cue| self.has_cue(*cue)),
            Event::Refused { cue, .. } | Event::Spoke { cue, .. } | Event::Failed { cue, .. } => {
                self.has_cue(*cue)
            }
            Event::Reopened { from } => self.has_cue(*from),
            Event::Amended { change, .. } => self.can_amend(change),
            _ => true,
        }
    }

    /// Whether a cue exists in this debate.
    pub fn has_cue(&self, cue: Cue) -> bool {
        self.setup.has_phase(cue)
            && usize::from(cue.seat) < self.seats().len()
            && cue.round <= MAX_OPEN_ROUNDS
    }

    /// All open cues of a wave are asked together, so that they see the same transcript. A driven
    /// seat may be asked again, because a request in flight is lost when the process stops. An
    /// awaited seat keeps its deadline.
    fn can_ask(&self, cues: &[Cue], due: &Step) -> bool {
        let open: Vec<Cue> = due.open_cues().collect();
        let unasked = |cue: &Cue| !self.asked.contains_key(*cue);
        let is_allowed =
            |cue: &Cue| open.contains(cue) && (unasked(cue) || !self.seat(*cue).voice.is_awaited());
        !cues.is_empty()
            && cues.iter().all(is_allowed)
            && open.iter().filter(|cue| unasked(cue)).all(|cue| cues.contains(cue))
    }

    fn is_open(&self, cue: Cue, due: &Step) -> bool {
        self.asked.contains_key(cue) && due.open_cues().any(|open| open == cue)
    }

    /// A valid reply has the kind of its phase and no finding that requires a retry.
    fn is_valid_reply(&self, cue: Cue, reply: &Reply) -> bool {
        reply.body.kind() == self.setup.phase(cue).reply
            && reply
                .findings
                .iter()
                .all(|finding| !matches!(finding.weight, RuleWeight::Reask | RuleWeight::Mend))
    }

    /// A debate can be concluded once it has a reply and before its ending begins.
    fn can_conclude(&self, due: &Step) -> bool {
        let ending_begun = due.first_cue().is_none_or(|cue| cue.act >= self.setup.ending_act());
        !ending_begun && self.replies_in(..).next().is_some()
    }

    fn can_amend(&self, change: &Amendment) -> bool {
        match change {
            Amendment::Seat { seat, voice } => {
                let current = self.seats().get(usize::from(*seat));
                current.is_some_and(|seat| seat.voice != *voice) && voice.validate().is_ok()
            }
            Amendment::Limit { budget } => !budget.is_exhausted(self.spent),
            Amendment::Plan { rounds, seats, holds } => {
                let new_seats = seats.as_ref();
                (rounds.is_some() || new_seats.is_some() || holds.is_some())
                    && rounds.is_none_or(|rounds| self.can_have_rounds(rounds))
                    && new_seats.is_none_or(|new_seats| {
                        self.asked.is_empty()
                            && self.turns.is_empty()
                            && self.setup.validate_seats(new_seats).is_ok()
                    })
            }
            Amendment::Terms { .. } => self.asked.is_empty() && self.turns.is_empty(),
            Amendment::Topic { topic } => {
                !topic.trim().is_empty() && topic.chars().count() <= MAX_TOPIC_CHARS
            }
        }
    }

    /// The number of rounds can change if played rounds stay in their act, earlier acts keep their
    /// length and the ending has not begun.
    fn can_have_rounds(&self, rounds: u8) -> bool {
        if !(1..=MAX_OPEN_ROUNDS).contains(&rounds) {
            return false;
        }
        let new: Vec<_> = self.setup.format.round_ranges(rounds).collect();
        let old: Vec<_> = self.setup.format.round_ranges(self.rounds()).collect();
        let same = |act: usize| new[act] == old[act] || new[act].is_empty() && old[act].is_empty();
        self.asked.keys().all(|cue| {
            let act = usize::from(cue.act);
            cue.act < self.setup.ending_act() && new[act].contains(&cue.round) && (0..act).all(same)
        })
    }

    fn seat_transfer(&self, change: &Amendment, reason: String) -> Option<SeatTransfer> {
        let Amendment::Seat { seat, voice } = change else { return None };
        let from = self.seats()[usize::from(*seat)].voice.clone();
        let (to, due_cue) = (voice.clone(), next(self).first_cue());
        Some(SeatTransfer { seat: *seat, from, to, due_cue, reason })
    }

    fn amend(&mut self, change: Amendment) {
        let mut settings = self.current_settings().clone();
        settings.from = self.next_unasked().unwrap_or(settings.from);
        match change {
            Amendment::Limit { budget } => {
                self.budget = budget;
                return;
            }
            Amendment::Terms { terms } => {
                self.terms = Arc::new(terms);
                return;
            }
            Amendment::Seat { seat, voice } => {
                settings.seats[usize::from(seat)].voice = voice;
                // A new participant starts without a rejected reply and without a deadline.
                let turns = &self.turns;
                let open = |cue: Cue| cue.seat == seat && turns.get(cue).is_none();
                self.refused.retain(|cue, _| !open(cue));
                let asked: Vec<Cue> = self.asked.keys().filter(|cue| open(*cue)).collect();
                for cue in asked {
                    self.asked.insert(cue, None);
                }
            }
            Amendment::Plan { rounds, seats, holds } => {
                settings.rounds = rounds.unwrap_or(settings.rounds);
                settings.seats = seats.unwrap_or(settings.seats);
                self.holds = holds.unwrap_or(std::mem::take(&mut self.holds));
            }
            Amendment::Topic { topic } => settings.topic = topic,
        }
        Arc::make_mut(&mut self.settings_history).push(settings);
        self.restart_schedule();
        // With other rounds, another cue may be next. All remarks and settings apply to it.
        self.next_unasked().into_iter().for_each(|from| self.backdate_to(from));
    }

    /// Lets all remarks and settings apply from this cue on, if they began later.
    fn backdate_to(&mut self, from: Cue) {
        let remarks = Arc::make_mut(&mut self.remarks).iter_mut().map(|remark| &mut remark.from);
        let settings = Arc::make_mut(&mut self.settings_history).iter_mut();
        remarks
            .chain(settings.map(|settings| &mut settings.from))
            .for_each(|start| *start = from.min(*start));
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

    /// The first cue that can still receive a remark or an amendment. Seats already asked cannot,
    /// because a prompt never changes once it was asked.
    fn next_unasked(&self) -> Option<Cue> {
        let due = next(self);
        let first = due.first_cue()?;
        let wave = wave_range(self.setup.phase(first), first);
        let after = |end: Cue| Cue { seat: end.seat.saturating_add(1), ..end };
        let asked = due.open_cues().any(|cue| self.was_asked(cue));
        Some(if asked { after(*wave.end()) } else { *wave.start() })
    }
}

/// Error while replaying a log.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each wraps the error it names")]
pub enum ReplayError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Event(#[from] IllegalEvent),
}
