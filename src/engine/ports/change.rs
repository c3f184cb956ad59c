//! Types for reviewing a change that is not merged yet: how the user selects it
//! ([`ChangeSelector`]) and what was found ([`ChangeSet`]).
use super::ground::{Changed, Pinned};
use crate::debate::{BaseTree, KnownFinding};

/// Which change to review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// The uncommitted changes, else those of the branch, else the last commit.
    Here,
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
pub struct Proposal {
    /// One tree with both versions: the new files, and the touched files as they were.
    pub pinned: Pinned,
    /// Folder with the old files in that tree.
    pub was: BaseTree,
    /// Description of what was compared with what.
    pub says: String,
    /// Id of the old tree, `None` if there is none.
    pub old: Option<String>,
    /// Id of the new tree.
    pub new: String,
    /// Ids of the old and the new commit, if they are commits.
    pub commits: (Option<String>, Option<String>),
    pub files: Vec<Changed>,
    /// Set if there is nothing worth a review.
    pub idle: Option<Idle>,
    /// Commit messages, the newest first.
    pub messages: Vec<String>,
    /// The checked out branch.
    pub branch: Option<String>,
    /// Whether the checked out files contain the change.
    pub checked_out: bool,
}

/// Why a change is not reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    Empty,
    Docs,
    /// Only lock files, generated and vendored files have changed.
    Made,
}

impl Idle {
    /// The reason as a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Idle::Empty => "nothing has changed",
            Idle::Docs => "only documents have changed",
            Idle::Made => "only lock files, generated and vendored files have changed",
        }
    }
}

/// A change under review, with its author's description and the findings of the previous review.
#[derive(Clone, Debug)]
pub struct Contribution {
    pub proposal: Proposal,
    /// Empty if it has none.
    pub title: String,
    /// Empty if it has none.
    pub body: String,
    /// Findings of the previous review.
    pub known: Vec<KnownFinding>,
}
