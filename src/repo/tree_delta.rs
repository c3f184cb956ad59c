//! One path at which two trees differ, before renames are detected and lines are counted.
use git2::Oid;

/// Id and file mode of a tree entry other than a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct DiffEntry {
    pub(super) id: Oid,
    pub(super) mode: i32,
}

/// One path at which two trees differ, before lines are counted.
pub(super) struct TreeDelta {
    pub(super) path: Vec<u8>,
    /// Path in the old tree, if it differs.
    pub(super) old_path: Option<Vec<u8>>,
    pub(super) old: Option<DiffEntry>,
    pub(super) new: Option<DiffEntry>,
}

impl DiffEntry {
    pub(super) fn is_file(self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    pub(super) fn is_submodule(self) -> bool {
        self.mode & 0o170_000 == 0o160_000
    }
}
