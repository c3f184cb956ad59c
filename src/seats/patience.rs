//! How often a seat is asked when what went wrong can pass, and how long is waited in between.
use std::time::Duration;

/// How often in all.
pub(super) const TRIES: u16 = 3;

/// How long a turn waits for leave to ask again. Whoever is told to wait longer decides for himself.
pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// Longer each time, and never the same for two seats.
pub(super) fn pause(tries: u16) -> Duration {
    let mut chance = [0; 2];
    let _ = getrandom::fill(&mut chance);
    let chance = u64::from(u16::from_le_bytes(chance)) % 500;
    Duration::from_millis(250 * 4u64.pow(u32::from(tries)) / 2 + chance)
}
