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
    pub(super) fn find(&self, participant: &Participant, reported: Option<&str>) -> Option<Price> {
        let full_name = participant.to_string();
        let names = [Some(full_name.as_str()), participant.model(), reported];
        let entry = names.into_iter().flatten().find_map(|name| {
            let is_dated_variant = |entry: &&String| {
                name.strip_prefix(entry.as_str()).is_some_and(|rest| {
                    rest.starts_with(['-', '@'])
                        && rest[1..].chars().all(|c| c.is_ascii_digit() || c == '-')
                })
            };
            self.models.get(name).or_else(|| {
                let longest =
                    self.models.keys().filter(is_dated_variant).max_by_key(|name| name.len())?;
                self.models.get(longest)
            })
        });
        let (input, output) = entry?;
        Some(Price { input: to_millionths(*input)?, output: to_millionths(*output)? })
    }
}
