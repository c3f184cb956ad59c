//! Token-bucket rate limiter, keyed by client.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// Sustained requests per second.
    pub per_second: f64,
    /// Maximum burst, in requests.
    pub burst: f64,
}

impl RateLimit {
    /// Limit per bot and debate.
    pub const BOT: RateLimit = RateLimit { per_second: 25.0, burst: 50.0 };
    /// Limit per client network.
    pub const NETWORK: RateLimit = RateLimit { per_second: 100.0, burst: 400.0 };
}

/// Token bucket of one client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucket {
    tokens: f64,
    updated_at: f64,
}

impl TokenBucket {
    /// A full bucket. Times are in seconds.
    pub fn full(pace: RateLimit, now: f64) -> TokenBucket {
        TokenBucket { tokens: pace.burst, updated_at: now }
    }

    /// Takes a token, or returns the seconds until there is one.
    pub fn try_take(&mut self, pace: RateLimit, now: f64) -> Result<(), u32> {
        let since = (now - self.updated_at).max(0.0);
        self.tokens = (self.tokens + since * pace.per_second).min(pace.burst);
        self.updated_at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        let wait = ((1.0 - self.tokens) / pace.per_second).ceil().max(1.0);
        #[expect(clippy::cast_sign_loss, reason = "it is at least one")]
        Err(wait as u32)
    }

    /// Whether the bucket can be dropped, because it is full again.
    fn is_stale(&self, now: f64) -> bool {
        now - self.updated_at > 60.0
    }
}

/// Rate limiter with one bucket per key.
pub struct RateLimiter {
    started_at: Instant,
    buckets: Mutex<HashMap<String, TokenBucket>>,
}

/// Maximum number of buckets. Above it, stale ones are evicted.
const MAX_BUCKETS: usize = 20_000;

impl Default for RateLimiter {
    fn default() -> RateLimiter {
        RateLimiter { started_at: Instant::now(), buckets: Mutex::default() }
    }
}

impl RateLimiter {
    /// Counts a request. The error is the retry delay in seconds.
    pub fn check(&self, who: &str, pace: RateLimit) -> Result<(), u32> {
        let now = self.started_at.elapsed().as_secs_f64();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS {
            buckets.retain(|_, bucket| !bucket.is_stale(now));
            // A flood of new keys must neither fill the memory nor evict the buckets of others.
            if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(who) {
                return Err(1);
            }
        }
        let bucket = buckets.entry(who.to_owned()).or_insert_with(|| TokenBucket::full(pace, now));
        bucket.try_take(pace, now)
    }
}
