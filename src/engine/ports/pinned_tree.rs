//! [`PinnedTree`]: the git tree that a debate reads.

/// A pinned git tree of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedTree {
    /// Id of the tree.
    pub tree: String,
    /// Last commit, if there is one.
    pub commit: Option<String>,
    /// Whether it has uncommitted changes.
    pub dirty: bool,
    /// Summary of the files that are not in the tree. Empty if all are.
    pub left_out: String,
}
