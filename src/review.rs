//! What a debate about a change comes to, and the forms in which people and CI read it.
//!
//! | file                | concept                                                         |
//! |---------------------|-----------------------------------------------------------------|
//! | `finding`           | one thing that should be changed first, and what it rests on    |
//! | `asking`            | from a change to a debate about it                              |
//! | `weighing`          | what a debate about a change comes to                           |
//! | `gate`              | whether a review stops a change                                 |
//! | `forms`             | the kinds of output, and what each makes of a review            |
//! | `forms/tame`        | somebody's words, made fit to be shown                          |
//! | `forms/inline`      | somebody's words inside our Markdown                            |
//! | `forms/place`       | where a finding is, as programs are told                        |
//! | `forms/words`       | what every form says in the same words                          |
//! | `forms/fit`         | what is left out of a text that would be too long               |
//! | `forms/markdown`    | the parts the summary and the comment are made of               |
//! | `forms/md`          | the summary for people, in Markdown                             |
//! | `forms/comment`     | the one comment on a pull request                               |
//! | `forms/html`        | a page that needs nothing else                                  |
//! | `forms/sarif`       | SARIF 2.1.0, for code scanning                                  |
//! | `forms/rdjson`      | Reviewdog's diagnostic format                                   |
//! | `forms/gitlab`      | GitLab's code quality report                                    |
//! | `forms/annotations` | workflow commands of GitHub                                     |
pub mod asking;
pub mod finding;
pub mod forms;
pub mod gate;
mod weighing;

pub use weighing::{USUAL, remembering, review, skipped};

use crate::debate::Compared;
use finding::{Earlier, Finding};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A review, ready to be read. All of it was said by models about somebody's change: no form may
/// take any of it for its own markup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// The debate it was argued in; none if nothing was argued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debate: Option<String>,
    /// What its author calls the change, or what was compared with what.
    pub title: String,
    /// What was compared with what.
    pub change: Compared,
    /// Why nothing was argued, if nothing was: there is no change, or only documents changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// What was ruled.
    pub decision: Decision,
    /// Why it could as well have come out otherwise; empty if nothing speaks for that.
    pub doubts: Vec<String>,
    /// Whether the rulings do not agree, or one is missing.
    #[serde(default)]
    pub split: bool,
    /// How sure one can be of it, in hundredths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u8>,
    /// Why, in the judge's words.
    pub reasoning: String,
    /// What to do, in the judge's words.
    pub recommendation: String,
    /// What is missing or must be known beside the result: it was cut short, somebody failed, one
    /// model argued with itself.
    pub notices: Vec<String>,
    /// Whether something is missing that a whole review would have.
    pub degraded: bool,
    /// What rests on evidence that was found, the gravest first; only these may gate or annotate.
    pub findings: Vec<Finding>,
    /// How many more of those there were than are listed.
    pub more: usize,
    /// How many of all of those are more than a remark.
    #[serde(default)]
    pub grave: usize,
    /// What rests on nothing that was found.
    pub unverified: Vec<Finding>,
    /// What an earlier review of the same change had found and is not among the findings, and what
    /// became of it.
    pub earlier: Vec<Earlier>,
    /// Who argued, and who ruled.
    pub seats: Vec<Seated>,
    /// What it took.
    pub spent: Spent,
}

/// What was ruled on a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Merge it as it is designed.
    Merge,
    /// Change the design first.
    Change,
    /// Nobody ruled.
    #[default]
    None,
}

/// Somebody who took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seated {
    /// What they were there for: `proposer`, `challenger`, `judge`.
    pub role: String,
    /// Who it was: `claude:opus`.
    pub voice: String,
}

/// What a review took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Turns that were taken.
    pub turns: usize,
    /// Read and written, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// In millionths of the currency, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
}

impl Review {
    /// Whether there is anything worth a word to whoever wrote the change: something found, or
    /// something found earlier.
    pub fn worth_posting(&self) -> bool {
        !self.findings.is_empty() || !self.earlier.is_empty()
    }

    /// Whether what was ruled could as well have come out otherwise.
    pub fn contested(&self) -> bool {
        !self.doubts.is_empty()
    }
}

impl Decision {
    /// In a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Decision::Merge => "merge as designed",
            Decision::Change => "change the design first",
            Decision::None => "no verdict",
        }
    }
}
