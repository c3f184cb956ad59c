//! Changes of [`Debate`]: each event is folded into the state. Nothing here checks whether an event
//! is legal, that is the task of `plan::validation`.
use super::{Debate, RecordedFeedback, Remark, SeatTransfer};
use crate::debate::record::event::{Amendment, DebateOutcome, Event};
use crate::debate::record::schedule_cursor::{DueCues, ScheduleCursor};
use crate::debate::setup::cue::Cue;
use std::sync::Arc;

impl Debate {
    /// Folds an event into the state, legal or not. `due` is what the schedule has next.
    pub(in crate::debate) fn fold(&mut self, event: Event, due: DueCues) {
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
                if let Some(from) = due.unasked {
                    Arc::make_mut(&mut self.remarks).push(Remark { from, text });
                }
            }
            Event::Held => self.held = true,
            Event::Continued { before } => {
                self.continued = self.continued.max(Some(before));
                self.held = false;
            }
            Event::Amended { change, because } => {
                if let Some(transfer) = self.seat_transfer(&change, due, because) {
                    Arc::make_mut(&mut self.seat_transfers).push(transfer);
                }
                self.amend(change, due);
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

    fn seat_transfer(
        &self,
        change: &Amendment,
        due: DueCues,
        reason: String,
    ) -> Option<SeatTransfer> {
        let Amendment::Seat { seat, voice } = change else { return None };
        let from = self.seats()[usize::from(*seat)].voice.clone();
        let (to, due_cue) = (voice.clone(), due.first);
        Some(SeatTransfer { seat: *seat, from, to, due_cue, reason })
    }

    fn amend(&mut self, change: Amendment, due: DueCues) {
        let mut settings = self.current_settings().clone();
        settings.from = due.unasked.unwrap_or(settings.from);
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
    }

    /// Lets all remarks and settings apply from this cue on, if they began later.
    pub(in crate::debate) fn backdate_to(&mut self, from: Cue) {
        let remarks = Arc::make_mut(&mut self.remarks).iter_mut().map(|remark| &mut remark.from);
        let settings = Arc::make_mut(&mut self.settings_history).iter_mut();
        remarks
            .chain(settings.map(|settings| &mut settings.from))
            .for_each(|start| *start = from.min(*start));
    }

    /// Drops the turns after `from` and the failed turns of its wave. The user's remarks are kept
    /// and apply from there on.
    pub(in crate::debate) fn rewind(&mut self, from: Cue) {
        let wave = self.setup.wave(from);
        let start = *wave.start();
        self.turns.retain(|cue, turn| cue < start || (wave.contains(&cue) && turn.is_ok()));
        self.asked.retain(|cue, _| self.turns.get(cue).is_some());
        self.refused.retain(|cue, _| self.turns.get(cue).is_some());
        self.backdate_to(*wave.start());
        self.concluded &= from.act == self.setup.ending_act();
        self.concluded_because.take_if(|_| !self.concluded);
        (self.outcome, self.cancelled_because) = (None, None);
        self.restart_schedule();
    }

    /// The debate as if it had not been ended.
    pub(in crate::debate) fn without_ending(&self) -> Debate {
        let mut resumed = self.clone();
        (resumed.concluded, resumed.outcome) = (false, None);
        resumed.restart_schedule();
        resumed
    }

    /// Moves the schedule cursor.
    pub(in crate::debate) fn set_schedule_cursor(&mut self, cursor: ScheduleCursor) {
        self.schedule_cursor = cursor;
    }

    /// Moves the schedule cursor back, after a change to phases before it.
    pub(in crate::debate) fn restart_schedule(&mut self) {
        self.schedule_cursor = ScheduleCursor::at_start(self.concluded);
    }
}
