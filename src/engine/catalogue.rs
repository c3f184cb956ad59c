//! The formats that can be opened here, each with its words.
use super::desk::DeskError;
use crate::debate::formats::Offer;
use std::collections::BTreeMap;

/// A table, how it is offered, and the words its seats are asked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offering {
    /// The table.
    pub offer: Offer,
    /// By the name of the phase; `reply.KIND`, `act.NAME`, `audience.TYPE`, `focus`, `again`
    /// and `review`.
    pub prompts: BTreeMap<String, String>,
    /// Who made it.
    pub from: From,
}

/// Where a format comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// It comes with the program.
    Program,
    /// It comes with the program, and is another format with an eye on one kind of question.
    Template(String),
    /// A file of the user's own.
    User(String),
}

/// A file of the user's own that is no format, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What it would have been called.
    pub name: String,
    /// Where it is.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
}

/// All of them, in the order they are offered.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Those that can be opened.
    pub offerings: Vec<Offering>,
    /// Those that cannot.
    pub broken: Vec<Broken>,
    /// The words a guest of somebody else's arena is asked with, by name.
    pub guest: BTreeMap<String, String>,
}

impl Offering {
    /// What users call it.
    pub fn name(&self) -> &str {
        &self.offer.format.name
    }

    /// The types of listeners it has words for, in the order they are named.
    pub fn listeners(&self) -> impl Iterator<Item = &str> {
        self.prompts.keys().filter_map(|name| name.strip_prefix("audience."))
    }
}

impl Catalogue {
    /// The format of this name.
    pub fn offered(&self, name: &str) -> Result<&Offering, DeskError> {
        let found = self.offerings.iter().find(|offering| offering.name() == name);
        found.ok_or_else(|| {
            if let Some(broken) = self.broken.iter().find(|broken| broken.name == name) {
                let Broken { name, file, why } = broken.clone();
                return DeskError::BrokenFormat { name, file, why };
            }
            let known: Vec<&str> = self.offerings.iter().map(Offering::name).collect();
            DeskError::Format { name: name.into(), known: known.join(", ") }
        })
    }
}
