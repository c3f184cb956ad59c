//! The format catalog: every debate format that can be opened, with its prompt templates. Filled by
//! `formats_catalog` from built-in and user files.
use super::desk::DeskError;
use crate::debate::formats::FormatOffer;
use std::collections::BTreeMap;

/// A format with its limits and prompt templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offering {
    pub offer: FormatOffer,
    /// Templates by phase name, and under `reply.KIND`, `act.NAME`, `audience.TYPE`, `focus`,
    /// `again` and `review`.
    pub prompts: BTreeMap<String, String>,
    pub from: From,
}

/// Where a format comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// Built into the program.
    Program,
    /// Built in, as a variant of another format for one kind of question.
    Template(String),
    /// A file of the user.
    User(String),
}

/// A format file of the user that could not be parsed, and the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Name the format would have.
    pub name: String,
    pub file: String,
    pub why: String,
}

/// All formats, in display order.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Formats that can be opened.
    pub offerings: Vec<Offering>,
    /// Files with errors.
    pub broken: Vec<Broken>,
    /// Prompt templates of the arena client, by name.
    pub guest: BTreeMap<String, String>,
}

impl Offering {
    /// Name of the format.
    pub fn name(&self) -> &str {
        &self.offer.format.name
    }

    /// Audience types the format has templates for.
    pub fn listeners(&self) -> impl Iterator<Item = &str> {
        self.prompts.keys().filter_map(|name| name.strip_prefix("audience."))
    }
}

impl Catalogue {
    /// Finds a format by name. The error lists the known names.
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
