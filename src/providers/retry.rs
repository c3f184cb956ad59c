//! Retry policy for transient errors of a provider: number of attempts, backoff, longest wait.
use std::time::Duration;

/// Attempts per turn, including the first.
pub(super) const MAX_ATTEMPTS: u16 = 3;

/// Longest wait before a retry. If a provider asks for more (`Retry-After`), the turn fails and the
/// user decides.
pub(super) const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// Exponential backoff (base 500 ms, factor 4) with up to 500 ms of random jitter, so that two
/// seats do not retry together.
pub(super) fn backoff(tries: u16) -> Duration {
    let mut chance = [0; 2];
    let _ = getrandom::fill(&mut chance);
    let chance = u64::from(u16::from_le_bytes(chance)) % 500;
    Duration::from_millis(250 * 4u64.pow(u32::from(tries)) / 2 + chance)
}
