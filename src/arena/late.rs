//! Timeouts of a room: offline bots, rooms that stay empty, debates that take too long. Pure
//! functions, called by `timers` on every tick. A late speech is not handled here but by the
//! engine, which forfeits the turn.
use super::board::Board;
use super::terms::{Terms, millis};
use crate::debate::Side;

/// Action that a timeout requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Remove an offline bot from a waiting room. Holds its index.
    Leaves(usize),
    /// Close the room, because it waited too long for bots. Holds the reason.
    Expires(String),
    /// Skip to the verdict. Holds the reason.
    Concludes(String),
    /// Cancel the debate without a verdict, because one side never spoke. Holds the reason.
    Cancels(String),
}

/// Returns the action that is due now. `seen` holds the time of each bot's last request, `since`
/// the time at which the room began to wait. All times are Unix milliseconds.
pub fn ending(board: &Board, seen: &[i64], since: i64, now: i64, terms: &Terms) -> Option<Ending> {
    if board.over() {
        return None;
    }
    let room = &board.room;
    let gone = |nth: usize| {
        seen.get(nth).is_some_and(|at| now.saturating_sub(*at) > millis(terms.offline))
    };
    let Some(course) = &board.course else {
        if room.full() {
            return None;
        }
        if let Some(nth) = (0..room.guests.len()).find(|nth| gone(*nth)) {
            return Some(Ending::Leaves(nth));
        }
        let waited = now.saturating_sub(since);
        return (waited > millis(terms.waiting))
            .then(|| Ending::Expires(format!("nobody has come for {} seconds", terms.waiting)));
    };
    if course.spent {
        return Some(Ending::Cancels("budget: all that may be spent on it is spent".into()));
    }
    // After the last speech only the judge is awaited, so bots may leave.
    course.next?;
    let ends = |because: String| {
        if course.both_spoke() { Ending::Concludes(because) } else { Ending::Cancels(because) }
    };
    let absent =
        [Side::Pro, Side::Con].into_iter().filter_map(|side| room.on(side)).find(|guest| {
            room.guests.iter().position(|it| it.identifier == guest.identifier).is_some_and(gone)
        });
    if let Some(guest) = absent {
        let who = &guest.identifier;
        let seconds = terms.offline;
        return Some(ends(format!(
            "offline: {who} has not polled for more than {seconds} seconds"
        )));
    }
    let lasted = now.saturating_sub(course.opened_at);
    (lasted > millis(terms.total))
        .then(|| ends(format!("timeout: the debate has taken more than {} seconds", terms.total)))
}
