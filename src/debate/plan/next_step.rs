//! Scheduler: [`next`] computes what is due next from the setup and the recorded turns. The log has
//! no cursor. The function walks the scheduled phases in order and returns the first open wave, hold
//! or end. The state keeps the start of that walk ([`ScheduleCursor`]). [`super::validation`] checks
//! every event against this step, and `engine::session` executes it.
//!
//! A wave is the set of turns open at the same time: one turn if the seats of the phase speak in
//! turn, else all its open turns. Driven turns are requested from a provider. Awaited turns come
//! from the host, a person or a bot.
use super::step::{PauseReason, Step};
use crate::debate::claims::flags::settled_reason;
use crate::debate::record::body::{Body, HelpRequest};
use crate::debate::record::event::DebateOutcome;
use crate::debate::record::schedule_cursor::ScheduleCursor;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::{Cue, Position};
use crate::debate::setup::debate_setup::HoldPoint;
use crate::debate::setup::format::{
    Phase, Quorum, ReplyKind, Role, Shortfall, Side, Speakers, SpeakingOrder,
};
use crate::debate::setup::seat::Seat;

/// Lapsed turns of one side after which the debate skips to its last act or ends.
const LAPSES_TO_END: usize = 2;

/// Computes the next step. A pure function of the debate, so it can be called at any time.
pub fn next(debate: &Debate) -> Step {
    if debate.outcome().is_some() {
        return Step::Done;
    }
    walk(debate, debate.schedule_cursor().clone()).1
}

/// Moves the cursor over the phases that are over.
pub(super) fn advance(debate: &Debate, cursor: ScheduleCursor) -> ScheduleCursor {
    walk(debate, cursor).0
}

/// The first cue that can still receive a remark or an amendment. Seats already asked cannot,
/// because a prompt never changes once it was asked.
pub(super) fn next_unasked(debate: &Debate) -> Option<Cue> {
    let due = next(debate);
    let first = due.first_cue()?;
    let wave = debate.setup().wave(first);
    let after = |end: Cue| Cue { seat: end.seat.saturating_add(1), ..end };
    let asked = due.open_cues().any(|cue| debate.was_asked(cue));
    Some(if asked { after(*wave.end()) } else { *wave.start() })
}

/// Walks over the phases that are over. Returns the first one that is not, and its step.
fn walk(debate: &Debate, mut cursor: ScheduleCursor) -> (ScheduleCursor, Step) {
    let ending = debate.setup().ending_act();
    let resumed_at = cursor.start;
    for stage in scheduled_phases(debate, resumed_at) {
        cursor.start = stage.start;
        // A cursor is left at a phase whose previous round was checked.
        if cursor.early_outcome.is_none()
            && stage.start != resumed_at
            && is_skipped_as_settled(debate, stage.position, ending)
        {
            let after = stage.position.round - 1;
            cursor.early_outcome = Some(DebateOutcome::Settled { after });
        }
        if cursor.early_outcome.is_some() && stage.position.act < ending {
            continue;
        }
        let (at, phase) = (stage.position, stage.phase.name.clone());
        // With lapsed turns, the ending can be reached without speeches to rule on.
        if at.act == ending
            && stage.cues.iter().all(|cue| debate.turn(*cue).is_none())
            && has_lapsing_phases(debate)
        {
            let (at, phase) = cursor.last_lapse.clone().unwrap_or((at, phase.clone()));
            if let Some(outcome) = outcome_if_side_silent(debate, at, phase) {
                return (cursor, Step::Close(outcome));
            }
        }
        match stage.shortfall(debate) {
            Some((Shortfall::Abort, _)) => {
                return (cursor, Step::Close(DebateOutcome::Aborted { at, phase }));
            }
            Some((Shortfall::Uncontested, _)) => {
                return (cursor, Step::Close(DebateOutcome::Uncontested { at, phase }));
            }
            Some((Shortfall::Conclude, _)) => {
                cursor.early_outcome.get_or_insert(DebateOutcome::Curtailed { at, phase });
                continue;
            }
            Some((Shortfall::Forfeit, failed_cue)) => {
                let outcome = match debate.seat(failed_cue).role.side() {
                    Some(by) => DebateOutcome::Forfeited { by },
                    None => DebateOutcome::Aborted { at, phase },
                };
                return (cursor, Step::Close(outcome));
            }
            Some((Shortfall::Lapse, _)) => {
                cursor.last_lapse = Some((at, phase.clone()));
                if stage.has_side_lapsed_twice(debate) {
                    if let Some(outcome) = outcome_if_side_silent(debate, at, phase.clone()) {
                        return (cursor, Step::Close(outcome));
                    }
                    cursor.early_outcome.get_or_insert(DebateOutcome::Curtailed { at, phase });
                    continue;
                }
            }
            Some((Shortfall::GoOn, _)) | None => {}
        }
        let due = stage.due_cues(debate);
        let Some(&next) = due.first() else { continue };
        if let Some(pause) = stage.pause_reason(debate, next) {
            return (cursor, Step::Hold { next, pause });
        }
        let (awaited, driven) =
            due.into_iter().partition(|cue| debate.seat(*cue).voice.is_awaited());
        return (cursor, Step::Speak { driven, awaited });
    }
    cursor.start = Cue::END;
    let outcome = cursor.early_outcome.clone().unwrap_or(DebateOutcome::Completed);
    (cursor, Step::Close(outcome))
}

/// Whether a phase before the ending lets single turns lapse.
fn has_lapsing_phases(debate: &Debate) -> bool {
    let acts = &debate.setup().format.acts;
    let earlier_acts = acts.iter().take(acts.len().saturating_sub(1));
    earlier_acts.flat_map(|act| &act.phases).any(|phase| phase.short == Shortfall::Lapse)
}

/// Outcome if a side has never spoken, since there is nothing to rule on.
fn outcome_if_side_silent(debate: &Debate, at: Position, phase: String) -> Option<DebateOutcome> {
    match (debate.has_side_spoken(Side::Pro), debate.has_side_spoken(Side::Con)) {
        (true, true) => None,
        (false, false) => Some(DebateOutcome::Aborted { at, phase }),
        _ => Some(DebateOutcome::Uncontested { at, phase }),
    }
}

/// Whether this round is skipped because the previous round settled the debate. Depends only on
/// earlier rounds, so the result cannot change once the round has begun.
fn is_skipped_as_settled(debate: &Debate, position: Position, ending: u8) -> bool {
    let can_skip = debate.setup().stop_when_settled && position.act < ending && position.round > 1;
    can_skip && settled_reason(debate, position.round - 1).is_some()
}

/// A phase in a given round, with the cues of its speakers.
struct ScheduledPhase<'a> {
    start: Cue,
    position: Position,
    phase: &'a Phase,
    cues: Vec<Cue>,
}

/// Iterates over the phases of all rounds from `first` on, in order. Lazy, because an open act has
/// up to 100 rounds and later speakers depend on earlier turns.
fn scheduled_phases(debate: &Debate, first: Cue) -> impl Iterator<Item = ScheduledPhase<'_>> {
    let setup = debate.setup();
    let acts = setup.format.acts.iter().zip(setup.format.round_ranges(debate.rounds())).zip(0u8..);
    let acts = acts.skip(usize::from(first.act));
    acts.flat_map(move |((act, rounds), index)| {
        let first_round = if index == first.act { first.round } else { 0 };
        (first_round.max(*rounds.start())..=*rounds.end()).flat_map(move |round| {
            let phases = act.phases.iter().zip(0u8..).map(move |(phase, phase_index)| {
                (Cue { act: index, round, phase: phase_index, seat: 0 }, phase)
            });
            phases.filter(move |(start, _)| *start >= first).map(move |(start, phase)| {
                let seats = resolve_speakers(debate, start, &phase.speakers);
                let cues = seats.into_iter().map(|seat| Cue { seat, ..start }).collect();
                ScheduledPhase { start, position: start.position(), phase, cues }
            })
        })
    })
}

/// Resolves the speakers of a phase to seat indexes. Reads only turns before `start`, so the result
/// cannot change once the phase has begun.
fn resolve_speakers(debate: &Debate, start: Cue, speakers: &Speakers) -> Vec<u8> {
    let seats = debate.seats();
    let seats_where = |predicate: &dyn Fn(u8, Role, &str) -> bool| -> Vec<u8> {
        let seats = seats.iter().zip(0u8..);
        seats
            .filter(|(seat, index)| predicate(*index, seat.role, &seat.name))
            .map(|(_, index)| index)
            .collect()
    };
    let is_silent = |index| is_silent_before(debate, index, start);
    let this_round = Cue { phase: 0, seat: 0, ..start }..start;
    match speakers {
        Speakers::Seated(roles) => seats_where(&|_, role, _| roles.contains(&role)),
        Speakers::Prompted(wanted_role) => {
            let requests_floor = |(_, body): (Cue, &Body)| {
                let is_petition =
                    body.kind() == ReplyKind::Petition && !body.is_declined_petition();
                is_petition
                    || body
                        .help_request()
                        .is_some_and(|help| find_called_listener(debate, start, help).is_some())
            };
            let is_requested = debate.replies_in(this_round).any(requests_floor);
            seats_where(&|_, role, _| role == *wanted_role && is_requested)
                .into_iter()
                .take(1)
                .collect()
        }
        Speakers::Silent(wanted_role) => {
            seats_where(&|index, role, _| role == *wanted_role && is_silent(index))
        }
        Speakers::Admitted => {
            let admits = |body: &Body| match body {
                Body::Ruling { admits, .. } => admits.clone(),
                _ => None,
            };
            let admitted = debate.replies_in(this_round).find_map(|(_, body)| admits(body));
            seats_where(&|index, role, name| {
                role == Role::Audience && admitted.as_deref() == Some(name) && is_silent(index)
            })
        }
    }
}

/// Index of the audience seat a debater calls for help: the first with that name or kind that has
/// made no speech before `start`.
pub(in crate::debate) fn find_called_listener(
    debate: &Debate,
    start: Cue,
    help: &HelpRequest,
) -> Option<u8> {
    let is_called = |seat: &Seat| {
        seat.role == Role::Audience && (seat.name == help.from || seat.kind == help.from)
    };
    let mut seats = (0u8..).zip(debate.seats());
    seats
        .find(|(index, seat)| is_called(seat) && is_silent_before(debate, *index, start))
        .map(|(index, _)| index)
}

/// Whether a seat has made no speech before this cue.
fn is_silent_before(debate: &Debate, seat: u8, cue: Cue) -> bool {
    debate.first_speech(seat).is_none_or(|speech| speech >= cue)
}

impl ScheduledPhase<'_> {
    /// The open cues of the current wave.
    fn due_cues(&self, debate: &Debate) -> Vec<Cue> {
        let open = self.cues.iter().copied().filter(|cue| debate.turn(*cue).is_none());
        match self.phase.order {
            SpeakingOrder::InTurn => open.take(1).collect(),
            SpeakingOrder::AtOnce => open.collect(),
        }
    }

    /// Shortfall action of the phase and its first failed cue, if the quorum is missed. An in-turn
    /// phase stops as soon as that is certain. An at-once phase first waits for the whole wave,
    /// because all of its requests are out.
    fn shortfall(&self, debate: &Debate) -> Option<(Shortfall, Cue)> {
        let failed: Vec<Cue> =
            self.cues.iter().copied().filter(|cue| debate.failure(*cue).is_some()).collect();
        let is_decided =
            self.phase.order == SpeakingOrder::InTurn || self.due_cues(debate).is_empty();
        let is_short = match self.phase.quorum {
            Quorum::One => failed.len() == self.cues.len(),
            Quorum::All => !failed.is_empty(),
        };
        failed.first().filter(|_| is_decided && is_short).map(|first| (self.phase.short, *first))
    }

    /// Whether a side has let two turns lapse up to this phase.
    fn has_side_lapsed_twice(&self, debate: &Debate) -> bool {
        let end = Cue { seat: u8::MAX, ..*self.cues.last().unwrap_or(&Cue::END) };
        let lapsed = |side: Side| {
            let lapsed = debate.failed_turns().filter(|(cue, _)| {
                *cue <= end
                    && debate.seat(*cue).role == side.role()
                    && debate.setup().phase(*cue).short == Shortfall::Lapse
            });
            lapsed.count()
        };
        lapsed(Side::Pro) >= LAPSES_TO_END || lapsed(Side::Con) >= LAPSES_TO_END
    }

    /// Why the debate must hold before this wave, if it must. A wave that was asked is never held,
    /// because its requests are out and will be paid for.
    fn pause_reason(&self, debate: &Debate, first: Cue) -> Option<PauseReason> {
        if debate.was_asked(first) {
            return None;
        }
        let (spent, budget) = (debate.spent(), debate.budget());
        // A user who asks for the ending accepts its cost.
        let is_exempt = debate.is_concluded() && self.position.act == debate.setup().ending_act();
        if budget.is_exhausted(spent) && !is_exempt {
            return Some(PauseReason::BudgetExhausted { spent, budget });
        }
        if debate.is_held() {
            return Some(PauseReason::UserHold);
        }
        let hold = if debate.turns().next().is_none() {
            HoldPoint::Start
        } else if self.position.round > 1 {
            HoldPoint::Rounds
        } else {
            return None;
        };
        let must_hold =
            debate.holds().contains(&hold) && debate.continued_until() < Some(self.position);
        must_hold.then_some(PauseReason::UserHold)
    }
}

#[cfg(test)]
mod tests;
