//! Retry policy of the client: poll intervals, exponential backoff, and what each error response
//! means. Pure functions without I/O.
use super::protocol::RemoteError;
use std::time::Duration;

/// Default poll interval, as the protocol recommends.
pub(crate) const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum poll interval. After 90 seconds without a request the server takes a bot for offline.
pub(crate) const MAX_POLL_INTERVAL: Duration = Duration::from_secs(30);
/// Minimum poll interval for a remote server.
pub(crate) const MIN_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum poll interval for a server on this machine.
const MIN_LOOPBACK_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum poll interval while the model writes.
const MAX_WRITING_POLL_INTERVAL: Duration = Duration::from_secs(15);
/// Timeout of a long poll in seconds.
pub(crate) const LONG_POLL_SECONDS: u64 = 25;
/// Maximum `Retry-After` that the client respects.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);
/// Delay before the first retry in milliseconds, before jitter. It doubles with every attempt.
const FIRST_BACKOFF_MS: u64 = 500;
/// Number of attempts after which the delay no longer doubles.
const MAX_BACKOFF_ATTEMPTS: u32 = 10;
/// Minimum time reserved for sending a speech.
const MIN_SEND_MARGIN: Duration = Duration::from_millis(300);
/// Maximum time reserved for sending a speech.
const MAX_SEND_MARGIN: Duration = Duration::from_secs(10);
/// Minimum time left for a second attempt.
const MIN_RETRY_TIME: Duration = Duration::from_secs(2);

/// Poll interval: the requested or the default one, clamped to the limits.
pub(crate) fn poll_interval(requested: Option<Duration>, is_loopback: bool) -> Duration {
    let min = if is_loopback { MIN_LOOPBACK_POLL_INTERVAL } else { MIN_POLL_INTERVAL };
    requested.unwrap_or(DEFAULT_POLL_INTERVAL).clamp(min, MAX_POLL_INTERVAL)
}

/// Delay until the next poll. After a long poll it is short, because the server does the waiting.
pub(crate) fn poll_delay(interval: Duration, long_polled: bool) -> Duration {
    if long_polled { interval.min(MIN_POLL_INTERVAL) } else { interval }
}

/// Poll interval while the model writes. Polling keeps the bot online and notices a lost turn.
pub(crate) fn writing_poll_interval(interval: Duration) -> Duration {
    (interval * 3).min(MAX_WRITING_POLL_INTERVAL).max(interval)
}

/// Exponential backoff with jitter before a retry. `attempt` is counted from 1. `random_byte` is
/// the source of the jitter.
pub(crate) fn backoff(attempt: u32, random_byte: u8) -> Duration {
    let doubled = FIRST_BACKOFF_MS
        .saturating_mul(1 << attempt.clamp(1, MAX_BACKOFF_ATTEMPTS).saturating_sub(1));
    let base = doubled.min(MAX_POLL_INTERVAL.as_millis() as u64 * 4 / 5);
    // Jitter: 75 to 125 percent.
    Duration::from_millis(base * 3 / 4 + base * u64::from(random_byte) / 512)
}

/// Request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
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
pub(crate) enum ErrorAction {
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
pub(crate) fn classify_error(request: RequestKind, error: &RemoteError) -> ErrorAction {
    // A seated bot must poll again before the server takes it for offline.
    let max_delay = if matches!(request, RequestKind::Join { .. }) {
        MAX_RETRY_AFTER
    } else {
        MAX_POLL_INTERVAL
    };
    let retry_later = || {
        ErrorAction::RetryLater(error.retry_after.map(|s| Duration::from_secs(s).min(max_delay)))
    };
    let is_unnamed_join = request == RequestKind::Join { named: false };
    let action = match error.code.to_ascii_lowercase().as_str() {
        "invalid_credentials" | "missing_auth" | "invalid_debate_key" => {
            Some(ErrorAction::SeatLost)
        }
        "no_available_debate" => Some(ErrorAction::NoDebate),
        "debate_not_found" => Some(ErrorAction::DebateNotFound),
        // Another bot was faster. A different debate may be open.
        "debate_full" => {
            Some(if is_unnamed_join { ErrorAction::NoDebate } else { ErrorAction::DebateFull })
        }
        "not_your_turn" => Some(ErrorAction::PollAgain),
        "debate_not_ready" => Some(match request {
            RequestKind::Speech => ErrorAction::PollAgain,
            _ => retry_later(),
        }),
        "content_too_long" => Some(ErrorAction::Shorten),
        "content_too_short" => Some(ErrorAction::Lengthen),
        _ => None,
    };
    action.unwrap_or_else(|| match error.status {
        408 | 425 | 429 | 500..=599 => retry_later(),
        409 if request == RequestKind::Speech => ErrorAction::PollAgain,
        413 if request == RequestKind::Speech => ErrorAction::Shorten,
        _ if error.recoverable => retry_later(),
        _ => ErrorAction::GiveUp,
    })
}

/// Time left to write a speech: the timeout minus the elapsed time and a margin for sending.
pub(crate) fn time_left(timeout: Duration, elapsed: Duration) -> Duration {
    let margin = (timeout / 10).clamp(MIN_SEND_MARGIN, MAX_SEND_MARGIN);
    let remaining = timeout.saturating_sub(elapsed).saturating_sub(margin);
    // The server still awaits the speech, so its clock differs from ours.
    if remaining.is_zero() { (timeout / 2).min(MAX_POLL_INTERVAL) } else { remaining }
}

/// Whether the time suffices for a second attempt, given the duration of the first.
pub(crate) fn has_time_to_retry(first_duration: Duration, remaining: Duration) -> bool {
    remaining > first_duration + first_duration / 4 && remaining > MIN_RETRY_TIME
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn poll_interval_is_clamped() {
        assert_eq!(poll_interval(None, false), ms(5_000));
        for (requested, expected) in
            [(999, 1_000), (1_000, 1_000), (1_001, 1_001), (30_000, 30_000), (30_001, 30_000)]
        {
            assert_eq!(poll_interval(Some(ms(requested)), false), ms(expected), "{requested}");
        }
        for (requested, expected) in [(19, 20), (20, 20), (21, 21)] {
            assert_eq!(poll_interval(Some(ms(requested)), true), ms(expected), "{requested}");
        }
        // While the model writes, polls are three times as rare, up to 15 seconds.
        for (interval, expected) in [(4_999, 14_997), (5_000, 15_000), (5_001, 15_000)] {
            assert_eq!(writing_poll_interval(ms(interval)), ms(expected), "{interval}");
        }
        assert_eq!(writing_poll_interval(ms(30_000)), ms(30_000), "never more often");
    }

    #[test]
    fn retry_after_is_respected_up_to_300_seconds() {
        let delay = |request: RequestKind, seconds: u64| {
            let retry_after = Some(seconds);
            let error = RemoteError { status: 429, retry_after, ..RemoteError::default() };
            classify_error(request, &error)
        };
        let join = RequestKind::Join { named: false };
        for (request, requested, expected) in [
            (join, 300, 300),
            (join, 301, 300),
            (RequestKind::Poll, 30, 30),
            (RequestKind::Poll, 31, 30),
        ] {
            let expected = ErrorAction::RetryLater(Some(Duration::from_secs(expected)));
            assert_eq!(delay(request, requested), expected, "{request:?} {requested}");
        }
    }

    #[test]
    fn backoff_doubles_from_half_a_second_to_24_seconds() {
        // With this byte, the jitter is zero.
        let delays = [1, 2, 3, 4, 5, 6, 7, 8, u32::MAX].map(|attempt| backoff(attempt, 128));
        let expected = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 24_000, 24_000, 24_000];
        assert_eq!(delays, expected.map(ms));
        assert_eq!((backoff(7, 0), backoff(7, 255)), (ms(18_000), ms(29_953)));
    }

    #[test]
    fn time_is_reserved_for_sending_and_for_a_second_attempt() {
        // A tenth of the timeout, 0.3 to 10 seconds.
        for (timeout, expected) in
            [(2_999, 2_699), (3_000, 2_700), (5_000, 4_500), (100_000, 90_000), (100_001, 90_001)]
        {
            assert_eq!(time_left(ms(timeout), Duration::ZERO), ms(expected), "{timeout}");
        }
        assert!(!has_time_to_retry(Duration::ZERO, ms(2_000)));
        assert!(has_time_to_retry(Duration::ZERO, ms(2_001)));
    }
}
