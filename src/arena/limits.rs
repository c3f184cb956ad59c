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
            speech_seconds: DEFAULT_SPEECH_SECONDS,
            offline_seconds: DEFAULT_OFFLINE_SECONDS,
            waiting_seconds: DEFAULT_WAITING_SECONDS,
            debate_seconds: DEFAULT_DEBATE_SECONDS,
            default_rounds: DEFAULT_ROUNDS,
            max_waiting_rooms: DEFAULT_MAX_WAITING_ROOMS,
        }
    }
}

/// Default timeout of a speech in seconds.
const DEFAULT_SPEECH_SECONDS: u32 = 120;
/// Default time in seconds without a request after which a bot counts as offline.
const DEFAULT_OFFLINE_SECONDS: u32 = 90;
/// Default time in seconds that a room waits for bots (30 minutes).
const DEFAULT_WAITING_SECONDS: u32 = 1_800;
/// Default timeout of a whole debate in seconds (60 minutes).
const DEFAULT_DEBATE_SECONDS: u32 = 3_600;
/// Default number of rounds.
const DEFAULT_ROUNDS: u8 = 5;
/// Default maximum number of waiting rooms.
const DEFAULT_MAX_WAITING_ROOMS: usize = 10_000;
/// Valid numbers of rounds.
pub(super) const VALID_ROUNDS: std::ops::RangeInclusive<u8> = 1..=10;
/// Maximum length of a bot's name and of its uuid, in characters.
pub(super) const MAX_NAME_CHARS: usize = 64;
/// Default `retry_after` in seconds. It equals the recommended poll interval.
pub(super) const DEFAULT_RETRY_SECONDS: u32 = 5;
/// `retry_after` in seconds while too many rooms are waiting.
pub(super) const TOO_MANY_ROOMS_RETRY_SECONDS: u32 = 60;
/// Maximum number of debates in a list response.
pub(crate) const MAX_LISTED: usize = 100;
/// Maximum duration of a long poll in seconds.
pub(crate) const MAX_POLL_WAIT_SECONDS: u32 = 25;

/// Converts seconds to milliseconds.
pub(super) fn to_millis(seconds: u32) -> i64 {
    i64::from(seconds) * 1000
}
