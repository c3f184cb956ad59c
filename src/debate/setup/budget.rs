//! The budget of a debate: limits on cost, tokens and time, and what was spent. `plan` pauses the
//! debate when one is reached; nothing recorded is lost, and a higher budget resumes it.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign};

/// Spending limits of a whole debate. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// In millionths of the currency unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Input and output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Sum of the durations of all turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<u64>,
}

impl Budget {
    /// Whether a limit is reached.
    pub fn is_exhausted(&self, spent: Spend) -> bool {
        let is_reached = |limit: Option<u64>, spent: u64| limit.is_some_and(|limit| spent >= limit);
        is_reached(self.cost, spent.cost)
            || is_reached(self.tokens, spent.tokens)
            || is_reached(self.milliseconds, spent.milliseconds)
    }
}

/// Resource usage of one or more turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spend {
    /// In millionths of the currency.
    pub cost: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Sum of the turn durations.
    pub milliseconds: u64,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_is_exhausted_when_a_limit_is_reached() {
        let none = (Budget::default(), Spend::default());
        for (budget, spent) in [
            (Budget { cost: Some(10), ..none.0 }, Spend { cost: 10, ..none.1 }),
            (Budget { tokens: Some(10), ..none.0 }, Spend { tokens: 10, ..none.1 }),
            (Budget { milliseconds: Some(10), ..none.0 }, Spend { milliseconds: 10, ..none.1 }),
        ] {
            let Spend { cost, tokens, milliseconds } = spent;
            let below = Spend {
                cost: cost.saturating_sub(1),
                tokens: tokens.saturating_sub(1),
                milliseconds: milliseconds.saturating_sub(1),
            };
            assert!(!budget.is_exhausted(below), "{budget:?}");
            assert!(budget.is_exhausted(spent), "{budget:?}");
            assert!(!Budget::default().is_exhausted(spent));
        }
    }
}
