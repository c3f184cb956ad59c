//! When a platform is asked again, and what its refusals mean. Nothing here waits or asks.
use super::wire::Refusal;
use std::time::Duration;

/// How often a platform is asked, as it recommends.
pub const USUAL: Duration = Duration::from_secs(5);
/// Longer than that nobody is silent: after 90 seconds a guest is thought to be gone.
pub const SLOWEST: Duration = Duration::from_secs(30);
/// More often than that nobody else's machine is asked.
pub const QUICKEST: Duration = Duration::from_secs(1);
/// More often than that our own is not, either.
const QUICKEST_HERE: Duration = Duration::from_millis(20);
/// How often while the seat thinks.
const THINKING: Duration = Duration::from_secs(15);
/// Seconds a poll may wait, where it can.
pub const WAIT: u64 = 25;
/// Longer than that nobody is believed who says when to come again.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// How often to ask: what was wished for, within what is polite and what is not silence.
pub fn pace(wished: Option<Duration>, near: bool) -> Duration {
    let quickest = if near { QUICKEST_HERE } else { QUICKEST };
    wished.unwrap_or(USUAL).clamp(quickest, SLOWEST)
}

/// How long until the next poll: a platform that lets polls wait is asked again at once.
pub fn pause(pace: Duration, waited: bool) -> Duration {
    if waited { pace.min(QUICKEST) } else { pace }
}

/// How often to ask while the seat thinks, so that nobody takes it for gone, and a turn that was
/// taken away is noticed.
pub fn while_thinking(pace: Duration) -> Duration {
    (pace * 3).min(THINKING).max(pace)
}

/// How long to wait before the `nth` try, counted from 1, of something that may pass: longer and
/// longer, and never in step with others. `chance` is any byte.
pub fn backoff(nth: u32, chance: u8) -> Duration {
    let doubled = 500u64.saturating_mul(1 << nth.clamp(1, 10).saturating_sub(1));
    let base = doubled.min(SLOWEST.as_millis() as u64 * 4 / 5);
    // Three to five quarters of it.
    Duration::from_millis(base * 3 / 4 + base * u64::from(chance) / 512)
}

/// What was asked for when it was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A seat, of a debate that was named or of any.
    Seat {
        /// Whether one was named.
        named: bool,
    },
    /// How it stands.
    State,
    /// To be heard.
    Speech,
}

/// What to do about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Look again how it stands: nothing is lost.
    Look,
    /// Try again later: after this long, or when it is usual.
    Later(Option<Duration>),
    /// There is no debate to join yet.
    NoDebate,
    /// The speech is too long.
    Shorten,
    /// The speech is too short.
    Lengthen,
    /// The seat is not ours, or not any more.
    Expelled,
    /// There is no such debate.
    Gone,
    /// It has all it needs.
    Full,
    /// Nothing helps.
    Refused,
}

/// What a refusal means.
pub fn next(asked: Asked, refusal: &Refusal) -> Next {
    // Whoever has a seat must not be silent for long.
    let longest = if matches!(asked, Asked::Seat { .. }) { LONGEST_WAIT } else { SLOWEST };
    let later = || Next::Later(refusal.retry_after.map(|s| Duration::from_secs(s).min(longest)));
    let any = asked == Asked::Seat { named: false };
    let known = match refusal.code.to_ascii_lowercase().as_str() {
        "invalid_credentials" | "missing_auth" | "invalid_debate_key" => Some(Next::Expelled),
        "no_available_debate" => Some(Next::NoDebate),
        "debate_not_found" => Some(Next::Gone),
        // Somebody was quicker; there may be another.
        "debate_full" => Some(if any { Next::NoDebate } else { Next::Full }),
        "not_your_turn" => Some(Next::Look),
        "debate_not_ready" => Some(match asked {
            Asked::Speech => Next::Look,
            _ => later(),
        }),
        "content_too_long" => Some(Next::Shorten),
        "content_too_short" => Some(Next::Lengthen),
        _ => None,
    };
    known.unwrap_or_else(|| match refusal.status {
        408 | 425 | 429 | 500..=599 => later(),
        409 if asked == Asked::Speech => Next::Look,
        413 if asked == Asked::Speech => Next::Shorten,
        _ if refusal.recoverable => later(),
        _ => Next::Refused,
    })
}

/// The time there is for a speech: of what the platform grants, what is over already, and a little to
/// send it in.
pub fn time_left(granted: Duration, over: Duration) -> Duration {
    let margin = (granted / 10).clamp(Duration::from_millis(300), Duration::from_secs(10));
    let left = granted.saturating_sub(over).saturating_sub(margin);
    // It is still our turn, so the clock we know of is not the one that counts.
    if left.is_zero() { (granted / 2).min(SLOWEST) } else { left }
}

/// Whether there is time to ask once more after the first answer took so long.
pub fn again(took: Duration, left: Duration) -> bool {
    left > took + took / 4 && left > Duration::from_secs(2)
}
