//! The id of a turn, as the host reads and sends it: `0.1.0.0`, or `0.1.0.0+2` after the debate was
//! reopened.
use crate::debate::{Cue, Debate};

/// The turn id for the host: the cue, and the take if the debate was reopened.
pub(super) fn turn_id(debate: &Debate, cue: Cue) -> String {
    match debate.take_number() {
        0 => cue.to_string(),
        take => format!("{cue}+{take}"),
    }
}

/// Parses a turn id such as `0.1.0.0+2` into its take and its cue.
pub(super) fn parse_turn_id(turn: &str) -> Option<(u16, Cue)> {
    let (cue, take) = turn.split_once('+').unwrap_or((turn, "0"));
    Some((take.parse().ok()?, cue.parse().ok()?))
}
