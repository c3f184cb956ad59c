//! Replays the event log of a debate for the page: the debate's state, the order of the transcript
//! items and the times of the turns. Replay is deterministic: all viewers get the same history.
use super::event_label::event_label;
use crate::debate::{Cue, Debate, Event, Setup, SetupError};
use crate::engine::{RecordedEvent, StoredDebate};
use std::collections::BTreeMap;

/// A replayed debate, with log details that `Debate` itself does not keep.
#[derive(Clone, Debug)]
pub struct DebateHistory {
    debate: Debate,
    events: Vec<RecordedEvent>,
    items: Vec<HistoryItem>,
    turn_times: BTreeMap<Cue, TurnTimes>,
    /// Sequence number of the first event that is not valid after its predecessors.
    first_invalid_seq: Option<u64>,
}

/// An item of the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HistoryItem {
    /// A turn, finished or pending.
    Turn(Cue),
    /// A remark of the user, with the sequence number of its event.
    Remark(u64, String),
    /// Any other event, as a label, with its sequence number.
    Note(u64, String),
}

/// Times of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TurnTimes {
    /// Time of the request, in milliseconds since the Unix epoch.
    pub(super) asked_at: i64,
    /// Sequence number and time of the event in which the turn succeeded or failed.
    pub(super) finished: Option<(u64, i64)>,
    /// Sequence number of the last event about this turn.
    pub(super) last_seq: u64,
}

impl DebateHistory {
    /// Starts the history of a debate without events.
    pub fn open(setup: Setup) -> Result<DebateHistory, SetupError> {
        let debate = Debate::open(setup)?;
        let (events, items, turn_times) = (vec![], vec![], BTreeMap::new());
        Ok(DebateHistory { debate, events, items, turn_times, first_invalid_seq: None })
    }

    /// Replays a stored debate, up to and including the event `until`.
    pub fn from_stored(
        stored: &StoredDebate,
        until: Option<u64>,
    ) -> Result<DebateHistory, SetupError> {
        let mut history = DebateHistory::open(stored.setup.clone())?;
        let until = until.unwrap_or(u64::MAX);
        for recorded in stored.events.iter().take_while(|it| it.seq <= until) {
            history.apply(recorded.clone())?;
        }
        Ok(history)
    }

    /// Applies the next event.
    pub fn apply(&mut self, recorded: RecordedEvent) -> Result<(), SetupError> {
        let RecordedEvent { seq, at, event } = recorded.clone();
        self.events.push(recorded);
        let is_valid = self.first_invalid_seq.is_none() && self.debate.apply(event.clone()).is_ok();
        if !is_valid {
            // An invalid log is no error here: it is replayed without validation, for reading only.
            self.first_invalid_seq.get_or_insert(seq);
            let setup = self.debate.setup().clone();
            let events = self.events.iter().map(|it| it.event.clone());
            self.debate = Debate::replay_lenient(setup, events)?.0;
        }
        self.update_transcript(seq, at, &event);
        Ok(())
    }

    fn update_transcript(&mut self, seq: u64, at: i64, event: &Event) {
        match event {
            Event::Asked { cues, .. } => {
                let known: Vec<Cue> =
                    cues.iter().copied().filter(|cue| self.debate.has_cue(*cue)).collect();
                for cue in known {
                    let times = TurnTimes { asked_at: at, finished: None, last_seq: seq };
                    let known = self.turn_times.entry(cue).or_insert(times);
                    known.last_seq = seq;
                    self.add_turn(cue);
                }
            }
            Event::Refused { cue, .. } => {
                self.turn_times.entry(*cue).and_modify(|times| times.last_seq = seq);
            }
            Event::Spoke { cue, .. } | Event::Failed { cue, .. } if self.debate.has_cue(*cue) => {
                let times = self.turn_times.entry(*cue).or_default();
                (times.finished, times.last_seq) = (Some((seq, at)), seq);
                self.add_turn(*cue);
            }
            Event::Interjected { text } => self.items.push(HistoryItem::Remark(seq, text.clone())),
            Event::Reopened { .. } => {
                let has_turn = |cue: &Cue| self.debate.turn(*cue).is_some();
                self.turn_times.retain(|cue, _| has_turn(cue));
                self.items.retain(|item| !matches!(item, HistoryItem::Turn(cue) if !has_turn(cue)));
                self.add_note(seq, event);
            }
            _ => self.add_note(seq, event),
        }
    }

    /// Appends a turn to the transcript on its first event.
    fn add_turn(&mut self, cue: Cue) {
        if !self.items.contains(&HistoryItem::Turn(cue)) {
            self.items.push(HistoryItem::Turn(cue));
        }
    }

    fn add_note(&mut self, seq: u64, event: &Event) {
        let note = event_label(&self.debate, event);
        self.items.push(HistoryItem::Note(seq, note));
    }

    /// State of the debate after the last event.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// Transcript items, in order of their first event.
    pub(super) fn items(&self) -> &[HistoryItem] {
        &self.items
    }

    /// All events applied so far.
    pub fn events(&self) -> &[RecordedEvent] {
        &self.events
    }

    /// Times of a turn. Zero if it was never requested.
    pub(super) fn turn_times(&self, cue: Cue) -> TurnTimes {
        self.turn_times.get(&cue).copied().unwrap_or_default()
    }

    /// Sequence number of the last event, 0 without events.
    pub fn seq(&self) -> u64 {
        self.events.last().map_or(0, |recorded| recorded.seq)
    }

    /// Time of the last event, or the time of creation without events.
    pub(super) fn last_event_time(&self) -> i64 {
        self.events.last().map_or(self.debate.setup().opened_at, |recorded| recorded.at)
    }

    /// Time of an event, in milliseconds since the Unix epoch.
    pub(super) fn event_time(&self, seq: u64) -> i64 {
        let event = self.events.iter().rfind(|recorded| recorded.seq == seq);
        event.map_or(self.debate.setup().opened_at, |recorded| recorded.at)
    }

    /// Sequence number of the first invalid event, if the log has one.
    pub(super) fn first_invalid_seq(&self) -> Option<u64> {
        self.first_invalid_seq
    }

    /// Whether the debate is over.
    pub fn is_over(&self) -> bool {
        self.debate.outcome().is_some()
    }
}
