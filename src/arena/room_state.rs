//! State of an arena room and of its debate, projected from the recorded events. `RoomState` is the
//! snapshot that HTTP responses and timers read. `TrackedDebate` replays the events and computes
//! its `DebateProgress`. `LiveRoom::publish` stores the new snapshot.
use super::protocol;
use super::result::{EndReason, arena_result, end_reason};
use super::room::Room;
use crate::debate::{Body, Cue, Debate, Event, Participant, PauseReason, Setup, Side, Step, next};
use crate::engine::RecordedEvent;
use std::collections::BTreeMap;

/// Snapshot of a room and of its debate.
#[derive(Clone, Debug)]
pub(super) struct RoomState {
    /// The stored room.
    pub room: Room,
    /// `None` until both bots have joined.
    pub progress: Option<DebateProgress>,
}

/// Progress of a debate.
#[derive(Clone, Debug)]
pub(super) struct DebateProgress {
    /// Sequence number of the last event.
    pub last_seq: u64,
    /// Unix time in milliseconds.
    pub opened_at: i64,
    /// Current round, counted from 1.
    pub round: u8,
    /// Turn of a bot that is due. `None` while the debate is judged, paused or over.
    pub next_turn: Option<AwaitedTurn>,
    /// Whether the debate is paused because its budget is exhausted.
    pub budget_exhausted: bool,
    /// Take: how often the debate was reopened. A reply to an earlier take is rejected.
    pub take: u16,
    /// Minimum length of a speech in characters.
    pub min_chars: usize,
    /// Maximum length of a speech in characters.
    pub max_chars: usize,
    /// Timeout of a speech in seconds.
    pub timeout_seconds: u32,
    /// Speeches, oldest first.
    pub speeches: Vec<ArenaSpeech>,
    /// Turns lost by timeout or failure.
    pub forfeits: Vec<ForfeitedTurn>,
    /// Result and end reason, once the debate is over.
    pub result: Option<(protocol::ArenaResult, EndReason)>,
}

/// A bot's turn that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AwaitedTurn {
    /// The turn.
    pub cue: Cue,
    /// Side of the bot.
    pub side: Side,
    /// Deadline as Unix time in milliseconds.
    pub deadline: Option<i64>,
}

/// A speech of a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArenaSpeech {
    /// The turn.
    pub cue: Cue,
    /// Identifier of the bot in the room.
    pub speaker: String,
    /// Side of the bot.
    pub side: Side,
    /// Unix time in milliseconds.
    pub spoken_at: i64,
    /// Markdown text.
    pub content: String,
}

/// A turn that a bot lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForfeitedTurn {
    /// The turn.
    pub cue: Cue,
    /// Identifier of the bot in the room.
    pub speaker: String,
    /// Side of the bot.
    pub side: Side,
    /// Unix time in milliseconds.
    pub forfeited_at: i64,
    /// Error message of the failed turn.
    pub reason: String,
}

/// A debate replayed from its events, with the time of each turn.
pub(super) struct TrackedDebate {
    pub(super) debate: Debate,
    last_seq: u64,
    turn_times: BTreeMap<Cue, i64>,
}

impl TrackedDebate {
    /// Starts from the setup, without events. `None` if the setup is invalid.
    pub(super) fn open(setup: &Setup) -> Option<TrackedDebate> {
        let debate = Debate::open(setup.clone()).ok()?;
        Some(TrackedDebate { debate, last_seq: 0, turn_times: BTreeMap::new() })
    }

    /// Sequence number of the last applied event.
    pub(super) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Applies new events and skips known ones. Stops at the first invalid event, because no later
    /// one can be trusted.
    pub(super) fn apply_events(&mut self, events: Vec<RecordedEvent>) {
        for RecordedEvent { seq, at, event } in events {
            if seq <= self.last_seq {
                continue;
            }
            if let Event::Spoke { cue, .. } | Event::Failed { cue, .. } = &event {
                self.turn_times.insert(*cue, at);
            }
            if self.debate.apply(event).is_err() {
                tracing::warn!(debate = %self.debate.setup().id, seq, "recorded event is illegal");
                return;
            }
            self.last_seq = seq;
        }
    }

    /// Computes the current progress.
    pub(super) fn progress(&self) -> DebateProgress {
        let debate = &self.debate;
        let setup = debate.setup();
        let turn_time = |cue: &Cue| self.turn_times.get(cue).copied().unwrap_or(setup.opened_at);
        let name_of = |cue: Cue| debate.seat(cue).name.clone();
        let side_of = |cue: Cue| debate.seat(cue).role.side();
        let speeches: Vec<ArenaSpeech> = debate
            .replies_in(..)
            .filter_map(|(cue, body)| match body {
                Body::Speech { text, .. } => {
                    let (speaker, side, content) = (name_of(cue), side_of(cue)?, text.clone());
                    Some(ArenaSpeech { cue, speaker, side, spoken_at: turn_time(&cue), content })
                }
                _ => None,
            })
            .collect();
        let forfeits: Vec<ForfeitedTurn> = debate
            .failed_turns()
            .filter_map(|(cue, failure)| {
                let (speaker, side) = (name_of(cue), side_of(cue)?);
                let reason = failure.note.clone();
                Some(ForfeitedTurn { cue, speaker, side, forfeited_at: turn_time(&cue), reason })
            })
            .collect();
        let step = next(debate);
        let next_turn = match &step {
            Step::Speak { awaited, .. } => awaited.iter().copied().find_map(|cue| {
                let is_bot = debate.seat(cue).voice == Participant::Bot;
                let side = side_of(cue).filter(|_| is_bot)?;
                Some(AwaitedTurn { cue, side, deadline: debate.deadline(cue) })
            }),
            _ => None,
        };
        let last_cue =
            speeches.iter().map(|it| it.cue).chain(forfeits.iter().map(|it| it.cue)).max();
        let round = next_turn.map(|turn| turn.cue).or(last_cue).map_or(1, |cue| cue.round.max(1));
        DebateProgress {
            last_seq: self.last_seq,
            opened_at: setup.opened_at,
            round,
            next_turn,
            budget_exhausted: matches!(
                step,
                Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. }
            ),
            take: debate.take_number(),
            min_chars: setup.limits.shortest,
            max_chars: setup.limits.longest,
            timeout_seconds: setup.limits.await_seconds.unwrap_or(0),
            speeches,
            forfeits,
            result: debate.outcome().map(|_| (arena_result(debate), end_reason(debate))),
        }
    }
}

impl DebateProgress {
    /// Whether both sides have spoken. Otherwise there is nothing to judge.
    pub(super) fn both_sides_spoke(&self) -> bool {
        [Side::Pro, Side::Con]
            .iter()
            .all(|side| self.speeches.iter().any(|entry| entry.side == *side))
    }

    /// Whether a turn is finished, by a speech, a forfeit or the end of the debate.
    pub(super) fn is_turn_finished(&self, cue: Cue) -> bool {
        self.result.is_some()
            || self.speeches.iter().any(|entry| entry.cue == cue)
            || self.forfeits.iter().any(|forfeit| forfeit.cue == cue)
    }

    /// Last speech of a side.
    pub(super) fn last_speech(&self, side: Side) -> Option<&ArenaSpeech> {
        self.speeches.iter().rfind(|entry| entry.side == side)
    }

    /// Speech of a side in a round.
    pub(super) fn speech_in_round(&self, side: Side, round: u8) -> Option<&ArenaSpeech> {
        self.speeches.iter().find(|entry| entry.side == side && entry.cue.round == round)
    }
}

impl RoomState {
    /// Whether the room is closed or its debate is over.
    pub(super) fn is_over(&self) -> bool {
        self.room.closed.is_some() || self.progress.as_ref().is_some_and(|it| it.result.is_some())
    }

    /// Whether the debate waits for a speech of this side. False without a side.
    pub(super) fn is_awaiting(&self, side: Option<Side>) -> bool {
        let next_turn = self.progress.as_ref().and_then(|progress| progress.next_turn);
        side.is_some() && next_turn.map(|turn| turn.side) == side
    }
}
