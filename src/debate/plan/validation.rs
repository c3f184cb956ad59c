//! Validation of events: [`Debate::apply`] accepts an event only if it is due or a user action that
//! is allowed now. Entry points: [`Debate::validate`] and [`Debate::apply`].
use super::next_step::{advance, next, next_unasked};
use super::step::{PauseReason, Step};
use crate::debate::record::event::{Amendment, Event, Reply};
use crate::debate::record::schedule_cursor::DueCues;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::debate_setup::MAX_TOPIC_CHARS;
use crate::debate::setup::format::MAX_OPEN_ROUNDS;
use crate::debate::setup::rule::RuleWeight;

/// Error for an event that is not legal now.
#[derive(Debug, thiserror::Error)]
#[error("{} is not possible now; expected: {}", event.name(), due.describe())]
pub struct IllegalEvent {
    /// The rejected event.
    pub event: Box<Event>,
    /// The step that was due.
    pub due: Step,
}

impl Debate {
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
                    && self.rejected_reply(*cue).is_none()
            }
            (Event::Spoke { cue, reply }, step) => {
                self.is_open(*cue, step) && self.is_valid_reply(*cue, reply)
            }
            (Event::Failed { cue, .. }, step) => self.is_open(*cue, step),
            (Event::Interjected { text }, _) => running && !text.trim().is_empty(),
            (Event::Held, _) => running && !self.is_held(),
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

    /// Applies an event without moving the schedule cursor forward.
    pub(super) fn apply_unchecked(&mut self, event: Event) {
        let changes_settings = matches!(
            &event,
            Event::Amended {
                change: Amendment::Seat { .. } | Amendment::Plan { .. } | Amendment::Topic { .. },
                ..
            }
        );
        let due = match event {
            Event::Interjected { .. } | Event::Amended { .. } => {
                DueCues { first: next(self).first_cue(), unasked: next_unasked(self) }
            }
            _ => DueCues::default(),
        };
        self.fold(event, due);
        // With other rounds, another cue may be next. All remarks and settings apply to it.
        if changes_settings && let Some(from) = next_unasked(self) {
            self.backdate_to(from);
        }
    }

    /// Moves the schedule cursor over the phases that are over.
    pub(super) fn advance_schedule(&mut self) {
        self.set_schedule_cursor(advance(self, self.schedule_cursor().clone()));
    }

    /// All open cues of a wave are asked together, so that they see the same transcript. A driven
    /// seat may be asked again, because a request in flight is lost when the process stops. An
    /// awaited seat keeps its deadline.
    fn can_ask(&self, cues: &[Cue], due: &Step) -> bool {
        let open: Vec<Cue> = due.open_cues().collect();
        let unasked = |cue: &Cue| !self.was_asked(*cue);
        let is_allowed =
            |cue: &Cue| open.contains(cue) && (unasked(cue) || !self.seat(*cue).voice.is_awaited());
        !cues.is_empty()
            && cues.iter().all(is_allowed)
            && open.iter().filter(|cue| unasked(cue)).all(|cue| cues.contains(cue))
    }

    fn is_open(&self, cue: Cue, due: &Step) -> bool {
        self.was_asked(cue) && due.open_cues().any(|open| open == cue)
    }

    /// A valid reply has the kind of its phase and no finding that requires a retry.
    fn is_valid_reply(&self, cue: Cue, reply: &Reply) -> bool {
        reply.body.kind() == self.setup().phase(cue).reply
            && reply
                .findings
                .iter()
                .all(|finding| !matches!(finding.weight, RuleWeight::Reask | RuleWeight::Mend))
    }

    /// A debate can be concluded once it has a reply and before its ending begins.
    fn can_conclude(&self, due: &Step) -> bool {
        let ending_begun = due.first_cue().is_none_or(|cue| cue.act >= self.setup().ending_act());
        !ending_begun && self.replies_in(..).next().is_some()
    }

    pub(super) fn can_amend(&self, change: &Amendment) -> bool {
        match change {
            Amendment::Seat { seat, voice } => {
                let current = self.seats().get(usize::from(*seat));
                current.is_some_and(|seat| seat.voice != *voice) && voice.validate().is_ok()
            }
            Amendment::Limit { budget } => !budget.is_exhausted(self.spent()),
            Amendment::Plan { rounds, seats, holds } => {
                let new_seats = seats.as_ref();
                (rounds.is_some() || new_seats.is_some() || holds.is_some())
                    && rounds.is_none_or(|rounds| self.can_have_rounds(rounds))
                    && new_seats.is_none_or(|new_seats| {
                        !self.has_begun() && self.setup().validate_seats(new_seats).is_ok()
                    })
            }
            Amendment::Terms { .. } => !self.has_begun(),
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
        let new: Vec<_> = self.setup().format.round_ranges(rounds).collect();
        let old: Vec<_> = self.setup().format.round_ranges(self.rounds()).collect();
        let same = |act: usize| new[act] == old[act] || new[act].is_empty() && old[act].is_empty();
        self.asked_cues().all(|cue| {
            let act = usize::from(cue.act);
            cue.act < self.setup().ending_act()
                && new[act].contains(&cue.round)
                && (0..act).all(same)
        })
    }
}
