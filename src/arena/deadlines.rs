//! Timeouts of a room: offline bots, rooms that stay empty, debates that take too long. Pure
//! functions, called by `timers` on every tick. A late speech is not handled here but by the
//! engine, which forfeits the turn.
use super::limits::{ArenaLimits, to_millis};
use super::room_state::RoomState;
use crate::debate::Side;

/// Action that a timeout requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TimeoutAction {
    /// Remove an offline bot from a waiting room. Holds its index.
    FreeSeat(usize),
    /// Close the room, because it waited too long for bots. Holds the reason.
    CloseRoom(String),
    /// Skip to the verdict. Holds the reason.
    Conclude(String),
    /// Cancel the debate without a verdict, because one side never spoke. Holds the reason.
    Cancel(String),
}

/// Returns the action that is due now. `last_seen` holds the time of each bot's last request,
/// `waiting_since` the time at which the room began to wait. All times are Unix milliseconds.
pub(super) fn timeout_action(
    state: &RoomState,
    last_seen: &[i64],
    waiting_since: i64,
    now: i64,
    limits: &ArenaLimits,
) -> Option<TimeoutAction> {
    if state.is_over() {
        return None;
    }
    let room = &state.room;
    let is_offline = |index: usize| {
        last_seen
            .get(index)
            .is_some_and(|at| now.saturating_sub(*at) > to_millis(limits.offline_seconds))
    };
    let Some(progress) = &state.progress else {
        if room.is_full() {
            return None;
        }
        if let Some(index) = (0..room.guests.len()).find(|index| is_offline(*index)) {
            return Some(TimeoutAction::FreeSeat(index));
        }
        let waited = now.saturating_sub(waiting_since);
        return (waited > to_millis(limits.waiting_seconds)).then(|| {
            TimeoutAction::CloseRoom(format!(
                "the room waited more than {} seconds for bots",
                limits.waiting_seconds
            ))
        });
    };
    if progress.budget_exhausted {
        return Some(TimeoutAction::Cancel("budget: all that may be spent on it is spent".into()));
    }
    // After the last speech only the judge is awaited, so bots may leave.
    progress.next_turn?;
    let end_action = |reason: String| {
        if progress.both_sides_spoke() {
            TimeoutAction::Conclude(reason)
        } else {
            TimeoutAction::Cancel(reason)
        }
    };
    let offline_bot =
        [Side::Pro, Side::Con].into_iter().filter_map(|side| room.bot_on_side(side)).find(|bot| {
            room.guests
                .iter()
                .position(|it| it.identifier == bot.identifier)
                .is_some_and(is_offline)
        });
    if let Some(bot) = offline_bot {
        let identifier = &bot.identifier;
        let seconds = limits.offline_seconds;
        return Some(end_action(format!(
            "offline: {identifier} has not polled for more than {seconds} seconds"
        )));
    }
    let elapsed = now.saturating_sub(progress.opened_at);
    (elapsed > to_millis(limits.debate_seconds)).then(|| {
        end_action(format!(
            "timeout: the debate has taken more than {} seconds",
            limits.debate_seconds
        ))
    })
}
