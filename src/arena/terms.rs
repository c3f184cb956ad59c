//! Timeouts and limits of the arena. The API reports the ones that concern bots.

/// Timeouts and limits of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Timeout of a speech in seconds.
    pub speech: u32,
    /// Seconds without a request after which a bot counts as offline.
    pub offline: u32,
    /// Seconds that a room waits for bots before it is closed.
    pub waiting: u32,
    /// Timeout of a whole debate in seconds.
    pub total: u32,
    /// Default number of rounds.
    pub rounds: u8,
    /// Maximum number of waiting rooms.
    pub rooms: usize,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { speech: 120, offline: 90, waiting: 1800, total: 3600, rounds: 5, rooms: 10_000 }
    }
}

/// Valid numbers of rounds.
pub(super) const ROUNDS: std::ops::RangeInclusive<u8> = 1..=10;
/// Maximum length of a bot's name and of its uuid, in characters.
pub(super) const LONGEST_NAME: usize = 64;
/// Default `retry_after` in seconds. It equals the recommended poll interval.
pub(super) const AGAIN: u32 = 5;
/// Maximum number of debates in a list response.
pub(super) const LISTED: usize = 100;

/// Converts seconds to milliseconds.
pub(super) fn millis(seconds: u32) -> i64 {
    i64::from(seconds) * 1000
}
