//! A code change under review: what is compared, and the findings of the previous review. Stored in
//! the setup of a review debate.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The change a review debate is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Proposed")]
pub struct ReviewedChange {
    /// Title given by the author, empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Base, head and size of the change.
    #[serde(flatten)]
    pub compared: ChangeSummary,
    /// What the debaters were not shown of the change, empty if they saw all of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unseen: String,
    /// Paths in the brief besides the changed ones: documents, and paths the user asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Where the base versions of the changed files are.
    #[serde(default)]
    pub was: BaseTree,
    /// Identifies the change across repeated reviews: a branch or a pull request number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Review even if the same change was reviewed before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Deduplication key: hash of the change, the wording and the settings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Findings of the previous review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownFinding>,
}

/// Base, head and size of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Compared")]
pub struct ChangeSummary {
    /// What was compared, for messages.
    pub says: String,
    /// Base commit, else base tree. `None` if the base is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Head commit, else head tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Number of changed files.
    pub files: usize,
    /// Number of lines added.
    pub added: usize,
    /// Number of lines deleted.
    pub deleted: usize,
}

/// Location of the changed files as they were before the change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Was")]
pub struct BaseTree {
    /// Folder of the pinned tree that contains them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Renamed files, as pairs of old and new path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<(String, String)>,
}

/// A finding of an earlier review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Noted")]
pub struct NotedFinding {
    pub fingerprint: String,
    /// Its wording in that review.
    pub claim: String,
    pub severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<CodeLocation>,
    /// Its evidence, in the syntax of a claim's evidence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rests_on: String,
}

/// A finding of the previous review, rechecked against this change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Known")]
pub struct KnownFinding {
    #[serde(flatten)]
    pub noted: NotedFinding,
    /// True if its evidence no longer exists.
    pub gone: bool,
}

/// A location in the files after the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Place")]
pub struct CodeLocation {
    /// Path from the repository root, separated by `/`.
    pub file: String,
    /// Line number from 1. `None` for the whole file, or if the file no longer exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Last line of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// True if the change deletes these lines. `line` is then where they were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// Severity of a review finding.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The change should not be merged with it.
    High,
    /// Cheaper to fix now than later.
    #[default]
    Medium,
    /// For information.
    Low,
}

impl Severity {
    /// Parses a severity, including the synonyms used by other review tools.
    pub fn parse(word: &str) -> Option<Severity> {
        match word.trim().to_lowercase().as_str() {
            "high" | "block" | "blocker" | "blocking" | "critical" | "severe" | "error" => {
                Some(Severity::High)
            }
            "medium" | "major" | "moderate" | "warning" => Some(Severity::Medium),
            "low" | "minor" | "info" | "note" | "nit" | "trivial" => Some(Severity::Low),
            _ => None,
        }
    }

    /// Serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::High => "high",
            Severity::Medium => "medium",
            Severity::Low => "low",
        }
    }
}
