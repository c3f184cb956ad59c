//! Timeouts of a room: offline bots, rooms that stay empty, debates that take too long. Pure
//! functions, called by `timers` on every tick. A late speech is not handled here but by the
//! engine, which forfeits the turn.
use super::limits::{ArenaLimits, to_millis};
use super::room_state::RoomState;
use crate::debate::Side;

/// Action that a timeout requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeoutAction {
    /// Remove an offline bot from a waiting room. Holds its index.
    FreeSeat(usize),
    /// Close the room, because it waited too long for bots. Holds the reason.
    CloseRoom(String),
    /// Skip to the verdict. Holds the reason.
    Conclude(String),
    /// Cancel the debate without a verdict, because one side never spoke. Holds the reason.
    Cancel(String),
}

/// Returns the action that is due now. `seen` holds the time of each bot's last request, `since`
/// the time at which the room began to wait. All times are Unix milliseconds.
pub fn timeout_action(
    board: &RoomState,
    seen: &[i64],
    since: i64,
    now: i64,
    terms: &ArenaLimits,
) -> Option<TimeoutAction> {
    if board.is_over() {
        return None;
    }
    let room = &board.room;
    let gone = |nth: usize| {
        seen.get(nth).is_some_and(|at| now.saturating_sub(*at) > to_millis(terms.offline_seconds))
    };
    let Some(course) = &board.progress else {
        if room.is_full() {
            return None;
        }
        if let Some(nth) = (0..room.guests.len()).find(|nth| gone(*nth)) {
            return Some(TimeoutAction::FreeSeat(nth));
        }
        let waited = now.saturating_sub(since);
        return (waited > to_millis(terms.waiting_seconds)).then(|| {
            TimeoutAction::CloseRoom(format!(
                "nobody has come for {} seconds",
                terms.waiting_seconds
            ))
        });
    };
    if course.budget_exhausted {
        return Some(TimeoutAction::Cancel("budget: all that may be spent on it is spent".into()));
    }
    // After the last speech only the judge is awaited, so bots may leave.
    course.next_turn?;
    let ends = |because: String| {
        if course.both_sides_spoke() {
            TimeoutAction::Conclude(because)
        } else {
            TimeoutAction::Cancel(because)
        }
    };
    let absent = [Side::Pro, Side::Con].into_iter().filter_map(|side| room.bot_on_side(side)).find(
        |guest| {
            room.guests.iter().position(|it| it.identifier == guest.identifier).is_some_and(gone)
        },
    );
    if let Some(guest) = absent {
        let who = &guest.identifier;
        let seconds = terms.offline_seconds;
        return Some(ends(format!(
            "offline: {who} has not polled for more than {seconds} seconds"
        )));
    }
    let lasted = now.saturating_sub(course.opened_at);
    (lasted > to_millis(terms.debate_seconds)).then(|| {
        ends(format!("timeout: the debate has taken more than {} seconds", terms.debate_seconds))
    })
}
