//! Types for reviewing a change that is not merged yet: how the user selects it
//! ([`ChangeSelector`]) and what was found ([`ChangeSet`]).
use super::pinned_tree::PinnedTree;
use crate::debate::{BaseTree, KnownFinding};
use schemars::JsonSchema;
use serde::Serialize;

/// Which change to review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeSelector {
    /// The uncommitted changes, else those of the branch, else the last commit.
    Auto,
    /// Uncommitted changes.
    Worktree,
    /// Changes of this branch and the working tree since it forked from the default branch.
    Branch,
    /// `BASE..HEAD` or `BASE...HEAD`, as for `git diff`.
    Range(String),
    Staged,
    /// A commit compared with its first parent.
    Commit(String),
    /// A patch applied to a commit, by default the last one.
    Patch {
        text: Vec<u8>,
        base: Option<String>,
    },
}

/// A change that is not merged yet: two trees and the files that differ.
#[derive(Clone, Debug)]
pub struct ChangeSet {
    /// One tree with both versions: the new files, and the touched files as they were.
    pub pinned: PinnedTree,
    /// Folder with the old files in that tree.
    pub base_tree: BaseTree,
    /// Description of what was compared with what.
    pub description: String,
    /// Id of the old tree, `None` if there is none.
    pub old_tree: Option<String>,
    /// Id of the new tree.
    pub new_tree: String,
    /// Ids of the old and the new commit, if they are commits.
    pub commits: (Option<String>, Option<String>),
    pub files: Vec<FileChange>,
    /// Set if there is nothing worth a review.
    pub skip_reason: Option<SkipReason>,
    /// Commit messages, the newest first.
    pub messages: Vec<String>,
    /// The checked out branch.
    pub branch: Option<String>,
    /// Whether the checked out files contain the change.
    pub checked_out: bool,
}

/// A changed file with its line counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Changed")]
pub struct FileChange {
    /// Current path.
    pub path: String,
    /// Old path, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Added lines, absent if binary or not counted.
    pub added: Option<u64>,
    /// Deleted lines, absent if binary or not counted.
    pub deleted: Option<u64>,
}

/// Why a change is not reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    Empty,
    DocsOnly,
    /// Only lock files, generated and vendored files have changed.
    GeneratedOnly,
}

impl SkipReason {
    /// The reason as a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            SkipReason::Empty => "nothing has changed",
            SkipReason::DocsOnly => "only documents have changed",
            SkipReason::GeneratedOnly => {
                "only lock files, generated and vendored files have changed"
            }
        }
    }
}

/// A change under review, with its author's description and the findings of the previous review.
#[derive(Clone, Debug)]
pub struct ChangeUnderReview {
    pub change_set: ChangeSet,
    /// Empty if it has none.
    pub title: String,
    /// Empty if it has none.
    pub body: String,
    /// Findings of the previous review.
    pub known_findings: Vec<KnownFinding>,
}
