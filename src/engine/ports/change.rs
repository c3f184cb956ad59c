//! A change that is not merged yet, as it is asked for and as it is found.
use super::ground::{Changed, Pinned};
use crate::debate::{Known, Was};

/// Which change is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// Whatever there is: of the working tree, else of the branch, else of the last commit.
    Here,
    /// What is not committed.
    Worktree,
    /// What this branch, with what is not committed, brings since it left the default one.
    Branch,
    /// `BASE..HEAD` or `BASE...HEAD`: what the one would bring to the other.
    Range(String),
    /// What is staged.
    Staged,
    /// A commit against its first parent.
    Commit(String),
    /// What a patch makes of a commit; of the last one, if none is named.
    Patch {
        /// As it was written.
        text: Vec<u8>,
        /// What it applies to.
        base: Option<String>,
    },
}

/// A change that is not merged yet.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// One tree of it: what stands there afterwards, and what it touches as it was before.
    pub pinned: Pinned,
    /// Where in that tree that lies.
    pub was: Was,
    /// What was compared with what, in words.
    pub says: String,
    /// The tree it starts from; none if it starts from nothing.
    pub old: Option<String>,
    /// The tree it leads to.
    pub new: String,
    /// The commits of both, where they are commits.
    pub commits: (Option<String>, Option<String>),
    /// Every file it touches.
    pub files: Vec<Changed>,
    /// Why there is nothing in it to argue about, if there is nothing.
    pub idle: Option<Idle>,
    /// What its commits say of themselves, the latest first.
    pub messages: Vec<String>,
    /// The branch that is checked out, if one is.
    pub branch: Option<String>,
    /// Whether what is checked out has the change in it.
    pub checked_out: bool,
}

/// Why there is nothing to argue about in a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Nothing has changed.
    Empty,
    /// Only documents have.
    Docs,
    /// Only what tools write has: lock files, generated and vendored ones.
    Made,
}

impl Idle {
    /// In a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Idle::Empty => "nothing has changed",
            Idle::Docs => "only documents have changed",
            Idle::Made => "only lock files, generated and vendored files have changed",
        }
    }
}

/// A change, with what is said about it by those who want it merged, and what is known of it.
#[derive(Clone, Debug)]
pub struct Contribution {
    /// What it is.
    pub proposal: Proposal,
    /// Its title; empty if it has none.
    pub title: String,
    /// Its description; empty if it has none.
    pub body: String,
    /// What the review before this one had found.
    pub known: Vec<Known>,
}
