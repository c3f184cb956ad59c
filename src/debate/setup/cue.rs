//! Places in a debate: a [`Cue`] identifies one turn, a [`Position`] one round of an act.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A round of an act. The only measure of progress in a debate.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "Stand")]
pub struct Position {
    /// Index of the act in the format.
    pub act: u8,
    /// Round number, counted over the whole debate. 0 in an act without rounds.
    pub round: u8,
}

/// Identifies one turn. The derived order is the order of play: acts compare first, so the last act
/// comes last however many rounds an open act has.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Cue {
    /// Index of the act in the format.
    pub act: u8,
    /// Round number, counted over the whole debate. 0 in an act without rounds.
    pub round: u8,
    /// Index of the phase in the act.
    pub phase: u8,
    /// Index of the seat in the setup.
    pub seat: u8,
}

impl Cue {
    /// Compares greater than every turn, for use as an upper bound.
    pub const END: Cue = Cue { act: u8::MAX, round: u8::MAX, phase: u8::MAX, seat: u8::MAX };

    /// Returns the act and round of this turn.
    pub fn position(self) -> Position {
        Position { act: self.act, round: self.round }
    }
}

/// The public id of a turn: `act.round.phase.seat`, such as `0.1.0.0`.
impl fmt::Display for Cue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cue { act, round, phase, seat } = self;
        write!(f, "{act}.{round}.{phase}.{seat}")
    }
}

impl FromStr for Cue {
    type Err = String;
    fn from_str(text: &str) -> Result<Cue, String> {
        let parts: Option<Vec<u8>> = text.split('.').map(|part| part.parse().ok()).collect();
        match parts.as_deref() {
            Some(&[act, round, phase, seat]) => Ok(Cue { act, round, phase, seat }),
            _ => Err(format!("`{text}` does not name a turn")),
        }
    }
}

/// Joins the ids of turns with commas.
pub(in crate::debate) fn join_cues(cues: &[Cue]) -> String {
    cues.iter().map(Cue::to_string).collect::<Vec<_>>().join(", ")
}
