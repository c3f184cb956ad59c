//! A finding of a review, its evidence, and its state in a later review.
use crate::debate::{CodeLocation, NotedFinding, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A challenge to a change that its challenger did not withdraw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable id across reviews: a hash of the file and the quoted text, without line numbers.
    /// 64 hexadecimal digits, unique in its review.
    pub fingerprint: String,
    /// Id of the claim.
    pub id: String,
    /// The turn that first made it.
    pub turn: String,
    /// Severity.
    pub severity: Severity,
    /// The challenger's claim, one sentence.
    pub claim: String,
    /// Its location: the best one with verified evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<CodeLocation>,
    /// All evidence, with the result of its check.
    pub evidence: Vec<FindingEvidence>,
    /// The proposer's answer, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Whether the proposer conceded it.
    pub conceded: bool,
    /// Whether an earlier review had found it.
    pub known: bool,
}

/// Evidence of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Proof")]
pub struct FindingEvidence {
    /// As written.
    pub raw: String,
    /// Result of the lookup, such as `exact` or `not_found`.
    pub found: String,
    /// Whether the quote was found at its location.
    pub verified: bool,
    /// Its location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<CodeLocation>,
    /// The quoted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// A finding of an earlier review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Earlier")]
pub struct EarlierFinding {
    /// The finding.
    #[serde(flatten)]
    pub noted: NotedFinding,
    /// Its state now.
    pub state: FindingState,
}

/// State of an earlier finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "State")]
pub enum FindingState {
    /// Its evidence is no longer there.
    Fixed,
    /// It was raised again, or its evidence is still there.
    Open,
}

impl Finding {
    /// The part of the finding that a later review needs.
    pub(super) fn to_noted(&self) -> NotedFinding {
        let is_own =
            |evidence: &&FindingEvidence| evidence.verified && evidence.place == self.place;
        let citation_text = |evidence: &FindingEvidence| match (&evidence.place, &evidence.quote) {
            (Some(place), Some(quote)) => format!("{} \"{quote}\"", place.file),
            _ => evidence.raw.clone(),
        };
        NotedFinding {
            fingerprint: self.fingerprint.clone(),
            claim: self.claim.clone(),
            severity: self.severity,
            place: self.place.clone(),
            rests_on: self.evidence.iter().find(is_own).map(citation_text).unwrap_or_default(),
        }
    }
}
