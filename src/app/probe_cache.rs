//! Cache of models that have answered a probe request.
use crate::debate::Participant;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a successful probe stays in the cache.
const PROBE_CACHE_TTL: Duration = Duration::from_secs(60 * 60);

/// Cache of models that have answered a probe, with the time.
#[derive(Default)]
pub(super) struct ProbeCache(Mutex<BTreeMap<String, Instant>>);

impl ProbeCache {
    pub(super) fn is_fresh(&self, participant: &Participant) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .get(&participant.to_string())
            .is_some_and(|answered_at| answered_at.elapsed() < PROBE_CACHE_TTL)
    }

    pub(super) fn insert(&self, participant: &Participant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(participant.to_string(), Instant::now());
    }
}
