//! Retry policy for transient errors of a provider: number of attempts, backoff, longest wait.
use crate::debate::TurnFailure;
use crate::engine::TurnRequest;
use std::time::Duration;

/// Attempts per turn, including the first.
pub(super) const MAX_ATTEMPTS: u16 = 3;

/// Longest wait before a retry. If a provider asks for more (`Retry-After`), the turn fails and the
/// user decides.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// Backoff before the first retry, in milliseconds.
const FIRST_BACKOFF_MS: u64 = 500;
/// Each further backoff is this many times as long.
const BACKOFF_FACTOR: u64 = 4;
/// Random jitter added to a backoff, in milliseconds, so that two seats do not retry together.
const MAX_JITTER_MS: u64 = 500;

/// Whether a wait is too long for a retry: longer than [`MAX_RETRY_WAIT`].
pub(super) fn is_too_long(wait: Duration) -> bool {
    wait > MAX_RETRY_WAIT
}

/// Exponential backoff with random jitter. `attempt` counts from 1.
pub(super) fn backoff(attempt: u16) -> Duration {
    let mut jitter = [0; 2];
    let _ = getrandom::fill(&mut jitter);
    let jitter = u64::from(u16::from_le_bytes(jitter)) % MAX_JITTER_MS;
    let exponential = FIRST_BACKOFF_MS * BACKOFF_FACTOR.pow(u32::from(attempt)) / BACKOFF_FACTOR;
    Duration::from_millis(exponential + jitter)
}

/// Logs the failed attempt and waits before the next one.
pub(super) async fn wait_before_retry(
    turn: &TurnRequest,
    attempt: u16,
    wait: Duration,
    failure: &TurnFailure,
) {
    tracing::info!(
        debate = %turn.debate_id,
        seat = %turn.seat,
        attempt,
        wait_ms = wait.as_millis(),
        reason = failure.trouble.as_str(),
        "retry"
    );
    tokio::time::sleep(wait).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_is_awaited_for_30_s_at_most() {
        assert_eq!(MAX_RETRY_WAIT, Duration::from_secs(30));
        assert!(!is_too_long(MAX_RETRY_WAIT));
        assert!(is_too_long(MAX_RETRY_WAIT + Duration::from_millis(1)));
    }

    #[test]
    fn backoff_quadruples_and_has_up_to_500_ms_of_jitter() {
        assert_eq!((FIRST_BACKOFF_MS, MAX_JITTER_MS), (500, 500));
        for (attempt, shortest_ms) in [(1, 500), (2, 2_000)] {
            for _ in 0..200 {
                let wait = backoff(attempt).as_millis();
                assert!((shortest_ms..shortest_ms + 500).contains(&wait), "{attempt}: {wait} ms");
            }
        }
    }
}
