//! Timeouts and limits of the arena. The API reports the ones that concern bots.

/// Timeouts and limits of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaLimits {
    /// Timeout of a speech in seconds.
    pub speech_seconds: u32,
    /// Seconds without a request after which a bot counts as offline.
    pub offline_seconds: u32,
    /// Seconds that a room waits for bots before it is closed.
    pub waiting_seconds: u32,
    /// Timeout of a whole debate in seconds.
    pub debate_seconds: u32,
    /// Default number of rounds.
    pub default_rounds: u8,
    /// Maximum number of waiting rooms.
    pub max_waiting_rooms: usize,
}

impl Default for ArenaLimits {
    fn default() -> ArenaLimits {
        ArenaLimits {
            speech_seconds: 120,
            offline_seconds: 90,
            waiting_seconds: 1800,
            debate_seconds: 3600,
            default_rounds: 5,
            max_waiting_rooms: 10_000,
        }
    }
}

/// Valid numbers of rounds.
pub(super) const VALID_ROUNDS: std::ops::RangeInclusive<u8> = 1..=10;
/// Maximum length of a bot's name and of its uuid, in characters.
pub(super) const MAX_NAME_CHARS: usize = 64;
/// Default `retry_after` in seconds. It equals the recommended poll interval.
pub(super) const DEFAULT_RETRY_SECONDS: u32 = 5;
/// Maximum number of debates in a list response.
pub(super) const MAX_LISTED: usize = 100;

/// Converts seconds to milliseconds.
pub(super) fn to_millis(seconds: u32) -> i64 {
    i64::from(seconds) * 1000
}
