//! `--json` output of `debate formats`.
use schemars::JsonSchema;
use serde::Serialize;

/// Output of `debate formats --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Formats")]
pub struct FormatsOutput {
    /// Schema version.
    pub v: u8,
    /// Valid formats.
    pub formats: Vec<FormatEntry>,
    /// Invalid format files of the user.
    pub broken: Vec<BrokenFormatOutput>,
}

/// Output of `debate formats NAME --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Format")]
pub struct FormatOutput {
    /// Schema version.
    pub v: u8,
    /// The format.
    #[serde(flatten)]
    pub format: FormatEntry,
}

/// A debate format.
#[derive(Serialize, JsonSchema)]
pub struct FormatEntry {
    /// Name, as in `--format`.
    pub name: String,
    /// Short description.
    pub about: String,
    /// Minimum number of rounds.
    pub least: u8,
    /// Maximum number of rounds.
    pub most: u8,
    /// Default number of rounds.
    pub usual: u8,
    /// Whether the user confirms the plan before the debate starts.
    pub confirms: bool,
    /// Types of listeners.
    pub listeners: Vec<String>,
    /// Origin: `program`, `template of NAME`, or the path of the user's file.
    pub from: String,
    /// Acts and phases. Only present if a format was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<crate::debate::Format>,
}

/// Invalid format file, with the parse error.
#[derive(Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the field names say it")]
#[schemars(rename = "BrokenFormat")]
pub struct BrokenFormatOutput {
    pub name: String,
    pub file: String,
    pub why: String,
}
