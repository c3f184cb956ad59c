//! Git access: pins the state of the user's repository as one tree, reads and diffs such trees, and
//! writes read-only copies (snapshots) of them for other programs. Entry point: `TreeStore`. The
//! user's repository is only read. Everything written goes below the user's home folder for
//! debates.
//!
//! | file               | concept                                                               |
//! |--------------------|-----------------------------------------------------------------------|
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
//! | `renames`          | rename detection                                                      |
//! | `numstat`          | added and deleted lines per file                                      |
//! | `myers`            | fast line counts for small diffs                                      |
//! | `attributes`       | the `diff` attribute of `.gitattributes`: text or binary              |
//! | `hunks`            | line diff of one file                                                 |
//! | `history`          | recent commits that changed a file                                    |
//! | `commits_since`    | commits and edits that touched some files since an earlier state      |
//! | `commit_lookup`    | resolves a commit id prefix                                           |
//! | `exclusions`       | deny-lists of paths: secrets, agent instructions, unsafe names        |
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
mod tree_diff;
mod tree_edits;
mod tree_view;

pub use commit_lookup::{CommitLookup, find_commit};
pub use commits_since::{EarlierState, LaterChanges, TouchingCommit};
pub use diff_range::DiffRange;
pub use error::RepoError;
pub use exclusions::exclusion_reason;
pub use history::{CommitSummary, FileHistory};
pub use hunks::{FileDiff, Hunk, HunkLine, map_line_to_new};
pub use object_store::toplevel;
pub use pin::Pin;
pub use pinned_change::{ChangeSource, PinnedChange};
pub use plain_folder::{FolderListing, list_files};
pub use snapshot_cache::TreeSnapshot;
pub use tree_diff::{ChangedFile, FileChangeKind, LineCounts, RenameSearch, TreeDiff};
pub use tree_view::{TreeFile, TreeReader, TreeView};

use crate::redact::{Redactor, Secrets, UNPINNED_SCOPE};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Maximum size in bytes of a file that is pinned or copied.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Path length in bytes at which walks over a tree stop, because a malicious tree can nest without
/// end.
const MAX_TREE_PATH_BYTES: usize = 4_096;

/// Store of pinned trees and snapshots below the user's home folder for debates. Cheap to clone.
#[derive(Clone)]
pub struct TreeStore {
    home: PathBuf,
    secrets: Option<Secrets>,
}

/// Redacts secrets in file contents. A file whose name marks it as secret is redacted strictly:
/// every assigned value goes.
fn redact_contents<'b>(redactor: Option<&Redactor>, path: &str, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    match redactor {
        None => Cow::Borrowed(bytes),
        Some(redactor) if exclusions::is_secret_path(path.as_bytes()) => {
            Cow::Owned(redactor.redact_secret_file(&String::from_utf8_lossy(bytes)).0.into_bytes())
        }
        Some(redactor) => redactor.redact_bytes(bytes).0,
    }
}

/// A path that is not in a pinned tree or snapshot, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedPath {
    /// Path from the repository root, lossily decoded as UTF-8. A folder ends in `/`.
    pub path: String,
    /// Reason of the exclusion.
    pub why: ExclusionReason,
}

/// Why a path is excluded from a pinned tree or snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExclusionReason {
    /// The name matches a pattern for files with keys or passwords.
    Secret,
    /// The file instructs agents (a prompt such as `AGENTS.md`), which must not reach the reader.
    Instructions,
    /// Agent config: MCP servers, hooks, permissions.
    Settings,
    /// The contents are not text.
    Binary,
    /// The file is larger than 1 MB.
    TooLarge,
    /// A symbolic link, which could lead anywhere.
    Link,
    /// A nested git repository.
    Submodule,
    /// A limit on files or bytes was reached.
    TooMuch,
    /// The file cannot be read, or its name is not valid on this system.
    Unreadable,
}

impl TreeStore {
    /// Creates a store below `home`. Touches no file yet.
    pub fn new(home: &Path) -> TreeStore {
        TreeStore { home: home.to_owned(), secrets: None }
    }

    /// Redacts these secrets from everything read through this store.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> TreeStore {
        TreeStore { secrets: Some(secrets), ..self }
    }

    /// Folder that holds the object store and the snapshot cache.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Fingerprint of the redaction rules, part of every cache key: contents redacted by other
    /// rules must not be reused.
    pub fn redaction_fingerprint(&self) -> String {
        self.secrets.as_ref().map_or_else(|| "whole".into(), Secrets::redaction_fingerprint)
    }

    /// Pins the tree of a commit, given by any name git resolves.
    pub fn pin_commit(&self, root: &Path, name: &str) -> Result<Pin, RepoError> {
        diff_range::pin_commit(root, name)
    }

    /// Reads a file on disk with secrets redacted, or returns the reason why it cannot be read.
    /// `path` is relative to `folder`. Paths that leave it, pass through a link or point into
    /// `.git` are refused. `tree` selects the redaction scope, so that placeholders equal those of
    /// that tree.
    pub fn read_from_disk(
        &self,
        folder: &Path,
        path: &str,
        tree: Option<&str>,
    ) -> Result<Vec<u8>, ExclusionReason> {
        let bytes = plain_folder::read_plain_file(folder, path)?;
        Ok(redact_contents(self.redactor(tree.unwrap_or(UNPINNED_SCOPE)).as_ref(), path, &bytes)
            .into_owned())
    }

    /// Redactor scoped to one tree. A debate pinned to that tree uses the same scope.
    pub fn redactor(&self, tree: &str) -> Option<Redactor> {
        self.secrets.as_ref().map(|secrets| secrets.redactor(tree))
    }

    /// Pins the current state of the repository around `root` as one tree, always the whole
    /// repository. Without a repository it pins the folder itself, and returns None if that is
    /// empty, too large or a home folder.
    pub fn pin(&self, root: &Path) -> Result<Option<Pin>, RepoError> {
        pin::pin_repository(&self.home, root, &[])
    }

    /// Like `pin`, but ignores `files`, which the caller is about to write.
    pub fn pin_without(&self, root: &Path, files: &[PathBuf]) -> Result<Option<Pin>, RepoError> {
        pin::pin_repository(&self.home, root, files)
    }

    /// Returns a read-only copy of a pinned tree from the snapshot cache, and writes it on a cache
    /// miss.
    pub fn snapshot(&self, root: &Path, tree: &str) -> Result<TreeSnapshot, RepoError> {
        snapshot_cache::open_snapshot(self, root, tree)
    }
}

impl ExcludedPath {
    fn new(path: &[u8], why: ExclusionReason) -> ExcludedPath {
        ExcludedPath { path: String::from_utf8_lossy(path).into_owned(), why }
    }
}

impl ExclusionReason {
    /// Describes how many paths have this reason: "2 are links".
    pub fn describe_count(self, count: usize) -> String {
        let (singular, plural) = match self {
            ExclusionReason::Secret => ("may be a secret", "may be secrets"),
            ExclusionReason::Instructions => ("instructs agents", "instruct agents"),
            ExclusionReason::Settings => ("sets agents up", "set agents up"),
            ExclusionReason::Binary => ("is not text", "are not text"),
            ExclusionReason::TooLarge => ("is too large", "are too large"),
            ExclusionReason::Link => ("is a link", "are links"),
            ExclusionReason::Submodule => ("is another repository", "are other repositories"),
            ExclusionReason::TooMuch => {
                ("is more than there is room for", "are more than there is room for")
            }
            ExclusionReason::Unreadable => ("cannot be read", "cannot be read"),
        };
        format!("{count} {}", if count == 1 { singular } else { plural })
    }

    /// Predicate for messages: "`.env` may hold a secret, by its name".
    pub fn describe(self) -> &'static str {
        match self {
            ExclusionReason::Secret => "may hold a secret, by its name",
            ExclusionReason::Instructions => "gives instructions to agents",
            ExclusionReason::Settings => "holds settings of agents",
            ExclusionReason::Binary => "is not text",
            ExclusionReason::TooLarge => "is larger than 1 MB",
            ExclusionReason::Link => "is a link",
            ExclusionReason::Submodule => "is a repository of its own",
            ExclusionReason::TooMuch => "is more than there is room for",
            ExclusionReason::Unreadable => "cannot be read",
        }
    }
}
