//! Retry policy of the client: poll intervals, exponential backoff, and what each error response
//! means. Pure functions without I/O.
use super::protocol::RemoteError;
use std::time::Duration;

/// Default poll interval, as the protocol recommends.
pub const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum poll interval. After 90 seconds without a request the server takes a bot for offline.
pub const MAX_POLL_INTERVAL: Duration = Duration::from_secs(30);
/// Minimum poll interval for a remote server.
pub const MIN_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum poll interval for a server on this machine.
const MIN_LOOPBACK_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum poll interval while the model writes.
const MAX_WRITING_POLL_INTERVAL: Duration = Duration::from_secs(15);
/// Timeout of a long poll in seconds.
pub const LONG_POLL_SECONDS: u64 = 25;
/// Maximum `Retry-After` that the client respects.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Poll interval: the requested or the default one, clamped to the limits.
pub fn poll_interval(wished: Option<Duration>, near: bool) -> Duration {
    let quickest = if near { MIN_LOOPBACK_POLL_INTERVAL } else { MIN_POLL_INTERVAL };
    wished.unwrap_or(DEFAULT_POLL_INTERVAL).clamp(quickest, MAX_POLL_INTERVAL)
}

/// Delay until the next poll. After a long poll it is short, because the server does the waiting.
pub fn poll_delay(pace: Duration, waited: bool) -> Duration {
    if waited { pace.min(MIN_POLL_INTERVAL) } else { pace }
}

/// Poll interval while the model writes. Polling keeps the bot online and notices a lost turn.
pub fn writing_poll_interval(pace: Duration) -> Duration {
    (pace * 3).min(MAX_WRITING_POLL_INTERVAL).max(pace)
}

/// Exponential backoff with jitter before retry `nth`, counted from 1. `chance` is a random byte.
pub fn backoff(nth: u32, chance: u8) -> Duration {
    let doubled = 500u64.saturating_mul(1 << nth.clamp(1, 10).saturating_sub(1));
    let base = doubled.min(MAX_POLL_INTERVAL.as_millis() as u64 * 4 / 5);
    // Jitter: 75 to 125 percent.
    Duration::from_millis(base * 3 / 4 + base * u64::from(chance) / 512)
}

/// Request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Request to join a debate.
    Join {
        /// Whether the request names a debate.
        named: bool,
    },
    /// Poll request.
    Poll,
    /// Request to submit a speech.
    Speech,
}

/// What to do after an error response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorAction {
    /// Poll again. Nothing is lost.
    PollAgain,
    /// Retry after this delay, or with the default backoff.
    RetryLater(Option<Duration>),
    /// No debate is open to join.
    NoDebate,
    /// The speech is too long.
    Shorten,
    /// The speech is too short.
    Lengthen,
    /// The credentials are invalid or no longer valid.
    SeatLost,
    /// The debate does not exist.
    DebateNotFound,
    /// The debate has no free seat.
    DebateFull,
    /// A retry cannot succeed.
    GiveUp,
}

/// Classifies an error response by its error code, then by its HTTP status.
pub fn classify_error(asked: RequestKind, refusal: &RemoteError) -> ErrorAction {
    // A seated bot must poll again before the server takes it for offline.
    let longest =
        if matches!(asked, RequestKind::Join { .. }) { MAX_RETRY_AFTER } else { MAX_POLL_INTERVAL };
    let later = || {
        ErrorAction::RetryLater(refusal.retry_after.map(|s| Duration::from_secs(s).min(longest)))
    };
    let any = asked == RequestKind::Join { named: false };
    let known = match refusal.code.to_ascii_lowercase().as_str() {
        "invalid_credentials" | "missing_auth" | "invalid_debate_key" => {
            Some(ErrorAction::SeatLost)
        }
        "no_available_debate" => Some(ErrorAction::NoDebate),
        "debate_not_found" => Some(ErrorAction::DebateNotFound),
        // Another bot was faster. A different debate may be open.
        "debate_full" => Some(if any { ErrorAction::NoDebate } else { ErrorAction::DebateFull }),
        "not_your_turn" => Some(ErrorAction::PollAgain),
        "debate_not_ready" => Some(match asked {
            RequestKind::Speech => ErrorAction::PollAgain,
            _ => later(),
        }),
        "content_too_long" => Some(ErrorAction::Shorten),
        "content_too_short" => Some(ErrorAction::Lengthen),
        _ => None,
    };
    known.unwrap_or_else(|| match refusal.status {
        408 | 425 | 429 | 500..=599 => later(),
        409 if asked == RequestKind::Speech => ErrorAction::PollAgain,
        413 if asked == RequestKind::Speech => ErrorAction::Shorten,
        _ if refusal.recoverable => later(),
        _ => ErrorAction::GiveUp,
    })
}

/// Time left to write a speech: the timeout minus the elapsed time and a margin for sending.
pub fn time_left(granted: Duration, over: Duration) -> Duration {
    let margin = (granted / 10).clamp(Duration::from_millis(300), Duration::from_secs(10));
    let left = granted.saturating_sub(over).saturating_sub(margin);
    // The server still awaits the speech, so its clock differs from ours.
    if left.is_zero() { (granted / 2).min(MAX_POLL_INTERVAL) } else { left }
}

/// Whether the time suffices for a second attempt, given the duration of the first.
pub fn has_time_to_retry(took: Duration, left: Duration) -> bool {
    left > took + took / 4 && left > Duration::from_secs(2)
}
