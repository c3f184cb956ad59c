//! Deadline of a debate: some time before it, the debate skips to its verdict, and at the deadline
//! it is stopped.
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A quarter of the time is reserved for the verdict, but at most four minutes.
const KEPT: u32 = 4;
const MOST_KEPT: Duration = Duration::from_secs(240);

/// Stage of the deadline that has been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Skip to the verdict.
    Verdict,
    /// Stop.
    End,
}

/// Timers of both stages.
pub(super) struct Stopwatch {
    verdict: Option<Instant>,
    end: Option<Instant>,
}

impl Stopwatch {
    /// Starts the timers. Without a deadline they never fire.
    pub(super) fn until(end: Option<Instant>) -> Stopwatch {
        let now = Instant::now();
        let kept = |end: Instant| (end.saturating_duration_since(now) / KEPT).min(MOST_KEPT);
        Stopwatch { verdict: end.map(|end| end - kept(end)), end }
    }

    /// Waits for the next stage. Each is returned once.
    pub(super) async fn due(&mut self) -> Due {
        let (at, due) = match (self.verdict, self.end) {
            (Some(at), _) => (at, Due::Verdict),
            (None, Some(at)) => (at, Due::End),
            (None, None) => return std::future::pending().await,
        };
        sleep_until(at).await;
        let told = if due == Due::Verdict { &mut self.verdict } else { &mut self.end };
        *told = None;
        due
    }
}
