//! Token prices from the user's config. None are built in, because prices change and a wrong one is
//! worse than none.
use crate::debate::{Participant, to_millionths};
use crate::engine::Price;
use std::collections::BTreeMap;

/// Prices per million tokens, by `tool:model` or by model.
#[derive(Clone, Debug, Default)]
pub struct PriceList {
    /// Input and output price, in the user's currency.
    pub models: BTreeMap<String, (f64, f64)>,
    /// The day of the prices, shown with every cost computed from them.
    pub as_of: Option<String>,
}

impl PriceList {
    /// Finds the price of a participant by requested model, else by reported model. A reported name
    /// with a date suffix (`model-2026-01-31`) matches the name without it.
    pub(super) fn find(&self, voice: &Participant, reported: Option<&str>) -> Option<Price> {
        let whole = voice.to_string();
        let names = [Some(whole.as_str()), voice.model(), reported];
        let listed = names.into_iter().flatten().find_map(|name| {
            let dated = |listed: &&String| {
                name.strip_prefix(listed.as_str()).is_some_and(|rest| {
                    rest.starts_with(['-', '@'])
                        && rest[1..].chars().all(|c| c.is_ascii_digit() || c == '-')
                })
            };
            self.models.get(name).or_else(|| {
                let longest = self.models.keys().filter(dated).max_by_key(|name| name.len())?;
                self.models.get(longest)
            })
        });
        let (input, output) = listed?;
        Some(Price { input: to_millionths(*input)?, output: to_millionths(*output)? })
    }
}
