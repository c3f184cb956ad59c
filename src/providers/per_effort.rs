//! A config value that can differ by effort level.
use crate::debate::Effort;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One value for all effort levels, or one for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PerEffort<T> {
    /// The same value for every effort.
    Same(T),
    /// By effort name. The key `usual` is the default.
    ByEffort(BTreeMap<String, T>),
}

impl<T> Default for PerEffort<T> {
    fn default() -> PerEffort<T> {
        PerEffort::ByEffort(BTreeMap::new())
    }
}

impl<T> PerEffort<T> {
    /// The value for this effort, else the default.
    pub(super) fn for_effort(&self, effort: Option<Effort>) -> Option<&T> {
        match self {
            PerEffort::Same(value) => Some(value),
            PerEffort::ByEffort(by_effort) => effort
                .and_then(|effort| by_effort.get(effort.as_str()))
                .or_else(|| by_effort.get("usual")),
        }
    }

    /// All values with their effort names; the name is empty for a single value.
    pub(super) fn entries(&self) -> Vec<(&str, &T)> {
        match self {
            PerEffort::Same(value) => vec![("", value)],
            PerEffort::ByEffort(by_effort) => {
                by_effort.iter().map(|(effort, value)| (effort.as_str(), value)).collect()
            }
        }
    }
}
