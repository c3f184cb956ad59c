//! Replays the event log of a debate for the page: the debate's state, the order of the transcript
//! items and the times of the turns. Replay is deterministic: all viewers get the same history.
use crate::debate::{Cue, Debate, Event, Setup, SetupError};
use crate::engine::{RecordedEvent, StoredDebate};
use std::collections::BTreeMap;

/// A replayed debate, with log details that `Debate` itself does not keep.
#[derive(Clone, Debug)]
pub struct Story {
    debate: Debate,
    events: Vec<RecordedEvent>,
    items: Vec<Item>,
    turns: BTreeMap<Cue, Times>,
    /// Sequence number of the first event that is not valid after its predecessors.
    flaw: Option<u64>,
}

/// An item of the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A turn, finished or pending.
    Turn(Cue),
    /// A remark of the user, with the sequence number of its event.
    Remark(u64, String),
    /// Any other event, as a label, with its sequence number.
    Note(u64, String),
}

/// Times of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Time of the request, in milliseconds since the Unix epoch.
    pub asked: i64,
    /// Sequence number and time of the event in which the turn succeeded or failed.
    pub taken: Option<(u64, i64)>,
    /// Sequence number of the last event about this turn.
    pub touched: u64,
}

impl Story {
    /// Starts the history of a debate without events.
    pub fn open(setup: Setup) -> Result<Story, SetupError> {
        let debate = Debate::open(setup)?;
        let (events, items, turns) = (vec![], vec![], BTreeMap::new());
        Ok(Story { debate, events, items, turns, flaw: None })
    }

    /// Replays a stored debate, up to and including the event `until`.
    pub fn of(stored: &StoredDebate, until: Option<u64>) -> Result<Story, SetupError> {
        let mut story = Story::open(stored.setup.clone())?;
        let until = until.unwrap_or(u64::MAX);
        for recorded in stored.events.iter().take_while(|it| it.seq <= until) {
            story.take(recorded.clone())?;
        }
        Ok(story)
    }

    /// Applies the next event.
    pub fn take(&mut self, recorded: RecordedEvent) -> Result<(), SetupError> {
        let RecordedEvent { seq, at, event } = recorded.clone();
        self.events.push(recorded);
        let lawful = self.flaw.is_none() && self.debate.apply(event.clone()).is_ok();
        if !lawful {
            // An invalid log is not an error here: replayed unvalidated, it is read-only.
            self.flaw.get_or_insert(seq);
            let setup = self.debate.setup().clone();
            let events = self.events.iter().map(|it| it.event.clone());
            self.debate = Debate::replay_lenient(setup, events)?.0;
        }
        self.tell(seq, at, &event);
        Ok(())
    }

    fn tell(&mut self, seq: u64, at: i64, event: &Event) {
        match event {
            Event::Asked { cues, .. } => {
                let known: Vec<Cue> =
                    cues.iter().copied().filter(|cue| self.debate.has_cue(*cue)).collect();
                for cue in known {
                    let times = Times { asked: at, taken: None, touched: seq };
                    let known = self.turns.entry(cue).or_insert(times);
                    known.touched = seq;
                    self.place(cue);
                }
            }
            Event::Refused { cue, .. } => {
                self.turns.entry(*cue).and_modify(|times| times.touched = seq);
            }
            Event::Spoke { cue, .. } | Event::Failed { cue, .. } if self.debate.has_cue(*cue) => {
                let times = self.turns.entry(*cue).or_default();
                (times.taken, times.touched) = (Some((seq, at)), seq);
                self.place(*cue);
            }
            Event::Interjected { text } => self.items.push(Item::Remark(seq, text.clone())),
            Event::Reopened { .. } => {
                let kept = |cue: &Cue| self.debate.turn(*cue).is_some();
                self.turns.retain(|cue, _| kept(cue));
                self.items.retain(|item| !matches!(item, Item::Turn(cue) if !kept(cue)));
                self.note(seq, event);
            }
            _ => self.note(seq, event),
        }
    }

    /// Appends a turn to the transcript on its first event.
    fn place(&mut self, cue: Cue) {
        if !self.items.contains(&Item::Turn(cue)) {
            self.items.push(Item::Turn(cue));
        }
    }

    fn note(&mut self, seq: u64, event: &Event) {
        let note = super::timeline::label(&self.debate, event);
        self.items.push(Item::Note(seq, note));
    }

    /// State of the debate after the last event.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// Transcript items, in order of their first event.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// All events applied so far.
    pub fn events(&self) -> &[RecordedEvent] {
        &self.events
    }

    /// Times of a turn. Zero if it was never requested.
    pub fn times(&self, cue: Cue) -> Times {
        self.turns.get(&cue).copied().unwrap_or_default()
    }

    /// Sequence number of the last event, 0 without events.
    pub fn seq(&self) -> u64 {
        self.events.last().map_or(0, |recorded| recorded.seq)
    }

    /// Time of the last event, or the time of creation without events.
    pub fn at(&self) -> i64 {
        self.events.last().map_or(self.debate.setup().opened_at, |recorded| recorded.at)
    }

    /// Time of an event, in milliseconds since the Unix epoch.
    pub fn when(&self, seq: u64) -> i64 {
        let found = self.events.iter().rfind(|recorded| recorded.seq == seq);
        found.map_or(self.debate.setup().opened_at, |recorded| recorded.at)
    }

    /// Sequence number of the first invalid event, if the log has one.
    pub fn flaw(&self) -> Option<u64> {
        self.flaw
    }

    /// Whether the debate is over.
    pub fn over(&self) -> bool {
        self.debate.outcome().is_some()
    }
}
