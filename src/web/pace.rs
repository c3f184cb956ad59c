//! How fast somebody may ask: a bucket of requests that fills up again with time.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How fast, and how many at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Requests in a second, for as long as one likes.
    pub steady: f64,
    /// Requests at once, after a rest.
    pub burst: f64,
}

impl Pace {
    /// A bot, in one debate.
    pub const BOT: Pace = Pace { steady: 25.0, burst: 50.0 };
    /// Everybody behind one address elsewhere.
    pub const ADDRESS: Pace = Pace { steady: 100.0, burst: 400.0 };
}

/// What somebody has left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    left: f64,
    at: f64,
}

impl Bucket {
    /// A full one, at this second.
    pub fn full(pace: Pace, now: f64) -> Bucket {
        Bucket { left: pace.burst, at: now }
    }

    /// Takes one request out, or says after how many seconds there will be one.
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

    /// Whether it says nothing any more: by now it would be full.
    fn forgotten(&self, now: f64) -> bool {
        now - self.at > 60.0
    }
}

/// Everybody's buckets.
pub struct Paces {
    since: Instant,
    buckets: Mutex<HashMap<String, Bucket>>,
}

/// How many are remembered before those are forgotten that say nothing any more.
const MANY: usize = 20_000;

impl Default for Paces {
    fn default() -> Paces {
        Paces { since: Instant::now(), buckets: Mutex::default() }
    }
}

impl Paces {
    /// One more request of somebody; if that is too many, seconds to wait.
    pub fn step(&self, who: &str, pace: Pace) -> Result<(), u32> {
        let now = self.since.elapsed().as_secs_f64();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MANY {
            buckets.retain(|_, bucket| !bucket.forgotten(now));
            // Whoever comes by thousands of names is not to fill our memory with them, nor to have
            // others forgotten.
            if buckets.len() >= MANY && !buckets.contains_key(who) {
                return Err(1);
            }
        }
        let bucket = buckets.entry(who.to_owned()).or_insert_with(|| Bucket::full(pace, now));
        bucket.take(pace, now)
    }
}
