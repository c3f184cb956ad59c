//! Metrics of the load test: latencies and counters.
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Response times in microseconds, and counters.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) join_times: Mutex<Vec<u32>>,
    pub(super) poll_times: Mutex<Vec<u32>>,
    pub(super) speech_times: Mutex<Vec<u32>>,
    pub(super) baseline_times: Mutex<Vec<u32>>,
    pub(super) requests: AtomicUsize,
    /// Requests without a response.
    pub(super) failed_requests: AtomicUsize,
    /// Speeches that the server has confirmed.
    pub(super) accepted_speeches: AtomicUsize,
    /// Refused requests, by error code.
    pub(super) refusals: Mutex<BTreeMap<String, usize>>,
    pub(super) connected_viewers: AtomicUsize,
    pub(super) viewer_connections: AtomicUsize,
    pub(super) viewer_events: AtomicUsize,
    pub(super) repeated_events: AtomicUsize,
}

/// Summary of response times.
#[derive(Clone)]
pub(super) struct LatencySummary {
    pub(super) count: usize,
    /// 50th, 95th, 99th percentile and maximum, in ms.
    pub(super) quantiles: [f64; 4],
}

pub(super) fn summarize_latencies(times: &Mutex<Vec<u32>>) -> LatencySummary {
    let mut times = times.lock().unwrap().clone();
    times.sort_unstable();
    let percentile = |percent: usize| {
        let nth = (times.len() * percent).div_ceil(100);
        times.get(nth.clamp(1, times.len().max(1)) - 1).map_or(0.0, |it| f64::from(*it) / 1e3)
    };
    LatencySummary {
        count: times.len(),
        quantiles: [percentile(50), percentile(95), percentile(99), percentile(100)],
    }
}

impl Tally {
    pub(super) fn record(&self, kind: &Mutex<Vec<u32>>, elapsed: Duration) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        kind.lock().unwrap().push(u32::try_from(elapsed.as_micros()).unwrap_or(u32::MAX));
    }

    pub(super) fn record_refusal(&self, code: &str) {
        *self.refusals.lock().unwrap().entry(code.to_owned()).or_default() += 1;
    }

    /// Refusals other than a lost turn or the rate limit, which bots expect.
    pub(super) fn unexpected_refusals(&self) -> Vec<String> {
        let expected = |code: &str| code == "NOT_YOUR_TURN" || code.starts_with("429");
        let refusals = self.refusals.lock().unwrap();
        let unexpected = refusals.iter().filter(|(code, _)| !expected(code));
        unexpected.map(|(code, times)| format!("refused with {code}: {times} times")).collect()
    }
}
