//! State of an arena room and of its debate, projected from the recorded events. `RoomState` is the
//! snapshot that HTTP responses and timers read. `TrackedDebate` keeps it up to date.
use super::result::{Reason, reason, result};
use super::room::Room;
use super::wire;
use crate::debate::{Body, Cue, Debate, Event, Participant, PauseReason, Setup, Side, Step, next};
use crate::engine::RecordedEvent;
use std::collections::BTreeMap;

/// Snapshot of a room and of its debate.
#[derive(Clone, Debug)]
pub struct Board {
    /// The stored room.
    pub room: Room,
    /// `None` until both bots have joined.
    pub course: Option<Course>,
}

/// Progress of a debate.
#[derive(Clone, Debug)]
pub struct Course {
    /// Sequence number of the last event.
    pub seq: u64,
    /// Unix time in milliseconds.
    pub opened_at: i64,
    /// Current round, counted from 1.
    pub round: u8,
    /// Turn of a bot that is due. `None` while the debate is judged and when it is over.
    pub next: Option<Spot>,
    /// Whether the debate is paused because its budget is exhausted.
    pub spent: bool,
    /// Take of the debate. A reply to an earlier take is rejected.
    pub take: u16,
    /// Minimum length of a speech in characters.
    pub shortest: usize,
    /// Maximum length of a speech in characters.
    pub longest: usize,
    /// Timeout of a speech in seconds.
    pub timeout: u32,
    /// Speeches, oldest first.
    pub log: Vec<Entry>,
    /// Turns lost by timeout or failure.
    pub forfeits: Vec<Forfeit>,
    /// Result and end reason, once the debate is over.
    pub over: Option<(wire::Outcome, Reason)>,
}

/// A bot's turn that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The turn.
    pub cue: Cue,
    /// Side of the bot.
    pub side: Side,
    /// Deadline as Unix time in milliseconds.
    pub deadline: Option<i64>,
}

/// A speech of a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The turn.
    pub cue: Cue,
    /// Identifier of the bot in the room.
    pub speaker: String,
    /// Side of the bot.
    pub side: Side,
    /// Unix time in milliseconds.
    pub at: i64,
    /// Markdown text.
    pub content: String,
}

/// A turn that a bot lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forfeit {
    /// The turn.
    pub cue: Cue,
    /// Identifier of the bot in the room.
    pub speaker: String,
    /// Side of the bot.
    pub side: Side,
    /// Unix time in milliseconds.
    pub at: i64,
    /// Error message of the failed turn.
    pub because: String,
}

/// A debate replayed from its events, with the time of each turn.
pub(super) struct Followed {
    pub(super) debate: Debate,
    seq: u64,
    times: BTreeMap<Cue, i64>,
}

impl Followed {
    /// Starts from the setup, without events. `None` if the setup is invalid.
    pub(super) fn opened(setup: &Setup) -> Option<Followed> {
        let debate = Debate::open(setup.clone()).ok()?;
        Some(Followed { debate, seq: 0, times: BTreeMap::new() })
    }

    /// Sequence number of the last applied event.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// Applies new events and skips known ones. Stops at the first invalid event, because no later
    /// one can be trusted.
    pub(super) fn follow(&mut self, events: Vec<RecordedEvent>) {
        for RecordedEvent { seq, at, event } in events {
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

    /// Computes the current progress.
    pub(super) fn course(&self) -> Course {
        let debate = &self.debate;
        let setup = debate.setup();
        let at = |cue: &Cue| self.times.get(cue).copied().unwrap_or(setup.opened_at);
        let named = |cue: Cue| debate.seat(cue).name.clone();
        let side_of = |cue: Cue| debate.seat(cue).role.side();
        let log: Vec<Entry> = debate
            .replies_in(..)
            .filter_map(|(cue, body)| match body {
                Body::Speech { text, .. } => {
                    let (speaker, side, content) = (named(cue), side_of(cue)?, text.clone());
                    Some(Entry { cue, speaker, side, at: at(&cue), content })
                }
                _ => None,
            })
            .collect();
        let forfeits: Vec<Forfeit> = debate
            .failed_turns()
            .filter_map(|(cue, failure)| {
                let (speaker, side) = (named(cue), side_of(cue)?);
                let because = failure.note.clone();
                Some(Forfeit { cue, speaker, side, at: at(&cue), because })
            })
            .collect();
        let due = next(debate);
        let next = match &due {
            Step::Speak { awaited, .. } => awaited.iter().copied().find_map(|cue| {
                let bot = debate.seat(cue).voice == Participant::Bot;
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
            spent: matches!(due, Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. }),
            take: debate.take_number(),
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
    /// Whether both sides have spoken. Otherwise there is nothing to judge.
    pub fn both_spoke(&self) -> bool {
        [Side::Pro, Side::Con].iter().all(|side| self.log.iter().any(|entry| entry.side == *side))
    }

    /// Whether a turn is finished, by a speech, a forfeit or the end of the debate.
    pub fn taken(&self, cue: Cue) -> bool {
        self.over.is_some()
            || self.log.iter().any(|entry| entry.cue == cue)
            || self.forfeits.iter().any(|forfeit| forfeit.cue == cue)
    }

    /// Last speech of a side.
    pub fn last_of(&self, side: Side) -> Option<&Entry> {
        self.log.iter().rfind(|entry| entry.side == side)
    }

    /// Speech of a side in a round.
    pub fn said(&self, side: Side, round: u8) -> Option<&Entry> {
        self.log.iter().find(|entry| entry.side == side && entry.cue.round == round)
    }
}

impl Board {
    /// Whether the room is closed or its debate is over.
    pub fn over(&self) -> bool {
        self.room.closed.is_some() || self.course.as_ref().is_some_and(|it| it.over.is_some())
    }

    /// Whether the debate waits for a speech of this side.
    pub fn waits_for(&self, side: Option<Side>) -> bool {
        let next = self.course.as_ref().and_then(|course| course.next);
        side.is_some() && next.map(|spot| spot.side) == side
    }
}
