//! Token-bucket rate limiter, keyed by client.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Sustained requests per second.
    pub steady: f64,
    /// Maximum burst, in requests.
    pub burst: f64,
}

impl Pace {
    /// Limit per bot and debate.
    pub const BOT: Pace = Pace { steady: 25.0, burst: 50.0 };
    /// Limit per client network.
    pub const ADDRESS: Pace = Pace { steady: 100.0, burst: 400.0 };
}

/// Token bucket of one client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    left: f64,
    at: f64,
}

impl Bucket {
    /// A full bucket. Times are in seconds.
    pub fn full(pace: Pace, now: f64) -> Bucket {
        Bucket { left: pace.burst, at: now }
    }

    /// Takes a token, or returns the seconds until there is one.
    pub fn take(&mut self, pace: Pace, now: f64) -> Result<(), u32> {
        let since = (now - self.at).max(0.0);
        self.left = (self.left + since * pace.steady).min(pace.burst);
        self.at = now;
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        let wait = ((1.0 - self.left) / pace.steady).ceil().max(1.0);
        #[expect(clippy::cast_sign_loss, reason = "it is at least one")]
        Err(wait as u32)
    }

    /// Whether the bucket can be dropped, because it is full again.
    fn forgotten(&self, now: f64) -> bool {
        now - self.at > 60.0
    }
}

/// Rate limiter with one bucket per key.
pub struct Paces {
    since: Instant,
    buckets: Mutex<HashMap<String, Bucket>>,
}

/// Maximum number of buckets. Above it, stale ones are evicted.
const MANY: usize = 20_000;

impl Default for Paces {
    fn default() -> Paces {
        Paces { since: Instant::now(), buckets: Mutex::default() }
    }
}

impl Paces {
    /// Counts a request. The error is the retry delay in seconds.
    pub fn step(&self, who: &str, pace: Pace) -> Result<(), u32> {
        let now = self.since.elapsed().as_secs_f64();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MANY {
            buckets.retain(|_, bucket| !bucket.forgotten(now));
            // A flood of new keys must neither fill the memory nor evict the buckets of others.
            if buckets.len() >= MANY && !buckets.contains_key(who) {
                return Err(1);
            }
        }
        let bucket = buckets.entry(who.to_owned()).or_insert_with(|| Bucket::full(pace, now));
        bucket.take(pace, now)
    }
}
