//! A log as a page tells it: what stands where, and since when. The same events come to the same
//! story, whoever reads them and however far.
use crate::debate::{Cue, Debate, Event, Setup, Unfit};
use crate::engine::{Recorded, Stored};
use std::collections::BTreeMap;

/// A debate, and what of its log the debate itself does not keep.
#[derive(Clone, Debug)]
pub struct Story {
    debate: Debate,
    events: Vec<Recorded>,
    items: Vec<Item>,
    turns: BTreeMap<Cue, Times>,
    /// From where on the log is not one this program could have written.
    flaw: Option<u64>,
}

/// Something in the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A turn, taken or under way.
    Turn(Cue),
    /// What the user said, by the number of the event.
    Remark(u64, String),
    /// What was done to the debate.
    Note(u64, String),
}

/// When a turn was asked for and taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Milliseconds since 1970.
    pub asked: i64,
    /// The event it was taken or lost by, if it was.
    pub taken: Option<(u64, i64)>,
    /// The last event that said something about it.
    pub touched: u64,
}

impl Story {
    /// A debate of which nothing has been played.
    pub fn open(setup: Setup) -> Result<Story, Unfit> {
        let debate = Debate::open(setup)?;
        let (events, items, turns) = (vec![], vec![], BTreeMap::new());
        Ok(Story { debate, events, items, turns, flaw: None })
    }

    /// What is stored of a debate, up to an event, or all of it.
    pub fn of(stored: &Stored, until: Option<u64>) -> Result<Story, Unfit> {
        let mut story = Story::open(stored.setup.clone())?;
        let until = until.unwrap_or(u64::MAX);
        for recorded in stored.events.iter().take_while(|it| it.seq <= until) {
            story.take(recorded.clone())?;
        }
        Ok(story)
    }

    /// Goes on by one event.
    pub fn take(&mut self, recorded: Recorded) -> Result<(), Unfit> {
        let Recorded { seq, at, event } = recorded.clone();
        self.events.push(recorded);
        let lawful = self.flaw.is_none() && self.debate.apply(event.clone()).is_ok();
        if !lawful {
            // What cannot have been written here is shown as far as it can be understood.
            self.flaw.get_or_insert(seq);
            let setup = self.debate.setup().clone();
            let events = self.events.iter().map(|it| it.event.clone());
            self.debate = Debate::salvage(setup, events)?.0;
        }
        self.tell(seq, at, &event);
        Ok(())
    }

    fn tell(&mut self, seq: u64, at: i64, event: &Event) {
        match event {
            Event::Asked { cues, .. } => {
                let known: Vec<Cue> =
                    cues.iter().copied().filter(|cue| self.debate.has(*cue)).collect();
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
            Event::Spoke { cue, .. } | Event::Failed { cue, .. } if self.debate.has(*cue) => {
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

    /// Where a turn stands: after all that was there when it was asked for.
    fn place(&mut self, cue: Cue) {
        if !self.items.contains(&Item::Turn(cue)) {
            self.items.push(Item::Turn(cue));
        }
    }

    fn note(&mut self, seq: u64, event: &Event) {
        let note = super::timeline::label(&self.debate, event);
        self.items.push(Item::Note(seq, note));
    }

    /// As it stands.
    pub fn debate(&self) -> &Debate {
        &self.debate
    }

    /// The transcript, in the order in which it came to be.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Everything taken so far.
    pub fn events(&self) -> &[Recorded] {
        &self.events
    }

    /// When a turn was asked for and taken.
    pub fn times(&self, cue: Cue) -> Times {
        self.turns.get(&cue).copied().unwrap_or_default()
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.events.last().map_or(0, |recorded| recorded.seq)
    }

    /// When that was; when it was opened, if there is none.
    pub fn at(&self) -> i64 {
        self.events.last().map_or(self.debate.setup().opened_at, |recorded| recorded.at)
    }

    /// When an event was recorded.
    pub fn when(&self, seq: u64) -> i64 {
        let found = self.events.iter().rfind(|recorded| recorded.seq == seq);
        found.map_or(self.debate.setup().opened_at, |recorded| recorded.at)
    }

    /// From where on it is not to be believed.
    pub fn flaw(&self) -> Option<u64> {
        self.flaw
    }

    /// Whether it is over.
    pub fn over(&self) -> bool {
        self.debate.outcome().is_some()
    }
}
