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
mod absent;
mod attributes;
mod changes;
mod commits;
mod copy;
mod counts;
mod disk;
mod error;
mod few;
mod history;
mod hunks;
mod mailed;
mod patch;
mod pin;
mod plain;
mod proposal;
mod range;
mod renames;
mod shelf;
mod since;
mod stores;
mod view;

pub use absent::absent;
pub use changes::{ChangedFile, Changes, How, Lines, Renames};
pub use commits::{Commit, commit};
pub use error::RepoError;
pub use history::{Happened, Past};
pub use hunks::{Hunk, Hunks, Line, line_now};
pub use pin::Pin;
pub use plain::{Listed, list};
pub use proposal::{Asked, Proposal};
pub use range::Range;
pub use shelf::Snapshot;
pub use since::{Earlier, Later, Touched};
pub use stores::top;
pub use view::{File, Reader, View};

use crate::redact::{Redactor, Secrets, UNPINNED};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Maximum size in bytes of a file that is pinned or copied.
const LARGEST: u64 = 1024 * 1024;

/// Store of pinned trees and snapshots below the user's home folder for debates. Cheap to clone.
#[derive(Clone)]
pub struct Trees {
    home: PathBuf,
    secrets: Option<Secrets>,
}

/// Redacts secrets in file contents. A file whose name marks it as secret is redacted strictly:
/// every assigned value goes.
fn cleaned<'b>(gate: Option<&Redactor>, path: &str, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    match gate {
        None => Cow::Borrowed(bytes),
        Some(gate) if absent::secret(path.as_bytes()) => {
            Cow::Owned(gate.strict(&String::from_utf8_lossy(bytes)).0.into_bytes())
        }
        Some(gate) => gate.bytes(bytes).0,
    }
}

/// A path that is not in a pinned tree or snapshot, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Path from the repository root, lossily decoded as UTF-8. A folder ends in `/`.
    pub path: String,
    /// Reason of the exclusion.
    pub why: Why,
}

/// Why a path is excluded from a pinned tree or snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
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

impl Trees {
    /// Creates a store below `home`. Touches no file yet.
    pub fn at(home: &Path) -> Trees {
        Trees { home: home.to_owned(), secrets: None }
    }

    /// Redacts these secrets from everything read through this store.
    #[must_use]
    pub fn hiding(self, secrets: Secrets) -> Trees {
        Trees { secrets: Some(secrets), ..self }
    }

    /// Folder that holds the object store and the snapshot cache.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Fingerprint of the redaction rules, part of every cache key: contents redacted by other
    /// rules must not be reused.
    pub fn edition(&self) -> String {
        self.secrets.as_ref().map_or_else(|| "whole".into(), Secrets::edition)
    }

    /// Pins the tree of a commit, given by any name git resolves.
    pub fn commit(&self, root: &Path, name: &str) -> Result<Pin, RepoError> {
        range::commit(root, name)
    }

    /// Reads a file on disk with secrets redacted, or returns the reason why it cannot be read.
    /// `path` is relative to `folder`. Paths that leave it, pass through a link or point into
    /// `.git` are refused. `tree` selects the redaction scope, so that placeholders equal those of
    /// that tree.
    pub fn on_disk(&self, folder: &Path, path: &str, tree: Option<&str>) -> Result<Vec<u8>, Why> {
        let bytes = plain::on_disk(folder, path)?;
        Ok(cleaned(self.gate(tree.unwrap_or(UNPINNED)).as_ref(), path, &bytes).into_owned())
    }

    /// Redactor scoped to one tree. A debate pinned to that tree uses the same scope.
    pub fn gate(&self, tree: &str) -> Option<Redactor> {
        self.secrets.as_ref().map(|secrets| secrets.within(tree))
    }

    /// Pins the current state of the repository around `root` as one tree, always the whole
    /// repository. Without a repository it pins the folder itself, and returns None if that is
    /// empty, too large or a home folder.
    pub fn pin(&self, root: &Path) -> Result<Option<Pin>, RepoError> {
        pin::pin(&self.home, root, &[])
    }

    /// Like `pin`, but ignores `files`, which the caller is about to write.
    pub fn pin_without(&self, root: &Path, files: &[PathBuf]) -> Result<Option<Pin>, RepoError> {
        pin::pin(&self.home, root, files)
    }

    /// Returns a read-only copy of a pinned tree from the snapshot cache, and writes it on a cache
    /// miss.
    pub fn snapshot(&self, root: &Path, tree: &str) -> Result<Snapshot, RepoError> {
        shelf::snapshot(self, root, tree)
    }
}

impl LeftOut {
    fn new(path: &[u8], why: Why) -> LeftOut {
        LeftOut { path: String::from_utf8_lossy(path).into_owned(), why }
    }
}

impl Why {
    /// Describes how many paths have this reason: "2 are links".
    pub fn counts(self, many: usize) -> String {
        let (one, more) = match self {
            Why::Secret => ("may be a secret", "may be secrets"),
            Why::Instructions => ("instructs agents", "instruct agents"),
            Why::Settings => ("sets agents up", "set agents up"),
            Why::Binary => ("is not text", "are not text"),
            Why::TooLarge => ("is too large", "are too large"),
            Why::Link => ("is a link", "are links"),
            Why::Submodule => ("is another repository", "are other repositories"),
            Why::TooMuch => ("is more than there is room for", "are more than there is room for"),
            Why::Unreadable => ("cannot be read", "cannot be read"),
        };
        format!("{many} {}", if many == 1 { one } else { more })
    }

    /// Predicate for messages: "`.env` may hold a secret, by its name".
    pub fn says(self) -> &'static str {
        match self {
            Why::Secret => "may hold a secret, by its name",
            Why::Instructions => "gives instructions to agents",
            Why::Settings => "holds settings of agents",
            Why::Binary => "is not text",
            Why::TooLarge => "is larger than 1 MB",
            Why::Link => "is a link",
            Why::Submodule => "is a repository of its own",
            Why::TooMuch => "is more than there is room for",
            Why::Unreadable => "cannot be read",
        }
    }
}
