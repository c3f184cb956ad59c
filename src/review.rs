//! Code review by debate: the result of a debate about a change, and its output formats.
//!
//! `app::review` starts the debate, `from_debate` builds a [`Review`] from its
//! record, and `output` renders that for people and CI.
//!
//! | file                        | content                                                        |
//! |-----------------------------|----------------------------------------------------------------|
//! | `finding`                   | a finding and its evidence                                     |
//! | `from_debate`               | builds the review from the debate                              |
//! | `merge_gate`                | whether a review blocks the merge (`--fail-on`)                |
//! | `output`                    | the output formats and their dispatch                          |
//! | `output/sanitize`           | sanitizers for untrusted text: invisible characters, HTML      |
//! | `output/escape_markdown`    | escaping of untrusted text in Markdown                         |
//! | `output/location`           | validated path, line range and URI of a finding                |
//! | `output/phrases`            | phrases shared by the output formats                           |
//! | `output/limits`             | length limits of texts that several formats show               |
//! | `output/truncate`           | drops whole entries from an output over its size limit         |
//! | `output/markdown`           | Markdown sections shared by the summary and the comment        |
//! | `output/markdown_summary`   | Markdown summary                                               |
//! | `output/pr_comment`         | comment on a pull request                                      |
//! | `output/html`               | self-contained HTML page                                       |
//! | `output/sarif`              | SARIF 2.1.0 for code scanning                                  |
//! | `output/rdjson`             | Reviewdog Diagnostic Format                                    |
//! | `output/gitlab`             | GitLab Code Quality report                                     |
//! | `output/github_annotations` | GitHub workflow commands                                       |
pub(crate) mod finding;
mod from_debate;
pub(crate) mod merge_gate;
pub(crate) mod output;
#[cfg(test)]
pub(crate) mod test_review;
#[cfg(test)]
mod tests;

pub(crate) use from_debate::{
    DEFAULT_MAX_FINDINGS, review_from_debate, skipped_review, with_known_findings,
};

use crate::debate::ChangeSummary;
use finding::{EarlierFinding, Finding};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a review. Its text is written by models about an untrusted change: every output format
/// must escape it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// Id of the debate. Absent if the review was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debate: Option<String>,
    /// The change's title. Default: what was compared.
    pub title: String,
    /// What was compared.
    pub change: ChangeSummary,
    /// Why the review was skipped: no change, or only documents changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// The decision.
    pub decision: ReviewDecision,
    /// Why the decision is contested. Empty if it is not.
    pub doubts: Vec<String>,
    /// Whether rulings disagree, or one is missing.
    #[serde(default)]
    pub split: bool,
    /// Confidence in the decision, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u8>,
    /// The judge's reasoning.
    pub reasoning: String,
    /// The judge's recommendation.
    pub recommendation: String,
    /// Warnings about the result: the review was cut short, a participant failed, one model played
    /// both sides.
    pub notices: Vec<String>,
    /// Whether the review is incomplete.
    pub degraded: bool,
    /// Findings with verified evidence, highest severity first. Only these gate or annotate.
    pub findings: Vec<Finding>,
    /// Number of such findings not listed.
    pub more: usize,
    /// Number of all such findings above low severity.
    #[serde(default)]
    pub grave: usize,
    /// Findings without verified evidence.
    pub unverified: Vec<Finding>,
    /// Findings of an earlier review of the same change that `findings` does not list, with their
    /// state.
    pub earlier: Vec<EarlierFinding>,
    /// Participants and judges.
    pub seats: Vec<ReviewParticipant>,
    /// Its cost.
    pub spent: ReviewCost,
}

/// Decision about a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Decision")]
pub enum ReviewDecision {
    /// Merge as designed.
    Merge,
    /// Change the design first.
    Change,
    /// No ruling.
    #[default]
    None,
}

/// A debate participant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Seated")]
pub struct ReviewParticipant {
    /// Its role: `proposer`, `challenger`, `judge`.
    pub role: String,
    /// Model: `claude:opus`.
    pub voice: String,
}

/// Cost of a review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Spent")]
pub struct ReviewCost {
    /// Completed turns.
    pub turns: usize,
    /// Input and output tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// In millionths of the currency, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
}

impl Review {
    /// Whether the author should get a comment: there are findings, or earlier ones.
    pub(crate) fn is_worth_posting(&self) -> bool {
        !self.findings.is_empty() || !self.earlier.is_empty()
    }

    /// Whether the decision is contested.
    pub fn is_contested(&self) -> bool {
        !self.doubts.is_empty()
    }
}

impl ReviewDecision {
    /// The decision as a phrase.
    pub fn describe(self) -> &'static str {
        match self {
            ReviewDecision::Merge => "merge as designed",
            ReviewDecision::Change => "change the design first",
            ReviewDecision::None => "no verdict",
        }
    }
}
