//! What models cost, as the user has looked it up. Nothing is built in: prices change, and a wrong one
//! is worse than none.
use crate::debate::{Voice, millionths};
use crate::engine::Price;
use std::collections::BTreeMap;

/// By `tool:model`, or by model, for a million tokens; and the day they were looked up.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    /// Read and written, in the user's currency.
    pub models: BTreeMap<String, (f64, f64)>,
    /// Shown wherever one of them is used.
    pub as_of: Option<String>,
}

impl Prices {
    /// Of a voice: by the model it is asked for, or else by the one that says it has answered. A
    /// model that calls itself by a name and a date costs what the name costs.
    pub(super) fn of(&self, voice: &Voice, reported: Option<&str>) -> Option<Price> {
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
        Some(Price { input: millionths(*input)?, output: millionths(*output)? })
    }
}
