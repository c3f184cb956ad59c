//! The format catalog: every debate format that can be opened, with its prompt templates. Filled by
//! `formats_catalog` from built-in and user files.
use crate::debate::formats::FormatOffer;
use std::collections::BTreeMap;

/// A format with its limits and prompt templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    pub offer: FormatOffer,
    /// Templates by phase name, and under `reply.KIND`, `act.NAME`, `audience.TYPE`, `focus`,
    /// `again` and `review`.
    pub prompts: BTreeMap<String, String>,
    pub source: FormatSource,
}

/// Where a format comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatSource {
    /// Built into the program.
    Builtin,
    /// Built in, as a variant of another format for one kind of question.
    BuiltinTemplate(String),
    /// A file of the user.
    UserFile(String),
}

/// A format file of the user that could not be parsed, and the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidFormatFile {
    /// Name the format would have.
    pub name: String,
    pub file: String,
    pub why: String,
}

/// All formats, in display order.
#[derive(Clone, Debug, Default)]
pub struct FormatCatalog {
    /// Formats that can be opened.
    pub entries: Vec<CatalogEntry>,
    /// Files with errors.
    pub invalid_files: Vec<InvalidFormatFile>,
    /// Prompt templates of the arena client, by name.
    pub arena_client_prompts: BTreeMap<String, String>,
}

/// Error: no usable format has the requested name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FormatError {
    #[error("unknown format `{name}`; known: {known}")]
    Unknown { name: String, known: String },
    #[error("the format `{name}` in `{file}` is invalid: {why}")]
    Invalid { name: String, file: String, why: String },
}

impl CatalogEntry {
    /// Name of the format.
    pub fn name(&self) -> &str {
        &self.offer.format.name
    }

    /// Audience types the format has templates for.
    pub fn audience_types(&self) -> impl Iterator<Item = &str> {
        self.prompts.keys().filter_map(|name| name.strip_prefix("audience."))
    }
}

impl FormatCatalog {
    /// Finds a format by name. The error lists the known names.
    pub fn find(&self, name: &str) -> Result<&CatalogEntry, FormatError> {
        let found = self.entries.iter().find(|entry| entry.name() == name);
        found.ok_or_else(|| {
            if let Some(invalid) = self.invalid_files.iter().find(|invalid| invalid.name == name) {
                let InvalidFormatFile { name, file, why } = invalid.clone();
                return FormatError::Invalid { name, file, why };
            }
            let known: Vec<&str> = self.entries.iter().map(CatalogEntry::name).collect();
            FormatError::Unknown { name: name.into(), known: known.join(", ") }
        })
    }
}
