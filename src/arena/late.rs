//! What time does to a room: whoever is not heard of any more is offline, nobody waits for ever, and
//! no debate lasts for ever. A speech that is late is the engine's to forfeit.
use super::board::Board;
use super::terms::{Terms, millis};
use crate::debate::Side;

/// What is to be done about a room now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A bot that waited has gone; its seat is free again.
    Leaves(usize),
    /// Nobody has come for too long.
    Expires(String),
    /// On to the judge, because of this.
    Concludes(String),
    /// Over without a judge, because of this: one side has never spoken.
    Cancels(String),
}

/// What is to be done about a room at this moment, if anything. `seen` is when each guest was last
/// heard of, `since` is when the room began to wait.
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
    // Once all have spoken, bots may leave: what is missing then is the judge.
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
