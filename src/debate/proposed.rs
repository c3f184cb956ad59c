//! A change that is argued about before it is merged: what it is, and what was found in it before.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a debate is held about, where it reviews a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proposed {
    /// What its author calls it; empty if nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What was compared with what.
    #[serde(flatten)]
    pub compared: Compared,
    /// What of it the debaters were not shown, in a few words; nothing, if they were shown all of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unseen: String,
    /// Paths the brief is about besides those it touches: documents, and what the user has asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Where what it touches lies as it was.
    #[serde(default)]
    pub was: Was,
    /// What is reviewed again and again while it is worked on: a branch, or a number at its host.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Whether it is argued though the same may have been argued already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// The same for the same change under the same settings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// What the review before this one had found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Known>,
}

/// What was compared with what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// In words.
    pub says: String,
    /// The commit, or else the tree, that it starts from; none if it starts from nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit, or else the tree, that it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// How many files it touches.
    pub files: usize,
    /// Lines.
    pub added: usize,
    /// Lines.
    pub deleted: usize,
}

/// What a change touches, as it was before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Was {
    /// The folder of the pinned tree in which it lies.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// What was renamed: what it was called, and what it is called now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<(String, String)>,
}

/// Something an earlier review had found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Noted {
    /// Of the finding.
    pub fingerprint: String,
    /// As it was put then.
    pub claim: String,
    /// How grave it was.
    pub severity: Severity,
    /// Where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it rested on, as that would be offered for a claim.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rests_on: String,
}

/// The same, as a later change was opened with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Known {
    /// What it was.
    #[serde(flatten)]
    pub noted: Noted,
    /// Whether what it rested on is not so any more.
    pub gone: bool,
}

/// Where something is, in the files as a change leaves them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// From the root of the repository, with `/` between names.
    pub file: String,
    /// Counted from 1; none if the file is meant, or is there no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The last line, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// Whether it is about lines the change takes away, and `line` is where they stood.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// How grave something is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The change should not be merged with it.
    High,
    /// It costs more later than now.
    #[default]
    Medium,
    /// Good to know.
    Low,
}

impl Severity {
    /// As reviewers write it, in the words of whichever tool they know.
    pub fn read(word: &str) -> Option<Severity> {
        match word.trim().to_lowercase().as_str() {
            "high" | "block" | "blocker" | "blocking" | "critical" | "severe" | "error" => {
                Some(Severity::High)
            }
            "medium" | "major" | "moderate" | "warning" => Some(Severity::Medium),
            "low" | "minor" | "info" | "note" | "nit" | "trivial" => Some(Severity::Low),
            _ => None,
        }
    }

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Severity::High => "high",
            Severity::Medium => "medium",
            Severity::Low => "low",
        }
    }
}
