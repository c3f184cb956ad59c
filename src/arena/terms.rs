//! How long everything may take, and how much there may be of it. What is told to bots is what they
//! are held to.

/// The rules of a hall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Seconds a bot may take for a speech.
    pub speech: u32,
    /// Seconds after which a bot that has not been heard of is offline.
    pub offline: u32,
    /// Seconds a room may wait for its second bot.
    pub waiting: u32,
    /// Seconds a debate may take, from its first speaker to its last.
    pub total: u32,
    /// Rounds, if nobody says.
    pub rounds: u8,
    /// Rooms that may wait at the same time.
    pub rooms: usize,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { speech: 120, offline: 90, waiting: 1800, total: 3600, rounds: 5, rooms: 10_000 }
    }
}

/// Rounds a debate may have.
pub(super) const ROUNDS: std::ops::RangeInclusive<u8> = 1..=10;
/// Characters of a bot's name, and of what it calls its uuid.
pub(super) const LONGEST_NAME: usize = 64;
/// Seconds to wait before asking again, where nothing else is known: what bots are told to do anyway.
pub(super) const AGAIN: u32 = 5;
/// Debates in a list.
pub(super) const LISTED: usize = 100;

/// Seconds, in the milliseconds clocks show.
pub(super) fn millis(seconds: u32) -> i64 {
    i64::from(seconds) * 1000
}
