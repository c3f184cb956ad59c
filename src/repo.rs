//! Git access: pins the state of the user's repository as one tree, reads and diffs such trees, and
//! writes read-only copies (snapshots) of them for other programs. Entry point: `TreeStore`. The
//! user's repository is only read. Everything written goes below the user's home folder for
//! debates.
//!
//! | file               | concept                                                               |
//! |--------------------|-----------------------------------------------------------------------|
//! | `tree_store`       | `TreeStore`: home folder and secrets of all operations; `Pin`         |
//! | `pin`              | current state as a tree: last commit plus uncommitted changes         |
//! | `plain_folder`     | listing and pinning folders without a repository                      |
//! | `tree_edits`       | in-memory edits of a tree, written as new tree objects                |
//! | `pinned_change`    | an unmerged change as one tree, with the old versions of its files    |
//! | `apply_patch`      | parses and applies a patch in memory                                  |
//! | `object_store`     | object lookup: the user's repository (read) and our own (written)     |
//! | `snapshot_cache`   | LRU cache of snapshots on disk, with file locks                       |
//! | `snapshot_writer`  | writes one tree into a folder                                         |
//! | `tree_view`        | file list of a pinned tree, and a reader for file contents            |
//! | `diff_range`       | resolves what to compare to an old and a new tree                     |
//! | `tree_diff`        | changed files between two trees                                       |
//! | `tree_delta`       | one path at which two trees differ                                    |
//! | `renames`          | rename detection                                                      |
//! | `numstat`          | added and deleted lines per file                                      |
//! | `myers`            | fast line counts for small diffs                                      |
//! | `attributes`       | the `diff` attribute of `.gitattributes`: text or binary              |
//! | `hunks`            | line diff of one file                                                 |
//! | `history`          | recent commits that changed a file                                    |
//! | `commits_since`    | commits and edits that touched some files since an earlier state      |
//! | `commit_lookup`    | resolves a commit id prefix                                           |
//! | `exclusions`       | excluded paths and reasons; deny-lists: secrets, agent instructions   |
//! | `disk`             | private files and folders, lock files, reads that follow no links     |
//! | `error`            | `RepoError`, with a hint for the user in each message                 |
//! | `test_repo`        | test fixture: a temporary repository, and a fake clock                |
mod apply_patch;
mod attributes;
mod commit_lookup;
mod commits_since;
mod diff_range;
mod disk;
mod error;
mod exclusions;
mod history;
mod hunks;
mod myers;
mod numstat;
mod object_store;
mod pin;
mod pinned_change;
mod plain_folder;
mod renames;
mod snapshot_cache;
mod snapshot_writer;
#[cfg(test)]
pub(crate) mod test_repo;
#[cfg(test)]
mod tests;
mod tree_delta;
mod tree_diff;
mod tree_edits;
mod tree_store;
mod tree_view;

pub use commit_lookup::{CommitLookup, find_commit};
pub use commits_since::{EarlierState, LaterChanges};
pub use diff_range::DiffRange;
pub use error::RepoError;
pub use exclusions::{ExcludedPath, ExclusionReason, exclusion_reason};
pub use history::{CommitSummary, FileHistory};
pub use hunks::{FileDiff, Hunk, HunkLine, map_line_to_new};
pub use numstat::LineCounts;
pub use object_store::toplevel;
pub use pinned_change::{ChangeSource, PinnedChange};
pub use plain_folder::{FolderListing, list_files};
pub use renames::RenameSearch;
pub use snapshot_cache::TreeSnapshot;
pub use tree_diff::{ChangedFile, FileChangeKind, TreeDiff};
pub use tree_store::{Pin, TreeStore};
pub use tree_view::{TreeFile, TreeReader, TreeView};
