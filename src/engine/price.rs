//! What tokens cost.

/// Millionths of the currency for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

impl Price {
    /// Millionths of the currency for that many tokens.
    pub fn of(self, tokens_in: u64, tokens_out: u64) -> u64 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price) / 1_000_000;
        let sum = part(tokens_in, self.input) + part(tokens_out, self.output);
        u64::try_from(sum).unwrap_or(u64::MAX)
    }
}
