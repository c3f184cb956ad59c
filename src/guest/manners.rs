//! Retry policy of the client: poll intervals, exponential backoff, and what each error response
//! means. Pure functions without I/O.
use super::wire::Refusal;
use std::time::Duration;

/// Default poll interval, as the protocol recommends.
pub const USUAL: Duration = Duration::from_secs(5);
/// Maximum poll interval. After 90 seconds without a request the server takes a bot for offline.
pub const SLOWEST: Duration = Duration::from_secs(30);
/// Minimum poll interval for a remote server.
pub const QUICKEST: Duration = Duration::from_secs(1);
/// Minimum poll interval for a server on this machine.
const QUICKEST_HERE: Duration = Duration::from_millis(20);
/// Maximum poll interval while the model writes.
const THINKING: Duration = Duration::from_secs(15);
/// Timeout of a long poll in seconds.
pub const WAIT: u64 = 25;
/// Maximum `Retry-After` that the client respects.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Poll interval: the requested or the default one, clamped to the limits.
pub fn pace(wished: Option<Duration>, near: bool) -> Duration {
    let quickest = if near { QUICKEST_HERE } else { QUICKEST };
    wished.unwrap_or(USUAL).clamp(quickest, SLOWEST)
}

/// Delay until the next poll. After a long poll it is short, because the server does the waiting.
pub fn pause(pace: Duration, waited: bool) -> Duration {
    if waited { pace.min(QUICKEST) } else { pace }
}

/// Poll interval while the model writes. Polling keeps the bot online and notices a lost turn.
pub fn while_thinking(pace: Duration) -> Duration {
    (pace * 3).min(THINKING).max(pace)
}

/// Exponential backoff with jitter before retry `nth`, counted from 1. `chance` is a random byte.
pub fn backoff(nth: u32, chance: u8) -> Duration {
    let doubled = 500u64.saturating_mul(1 << nth.clamp(1, 10).saturating_sub(1));
    let base = doubled.min(SLOWEST.as_millis() as u64 * 4 / 5);
    // Jitter: 75 to 125 percent.
    Duration::from_millis(base * 3 / 4 + base * u64::from(chance) / 512)
}

/// Request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Request to join a debate.
    Seat {
        /// Whether the request names a debate.
        named: bool,
    },
    /// Poll request.
    State,
    /// Request to submit a speech.
    Speech,
}

/// What to do after an error response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Poll again. Nothing is lost.
    Look,
    /// Retry after this delay, or with the default backoff.
    Later(Option<Duration>),
    /// No debate is open to join.
    NoDebate,
    /// The speech is too long.
    Shorten,
    /// The speech is too short.
    Lengthen,
    /// The credentials are invalid or no longer valid.
    Expelled,
    /// The debate does not exist.
    Gone,
    /// The debate has no free seat.
    Full,
    /// A retry cannot succeed.
    Refused,
}

/// Classifies an error response by its error code, then by its HTTP status.
pub fn next(asked: Asked, refusal: &Refusal) -> Next {
    // A seated bot must poll again before the server takes it for offline.
    let longest = if matches!(asked, Asked::Seat { .. }) { LONGEST_WAIT } else { SLOWEST };
    let later = || Next::Later(refusal.retry_after.map(|s| Duration::from_secs(s).min(longest)));
    let any = asked == Asked::Seat { named: false };
    let known = match refusal.code.to_ascii_lowercase().as_str() {
        "invalid_credentials" | "missing_auth" | "invalid_debate_key" => Some(Next::Expelled),
        "no_available_debate" => Some(Next::NoDebate),
        "debate_not_found" => Some(Next::Gone),
        // Another bot was faster. A different debate may be open.
        "debate_full" => Some(if any { Next::NoDebate } else { Next::Full }),
        "not_your_turn" => Some(Next::Look),
        "debate_not_ready" => Some(match asked {
            Asked::Speech => Next::Look,
            _ => later(),
        }),
        "content_too_long" => Some(Next::Shorten),
        "content_too_short" => Some(Next::Lengthen),
        _ => None,
    };
    known.unwrap_or_else(|| match refusal.status {
        408 | 425 | 429 | 500..=599 => later(),
        409 if asked == Asked::Speech => Next::Look,
        413 if asked == Asked::Speech => Next::Shorten,
        _ if refusal.recoverable => later(),
        _ => Next::Refused,
    })
}

/// Time left to write a speech: the timeout minus the elapsed time and a margin for sending.
pub fn time_left(granted: Duration, over: Duration) -> Duration {
    let margin = (granted / 10).clamp(Duration::from_millis(300), Duration::from_secs(10));
    let left = granted.saturating_sub(over).saturating_sub(margin);
    // The server still awaits the speech, so its clock differs from ours.
    if left.is_zero() { (granted / 2).min(SLOWEST) } else { left }
}

/// Whether the time suffices for a second attempt, given the duration of the first.
pub fn again(took: Duration, left: Duration) -> bool {
    left > took + took / 4 && left > Duration::from_secs(2)
}
