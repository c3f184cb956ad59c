//! Token-bucket rate limiter, keyed by client. Follows tokio's clock, which tests can pause. The
//! entry point is [`RateLimiter::check`], which `arena_api` calls with one key per bot and debate,
//! and one per client network.
//!
//! The crate `governor` passes the same tests of the rates, but serves known keys in a flood of new
//! ones only with a state store and a clock written here: 61 lines of code instead of 69, five more
//! crates and 95 instead of 67 ns a request.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// Requests per second that a bot may send to a debate.
const BOT_REQUESTS_PER_SECOND: f64 = 25.0;
/// Requests that a bot may send at once.
const BOT_BURST_REQUESTS: f64 = 50.0;
/// Requests per second that a client network may send.
const NETWORK_REQUESTS_PER_SECOND: f64 = 100.0;
/// Requests that a client network may send at once.
const NETWORK_BURST_REQUESTS: f64 = 400.0;
/// Seconds without a request after which a bucket is full again and can be evicted.
const STALE_BUCKET_SECONDS: f64 = 60.0;
/// Maximum number of buckets. Above it, stale ones are evicted.
const MAX_BUCKETS: usize = 20_000;
/// Retry delay in seconds while there are too many buckets.
const TOO_MANY_BUCKETS_RETRY_SECONDS: u32 = 1;

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateLimit {
    /// Sustained requests per second.
    pub per_second: f64,
    /// Maximum burst, in requests.
    pub burst: f64,
}

impl RateLimit {
    /// Limit per bot and debate.
    pub(super) const BOT: RateLimit =
        RateLimit { per_second: BOT_REQUESTS_PER_SECOND, burst: BOT_BURST_REQUESTS };
    /// Limit per client network.
    pub(super) const NETWORK: RateLimit =
        RateLimit { per_second: NETWORK_REQUESTS_PER_SECOND, burst: NETWORK_BURST_REQUESTS };
}

/// Token bucket of one client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TokenBucket {
    tokens: f64,
    updated_at: f64,
}

impl TokenBucket {
    /// A full bucket. Times are in seconds.
    pub(super) fn full(limit: RateLimit, now: f64) -> TokenBucket {
        TokenBucket { tokens: limit.burst, updated_at: now }
    }

    /// Takes a token, or returns the seconds until there is one.
    pub(super) fn try_take(&mut self, limit: RateLimit, now: f64) -> Result<(), u32> {
        let elapsed = (now - self.updated_at).max(0.0);
        self.tokens = (self.tokens + elapsed * limit.per_second).min(limit.burst);
        self.updated_at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        let wait = ((1.0 - self.tokens) / limit.per_second).ceil().max(1.0);
        #[expect(clippy::cast_sign_loss, reason = "it is at least one")]
        Err(wait as u32)
    }

    /// Whether the bucket can be dropped, because it is full again.
    fn is_stale(&self, now: f64) -> bool {
        now - self.updated_at > STALE_BUCKET_SECONDS
    }
}

/// Rate limiter with one bucket per key.
pub(super) struct RateLimiter {
    started_at: Instant,
    buckets: Mutex<HashMap<String, TokenBucket>>,
}

impl Default for RateLimiter {
    fn default() -> RateLimiter {
        RateLimiter { started_at: Instant::now(), buckets: Mutex::default() }
    }
}

impl RateLimiter {
    /// Counts a request. The error is the retry delay in seconds.
    pub(super) fn check(&self, key: &str, limit: RateLimit) -> Result<(), u32> {
        let now = self.started_at.elapsed().as_secs_f64();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS {
            buckets.retain(|_, bucket| !bucket.is_stale(now));
            // A flood of new keys must neither fill the memory nor evict the buckets of others.
            if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(key) {
                return Err(TOO_MANY_BUCKETS_RETRY_SECONDS);
            }
        }
        let bucket = buckets.entry(key.to_owned()).or_insert_with(|| TokenBucket::full(limit, now));
        bucket.try_take(limit, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::advance;

    /// Sends requests until one is refused. Returns the number of accepted ones and the retry delay
    /// in seconds.
    fn drain(limiter: &RateLimiter, key: &str, limit: RateLimit) -> (u32, u32) {
        let mut accepted = 0;
        loop {
            match limiter.check(key, limit) {
                Ok(()) => accepted += 1,
                Err(seconds) => return (accepted, seconds),
            }
        }
    }

    #[test]
    fn token_bucket_refills_at_the_steady_rate() {
        let limit = RateLimit { per_second: 20.0, burst: 40.0 };
        let mut bucket = TokenBucket::full(limit, 0.0);
        for _ in 0..40 {
            assert_eq!(bucket.try_take(limit, 0.0), Ok(()));
        }
        assert_eq!(bucket.try_take(limit, 0.0), Err(1));
        let taken = (1..=1000)
            .filter(|tick| bucket.try_take(limit, f64::from(*tick) / 100.0).is_ok())
            .count();
        assert!((199..=201).contains(&taken), "{taken}");
        // A clock that goes backwards removes no tokens.
        assert!(bucket.try_take(limit, 100.0).is_ok() && bucket.try_take(limit, 50.0).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn bot_may_send_25_requests_per_second_after_a_burst_of_50() {
        assert_eq!(RateLimit::BOT, RateLimit { per_second: 25.0, burst: 50.0 });
        let limiter = RateLimiter::default();
        for bot in ["early", "bot"] {
            assert_eq!(drain(&limiter, bot, RateLimit::BOT), (50, 1), "burst and `Retry-After`");
        }
        // After 1/25 s there is exactly one more token, and not a millisecond earlier.
        advance(Duration::from_millis(39)).await;
        assert_eq!(drain(&limiter, "early", RateLimit::BOT), (0, 1));
        advance(Duration::from_millis(1)).await;
        assert_eq!(drain(&limiter, "bot", RateLimit::BOT), (1, 1));
        // A client that respects `Retry-After` is served at the steady rate.
        advance(Duration::from_secs(1)).await;
        assert_eq!(drain(&limiter, "bot", RateLimit::BOT), (25, 1));
        // An idle bot saves up the burst and no more.
        advance(Duration::from_secs(3)).await;
        assert_eq!(drain(&limiter, "bot", RateLimit::BOT), (50, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn network_may_send_100_requests_per_second_after_a_burst_of_400() {
        assert_eq!(RateLimit::NETWORK, RateLimit { per_second: 100.0, burst: 400.0 });
        let limiter = RateLimiter::default();
        for network in ["early", "network"] {
            assert_eq!(drain(&limiter, network, RateLimit::NETWORK), (400, 1));
        }
        advance(Duration::from_millis(9)).await;
        assert_eq!(drain(&limiter, "early", RateLimit::NETWORK), (0, 1));
        advance(Duration::from_millis(1)).await;
        assert_eq!(drain(&limiter, "network", RateLimit::NETWORK), (1, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn new_keys_are_refused_while_there_are_20_000_buckets() {
        assert_eq!(MAX_BUCKETS, 20_000);
        let limiter = RateLimiter::default();
        let check = |key: &str| limiter.check(key, RateLimit::NETWORK);
        for number in 0..MAX_BUCKETS {
            assert_eq!(check(&number.to_string()), Ok(()));
        }
        assert_eq!(check("new"), Err(1));
        // The buckets are stale after 60 seconds, unless they are used.
        advance(Duration::from_secs(60)).await;
        assert_eq!(check("new"), Err(1));
        assert_eq!(check("0"), Ok(()), "a known key is served");
        advance(Duration::from_millis(1)).await;
        assert_eq!(check("new"), Ok(()));
    }
}
