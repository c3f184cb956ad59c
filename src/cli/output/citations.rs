//! `--json` output of `debate check` and `debate recheck`.
use crate::debate::{Citation, CitationStatus, RecheckStatus};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Output of `debate check --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Checked")]
pub struct CheckOutput {
    /// Schema version.
    pub v: u8,
    /// Citations, in the order of the text.
    pub citations: Vec<CheckedCitation>,
    /// Number of citations by finding.
    pub counts: BTreeMap<&'static str, usize>,
    /// Tree or commit they were checked against.
    pub against: String,
}

/// A parsed citation and the result of its check.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Looked")]
pub struct CheckedCitation {
    /// Citation as written.
    pub raw: String,
    /// Path, relative to the repository.
    pub path: Option<String>,
    /// First cited line.
    pub line: Option<u32>,
    /// Last cited line.
    pub end_line: Option<u32>,
    /// Quoted text.
    pub quote: Option<String>,
    /// Result of the check.
    pub finding: CitationStatus,
    /// Location where the quote was found instead.
    pub found_at: Option<String>,
    /// Details of the finding.
    pub note: Option<String>,
}

impl From<Citation> for CheckedCitation {
    fn from(citation: Citation) -> CheckedCitation {
        CheckedCitation {
            raw: citation.raw,
            path: citation.path,
            line: citation.line,
            end_line: citation.end_line,
            quote: citation.quote,
            finding: citation.found,
            found_at: citation.found_at,
            note: citation.note,
        }
    }
}

/// Output of `debate recheck --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rechecked")]
pub struct RecheckOutput {
    /// Schema version.
    pub v: u8,
    /// Debate id.
    pub id: String,
    /// Tree or commit they were checked against.
    pub against: String,
    /// Number of citations that hold, have moved, are gone or are unknown.
    pub counts: BTreeMap<&'static str, usize>,
    /// Citations, in the order of the debate.
    pub citations: Vec<RecheckedCitation>,
}

/// A citation that was valid in the debate, and the result of the new check.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Cited")]
pub struct RecheckedCitation {
    /// Turn of the citation.
    pub turn: String,
    /// Seat that cited it.
    pub seat: String,
    /// Id of the claim it supports, if any.
    pub claim: Option<String>,
    /// Citation as written.
    pub raw: String,
    /// Result of the check during the debate.
    pub was: CitationStatus,
    /// Result of the check now, if it could be done.
    pub now: Option<CitationStatus>,
    /// Comparison of both results.
    pub stands: RecheckStatus,
    /// Location where the quote was found instead.
    pub found_at: Option<String>,
    /// Details of the finding.
    pub note: Option<String>,
}
