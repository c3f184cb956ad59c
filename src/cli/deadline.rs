//! Deadline of a debate: some time before it, the debate skips to its verdict, and at the deadline
//! it is stopped.
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Fraction of the time that is reserved for the verdict: a quarter.
const VERDICT_TIME_DIVISOR: u32 = 4;
/// Maximum time that is reserved for the verdict.
const MAX_VERDICT_TIME: Duration = Duration::from_secs(240);

/// Stage of the deadline that has been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeadlineStage {
    /// Skip to the verdict.
    Verdict,
    /// Stop.
    End,
}

/// Timers of both stages.
pub(super) struct DeadlineTimer {
    verdict: Option<Instant>,
    end: Option<Instant>,
}

impl DeadlineTimer {
    /// Starts the timers. Without a deadline they never fire.
    pub(super) fn new(end: Option<Instant>) -> DeadlineTimer {
        let now = Instant::now();
        let verdict_time = |end: Instant| {
            (end.saturating_duration_since(now) / VERDICT_TIME_DIVISOR).min(MAX_VERDICT_TIME)
        };
        DeadlineTimer { verdict: end.map(|end| end - verdict_time(end)), end }
    }

    /// Waits for the next stage. Each is returned once.
    pub(super) async fn next_stage(&mut self) -> DeadlineStage {
        let (instant, stage) = match (self.verdict, self.end) {
            (Some(instant), _) => (instant, DeadlineStage::Verdict),
            (None, Some(instant)) => (instant, DeadlineStage::End),
            (None, None) => return std::future::pending().await,
        };
        sleep_until(instant).await;
        let timer = if stage == DeadlineStage::Verdict { &mut self.verdict } else { &mut self.end };
        *timer = None;
        stage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_quarter_of_the_time_is_reserved_for_the_verdict() {
        assert_eq!((VERDICT_TIME_DIVISOR, MAX_VERDICT_TIME), (4, Duration::from_secs(240)));
        let at_limit = MAX_VERDICT_TIME * VERDICT_TIME_DIVISOR;
        for (time, verdict_time) in [
            (Duration::from_secs(100), Duration::from_secs(25)),
            (at_limit, MAX_VERDICT_TIME),
            (at_limit + Duration::from_secs(4), MAX_VERDICT_TIME),
        ] {
            let started_at = Instant::now();
            let mut timer = DeadlineTimer::new(Some(started_at + time));
            assert_eq!(timer.next_stage().await, DeadlineStage::Verdict);
            assert_eq!(
                started_at.elapsed().as_secs(),
                time.checked_sub(verdict_time).unwrap().as_secs()
            );
            assert_eq!(timer.next_stage().await, DeadlineStage::End);
            assert_eq!(started_at.elapsed().as_secs(), time.as_secs());
        }
    }
}
