//! The proof of one turn: who really spoke, for how long and for how much.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign};

/// What is known about how a reply came to be. Whatever is unknown is left out, never guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// The row of the roster, or `host`, `human`, `bot`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The tool's own version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_asked: Option<String>,
    /// The model the tool says has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_reported: Option<String>,
    /// Milliseconds from asking to the last byte.
    #[serde(default)]
    pub duration_ms: u64,
    /// Tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// In millionths of the currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// How often the tool was called for this reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u16>,
    /// Of the tool's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The tool's own session, where one was resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What the seat could do that it was asked not to, and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
}

/// Money in millionths of the currency, if it is an amount at all.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
pub fn millionths(amount: f64) -> Option<u64> {
    (0.0..1e9).contains(&amount).then(|| (amount * 1e6).round() as u64)
}

/// What turns have used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spend {
    /// In millionths of the currency.
    pub cost: u64,
    /// Read and written.
    pub tokens: u64,
    /// Of turns in flight, added up.
    pub milliseconds: u64,
}

impl Envelope {
    /// What this turn used up, as far as is known.
    pub fn spend(&self) -> Spend {
        Spend {
            cost: self.cost.unwrap_or(0),
            tokens: self.tokens_in.unwrap_or(0).saturating_add(self.tokens_out.unwrap_or(0)),
            milliseconds: self.duration_ms,
        }
    }
}

impl Add for Spend {
    type Output = Spend;
    fn add(self, other: Spend) -> Spend {
        Spend {
            cost: self.cost.saturating_add(other.cost),
            tokens: self.tokens.saturating_add(other.tokens),
            milliseconds: self.milliseconds.saturating_add(other.milliseconds),
        }
    }
}

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Spend) {
        *self = *self + other;
    }
}
