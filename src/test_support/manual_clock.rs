//! A clock that is set by hand.
use debate_mcp::engine::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that is set by hand.
pub(crate) struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at this time.
    pub(crate) fn new(now: i64) -> Arc<ManualClock> {
        Arc::new(ManualClock(AtomicI64::new(now)))
    }

    pub(crate) fn set(&self, now: i64) {
        self.0.store(now, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}
