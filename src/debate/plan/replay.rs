//! Opening a debate and replaying its log, strictly or for reading only.
use super::validation::IllegalEvent;
use crate::debate::record::event::Event;
use crate::debate::record::state::Debate;
use crate::debate::setup::debate_setup::{Setup, SetupError};

/// The first invalid event of a log. Later events are still shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFlaw {
    /// Sequence number, from 1.
    pub seq: u64,
    /// Error message.
    pub message: String,
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

impl Debate {
    /// Creates a debate without turns, if the setup is valid.
    pub fn open(setup: Setup) -> Result<Debate, SetupError> {
        setup.validate()?;
        let mut debate = Debate::new(setup);
        debate.advance_schedule();
        Ok(debate)
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
}

#[cfg(test)]
mod tests;
