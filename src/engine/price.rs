//! Token prices.

/// Price of a model, in millionths of the currency per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    pub input: u64,
    pub output: u64,
}

impl Price {
    /// Cost in millionths of the currency. Saturates at `u64::MAX`.
    pub fn cost(self, tokens_in: u64, tokens_out: u64) -> u64 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price) / 1_000_000;
        let sum = part(tokens_in, self.input) + part(tokens_out, self.output);
        u64::try_from(sum).unwrap_or(u64::MAX)
    }
}
