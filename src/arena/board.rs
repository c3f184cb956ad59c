//! How a debate between bots stands, read off its record.
use super::result::{Reason, reason, result};
use super::room::Room;
use super::wire;
use crate::debate::{Body, Cue, Debate, Event, Pause, Setup, Side, Step, Voice, next};
use crate::engine::Recorded;
use std::collections::BTreeMap;

/// A room, and how its debate stands if there is one.
#[derive(Clone, Debug)]
pub struct Board {
    /// Who waits or sits there.
    pub room: Room,
    /// Once both are there.
    pub course: Option<Course>,
}

/// How a debate stands.
#[derive(Clone, Debug)]
pub struct Course {
    /// The last event in it.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub opened_at: i64,
    /// The round it is in.
    pub round: u8,
    /// Whose turn it is, as long as a bot's speech is waited for.
    pub next: Option<Spot>,
    /// Whether it has come to a halt because all that may be spent on it is spent.
    pub spent: bool,
    /// Which take of the debate it is.
    pub take: u16,
    /// Characters of a speech, at least.
    pub shortest: usize,
    /// Characters of a speech, at most.
    pub longest: usize,
    /// Seconds a speech may take.
    pub timeout: u32,
    /// The first speech first.
    pub log: Vec<Entry>,
    /// Turns nobody took.
    pub forfeits: Vec<Forfeit>,
    /// What it came to and why it is over, if it is.
    pub over: Option<(wire::Outcome, Reason)>,
}

/// A turn that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Which.
    pub cue: Cue,
    /// Whose.
    pub side: Side,
    /// Until when.
    pub deadline: Option<i64>,
}

/// One speech.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The turn.
    pub cue: Cue,
    /// By what the bot is called.
    pub speaker: String,
    /// Its side.
    pub side: Side,
    /// Milliseconds since 1970.
    pub at: i64,
    /// What it said.
    pub content: String,
}

/// A turn nobody took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forfeit {
    /// The turn.
    pub cue: Cue,
    /// By what the bot is called.
    pub speaker: String,
    /// Its side.
    pub side: Side,
    /// Milliseconds since 1970.
    pub at: i64,
    /// Why.
    pub because: String,
}

/// A debate that is followed, and when each of its turns came.
pub(super) struct Followed {
    pub(super) debate: Debate,
    seq: u64,
    times: BTreeMap<Cue, i64>,
}

impl Followed {
    /// As it was opened, if it could be.
    pub(super) fn opened(setup: &Setup) -> Option<Followed> {
        let debate = Debate::open(setup.clone()).ok()?;
        Some(Followed { debate, seq: 0, times: BTreeMap::new() })
    }

    /// The number of the last event.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// What has happened since. An event that does not fit is somebody else's doing: what comes
    /// after it is not believed.
    pub(super) fn follow(&mut self, events: Vec<Recorded>) {
        for Recorded { seq, at, event } in events {
            if seq <= self.seq {
                continue;
            }
            if let Event::Spoke { cue, .. } | Event::Failed { cue, .. } = &event {
                self.times.insert(*cue, at);
            }
            if self.debate.apply(event).is_err() {
                tracing::warn!("event {seq} of `{}` does not fit", self.debate.setup().id);
                return;
            }
            self.seq = seq;
        }
    }

    /// How it stands.
    pub(super) fn course(&self) -> Course {
        let debate = &self.debate;
        let setup = debate.setup();
        let at = |cue: &Cue| self.times.get(cue).copied().unwrap_or(setup.opened_at);
        let named = |cue: Cue| debate.seat(cue).name.clone();
        let side_of = |cue: Cue| debate.seat(cue).role.side();
        let log: Vec<Entry> = debate
            .spoken(..)
            .filter_map(|(cue, body)| match body {
                Body::Speech { text, .. } => {
                    let (speaker, side, content) = (named(cue), side_of(cue)?, text.clone());
                    Some(Entry { cue, speaker, side, at: at(&cue), content })
                }
                _ => None,
            })
            .collect();
        let forfeits: Vec<Forfeit> = debate
            .missing()
            .filter_map(|(cue, failure)| {
                let (speaker, side) = (named(cue), side_of(cue)?);
                let because = failure.note.clone();
                Some(Forfeit { cue, speaker, side, at: at(&cue), because })
            })
            .collect();
        let due = next(debate);
        let next = match &due {
            Step::Speak { awaited, .. } => awaited.iter().copied().find_map(|cue| {
                let bot = debate.seat(cue).voice == Voice::Bot;
                let side = side_of(cue).filter(|_| bot)?;
                Some(Spot { cue, side, deadline: debate.deadline(cue) })
            }),
            _ => None,
        };
        let last = log.iter().map(|it| it.cue).chain(forfeits.iter().map(|it| it.cue)).max();
        let round = next.map(|spot| spot.cue).or(last).map_or(1, |cue| cue.round.max(1));
        Course {
            seq: self.seq,
            opened_at: setup.opened_at,
            round,
            next,
            spent: matches!(due, Step::Hold { pause: Pause::Spent { .. }, .. }),
            take: debate.take(),
            shortest: setup.limits.shortest,
            longest: setup.limits.longest,
            timeout: setup.limits.await_seconds.unwrap_or(0),
            log,
            forfeits,
            over: debate.outcome().map(|_| (result(debate), reason(debate))),
        }
    }
}

impl Course {
    /// Whether both sides have spoken: only then is there something to judge.
    pub fn both_spoke(&self) -> bool {
        [Side::Pro, Side::Con].iter().all(|side| self.log.iter().any(|entry| entry.side == *side))
    }

    /// Whether a turn is over, one way or the other.
    pub fn taken(&self, cue: Cue) -> bool {
        self.over.is_some()
            || self.log.iter().any(|entry| entry.cue == cue)
            || self.forfeits.iter().any(|forfeit| forfeit.cue == cue)
    }

    /// What a side said last.
    pub fn last_of(&self, side: Side) -> Option<&Entry> {
        self.log.iter().rfind(|entry| entry.side == side)
    }

    /// What a side said in a round.
    pub fn said(&self, side: Side, round: u8) -> Option<&Entry> {
        self.log.iter().find(|entry| entry.side == side && entry.cue.round == round)
    }
}

impl Board {
    /// Whether nothing will happen here any more.
    pub fn over(&self) -> bool {
        self.room.closed.is_some() || self.course.as_ref().is_some_and(|it| it.over.is_some())
    }

    /// Whether this side is waited for.
    pub fn waits_for(&self, side: Option<Side>) -> bool {
        let next = self.course.as_ref().and_then(|course| course.next);
        side.is_some() && next.map(|spot| spot.side) == side
    }
}
