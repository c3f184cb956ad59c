//! Metadata of one turn: which tool and model answered, the duration, the tokens and the cost.
use crate::debate::setup::budget::Spend;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Metadata of a reply. Unknown values are omitted, never guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// Name of the tool in the roster, or `host`, `human`, `bot`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Version of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Requested model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_asked: Option<String>,
    /// Model reported in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_reported: Option<String>,
    /// Milliseconds from the request to the last byte of the response.
    #[serde(default)]
    pub duration_ms: u64,
    /// Input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// In millionths of the currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Number of requests sent for this reply, retries included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u16>,
    /// Exit code of the tool's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Session id of the tool, if a session was resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Warnings for readers, such as a model mismatch or read access to the whole disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
}

/// Upper bound of an amount of money (exclusive), in units of the currency.
const MAX_AMOUNT: f64 = 1e9;

/// Converts an amount of money to millionths. None if it is negative, not finite or too large.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
pub fn to_millionths(amount: f64) -> Option<u64> {
    (0.0..MAX_AMOUNT).contains(&amount).then(|| (amount * 1e6).round() as u64)
}

impl Envelope {
    /// Returns the usage of this turn. Unknown values count as 0.
    pub fn spend(&self) -> Spend {
        Spend {
            cost: self.cost.unwrap_or(0),
            tokens: self.tokens_in.unwrap_or(0).saturating_add(self.tokens_out.unwrap_or(0)),
            milliseconds: self.duration_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_must_be_below_a_billion() {
        assert_eq!(to_millionths(MAX_AMOUNT - 1.0), Some(999_999_999_000_000));
        assert_eq!(to_millionths(MAX_AMOUNT), None);
    }
}
