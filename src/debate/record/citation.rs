//! Citations of a turn, and the result of looking each one up in the repository.
//!
//! A lookup only checks that the cited text exists. It never checks whether that text supports the
//! claim. The lookup itself is in `evidence`.
use crate::debate::setup::reviewed_change::CodeLocation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A citation, with the result of its lookup when the turn was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// The citation as written in the reply.
    pub raw: String,
    /// Id of the claim that contains it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// Path relative to the repository root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// First cited line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Last cited line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// Quoted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Result of the lookup.
    pub found: CitationStatus,
    /// Location where the quote was found instead, as `path:line`, or candidates if ambiguous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_at: Option<String>,
    /// Details of the lookup result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Set if the quote exists only in the file before the change under review: the line where it
    /// would be now, or 0 if the file is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
}

/// Result of looking up a citation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Found")]
pub enum CitationStatus {
    /// The quote is at the cited lines.
    Exact,
    /// The quote is within a few lines of the cited ones.
    Near,
    /// The quote is elsewhere in the cited file.
    ElsewhereInFile,
    /// The quote is in another file.
    ElsewhereInRepo,
    /// The line exists, but there is no quote to verify. Not evidence by itself.
    Located,
    /// The file does not exist.
    NoSuchPath,
    /// The file has fewer lines.
    LineOutOfRange,
    /// The quote is not in the repository.
    NotFound,
    /// The path matches several files.
    Ambiguous,
    /// The quote occurs in too many files to prove anything.
    NonDistinctive,
    /// The quote is too short to prove anything.
    TooShort,
    /// The commit does not exist.
    CommitUnknown,
    /// The cited location was wrong, and the rest of the repository was not searched.
    NotSearched,
    /// Cannot be verified here, such as a URL or a benchmark.
    Unchecked,
}

impl CitationStatus {
    /// Returns the serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            CitationStatus::Exact => "exact",
            CitationStatus::Near => "near",
            CitationStatus::ElsewhereInFile => "elsewhere_in_file",
            CitationStatus::ElsewhereInRepo => "elsewhere_in_repo",
            CitationStatus::Located => "located",
            CitationStatus::NoSuchPath => "no_such_path",
            CitationStatus::LineOutOfRange => "line_out_of_range",
            CitationStatus::NotFound => "not_found",
            CitationStatus::Ambiguous => "ambiguous",
            CitationStatus::NonDistinctive => "non_distinctive",
            CitationStatus::TooShort => "too_short",
            CitationStatus::CommitUnknown => "commit_unknown",
            CitationStatus::NotSearched => "not_searched",
            CitationStatus::Unchecked => "unchecked",
        }
    }

    /// Whether the quote was found in the cited file.
    pub fn is_verified(self) -> bool {
        matches!(
            self,
            CitationStatus::Exact | CitationStatus::Near | CitationStatus::ElsewhereInFile
        )
    }

    /// Whether the lookup proved that the cited text does not exist.
    pub fn is_wrong(self) -> bool {
        matches!(
            self,
            CitationStatus::NoSuchPath
                | CitationStatus::LineOutOfRange
                | CitationStatus::NotFound
                | CitationStatus::CommitUnknown
        )
    }
}

/// Result of rechecking a citation that was found earlier.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Stands")]
pub enum RecheckStatus {
    /// Found as before.
    Holds,
    /// Found at another location.
    Moved,
    /// No longer found, or no longer distinctive.
    Gone,
    /// Cannot be determined.
    Unknown,
}

impl RecheckStatus {
    /// Returns the serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            RecheckStatus::Holds => "holds",
            RecheckStatus::Moved => "moved",
            RecheckStatus::Gone => "gone",
            RecheckStatus::Unknown => "unknown",
        }
    }
}

/// Prefix of the placeholder for any redacted secret.
const REDACTION_PREFIX: &str = "[REDACTED:";

impl Citation {
    /// Compares this citation with the result of a new lookup, and returns a note if the status
    /// needs one. `changed` lists the paths whose content differs since the first lookup.
    pub fn recheck_status(
        &self,
        rechecked: Option<&Citation>,
        changed: &[String],
    ) -> (RecheckStatus, Option<String>) {
        let Some(rechecked) = rechecked else {
            return (
                RecheckStatus::Unknown,
                Some("this version parses the citation differently".into()),
            );
        };
        let rank = |found: CitationStatus| match found {
            CitationStatus::Exact => 0,
            CitationStatus::Near => 1,
            _ => 2,
        };
        let same_location = (&self.path, &self.found_at) == (&rechecked.path, &rechecked.found_at);
        match rechecked.found {
            found if self.removed.is_some() && rechecked.removed.is_none() => {
                let reappeared =
                    found.is_verified().then(|| "what the change removed is there again".into());
                (
                    if reappeared.is_some() { RecheckStatus::Moved } else { RecheckStatus::Holds },
                    reappeared,
                )
            }
            CitationStatus::Located if self.path == rechecked.path => {
                let file_changed = self.path.as_ref().is_some_and(|path| changed.contains(path));
                let note = "the file has changed since, and nothing of it was quoted";
                (RecheckStatus::Holds, file_changed.then(|| note.into()))
            }
            found if found.is_verified() && self.found == CitationStatus::Located => {
                (RecheckStatus::Holds, None)
            }
            found if found.is_verified() && self.path == rechecked.path => {
                let is_nearer = rank(found) < rank(self.found);
                let is_unmoved = is_nearer || (found == self.found && same_location);
                (if is_unmoved { RecheckStatus::Holds } else { RecheckStatus::Moved }, None)
            }
            found if found.is_verified() => (RecheckStatus::Moved, None),
            CitationStatus::Located | CitationStatus::ElsewhereInRepo => {
                (RecheckStatus::Moved, None)
            }
            CitationStatus::Unchecked | CitationStatus::NotSearched => {
                (RecheckStatus::Unknown, None)
            }
            // Redaction tags differ between trees, so a redacted quote cannot be compared.
            _ if self.raw.contains(REDACTION_PREFIX)
                || self.quote_or_empty().contains(REDACTION_PREFIX) =>
            {
                (
                    RecheckStatus::Unknown,
                    Some("it quotes a secret, which cannot be compared".into()),
                )
            }
            _ => (RecheckStatus::Gone, None),
        }
    }

    /// Returns the location in the files after the change under review.
    pub fn location(&self) -> Option<CodeLocation> {
        let file = self.path.clone()?;
        if let Some(line) = self.removed {
            let line = Some(line).filter(|line| *line > 0);
            return Some(CodeLocation { file, line, end_line: None, removed: true });
        }
        let found_line = self.found_at.as_deref().and_then(|at| at.rsplit_once(':'));
        let found_line = found_line.and_then(|(_, line)| line.parse().ok());
        let cited_line = self
            .line
            .filter(|_| matches!(self.found, CitationStatus::Exact | CitationStatus::Located));
        let end_line = self.end_line.filter(|_| found_line.is_none());
        Some(CodeLocation { file, line: found_line.or(cited_line), end_line, removed: false })
    }

    fn quote_or_empty(&self) -> &str {
        self.quote.as_deref().unwrap_or_default()
    }

    /// Describes the lookup result for users, such as `near, stands at src/a.rs:7`.
    pub fn describe(&self) -> String {
        let mut text = self.found.as_str().replace('_', " ");
        if self.removed.is_some() {
            text += ", in what the change takes away";
        }
        if let Some(found_at) = &self.found_at {
            let verb =
                if self.found == CitationStatus::Ambiguous { "could be" } else { "stands at" };
            text = format!("{text}, {verb} {found_at}");
        }
        match &self.note {
            Some(note) => format!("{text}: {note}"),
            None => text,
        }
    }
}
