//! What may differ with how hard a tool is to think.
use crate::debate::Effort;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One for all, or one for each effort.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PerEffort<T> {
    /// Whatever the effort.
    One(T),
    /// By the word for it; `usual` where none is asked for.
    Each(BTreeMap<String, T>),
}

impl<T> Default for PerEffort<T> {
    fn default() -> PerEffort<T> {
        PerEffort::Each(BTreeMap::new())
    }
}

impl<T> PerEffort<T> {
    /// For this effort; where nothing is said of it, the usual one.
    pub(super) fn of(&self, effort: Option<Effort>) -> Option<&T> {
        match self {
            PerEffort::One(one) => Some(one),
            PerEffort::Each(each) => {
                effort.and_then(|effort| each.get(effort.word())).or_else(|| each.get("usual"))
            }
        }
    }

    /// All of them, with what they are for.
    pub(super) fn all(&self) -> Vec<(&str, &T)> {
        match self {
            PerEffort::One(one) => vec![("", one)],
            PerEffort::Each(each) => each.iter().map(|(word, one)| (word.as_str(), one)).collect(),
        }
    }
}
