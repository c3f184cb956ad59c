//! A play that may take only so long: in time before the end it is sent to its verdict, and at the
//! end it is stopped.
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The part of the time that is kept for the verdict, and the most that is.
const KEPT: u32 = 4;
const MOST_KEPT: Duration = Duration::from_secs(240);

/// What it is time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The verdict.
    Verdict,
    /// The end.
    End,
}

/// Tells when it is time.
pub(super) struct Stopwatch {
    verdict: Option<Instant>,
    end: Option<Instant>,
}

impl Stopwatch {
    /// Until then, from now on; for ever, if nobody says.
    pub(super) fn until(end: Option<Instant>) -> Stopwatch {
        let now = Instant::now();
        let kept = |end: Instant| (end.saturating_duration_since(now) / KEPT).min(MOST_KEPT);
        Stopwatch { verdict: end.map(|end| end - kept(end)), end }
    }

    /// Waits until it is time for something; each once.
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
