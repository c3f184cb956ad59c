//! Store of pinned trees and snapshots, and the state of a repository that it pins. The operations
//! are in other files: `pin`, `tree_view`, `tree_diff`, `snapshot_cache` and more.
use super::{ExcludedPath, exclusions};
use crate::redact::{Redactor, Secrets};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Store of pinned trees and snapshots below the user's home folder for debates. Cheap to clone.
#[derive(Clone)]
pub struct TreeStore {
    pub(super) home: PathBuf,
    secrets: Option<Secrets>,
}

/// A reproducible state of a repository, identified by its tree id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Tree id, 40 hexadecimal digits.
    pub tree: String,
    /// Id of the last commit. None before the first commit.
    pub commit: Option<String>,
    /// Whether there are uncommitted changes.
    pub dirty: bool,
    /// Changed files whose state on disk is not in the tree.
    pub left_out: Vec<ExcludedPath>,
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

    /// Redactor scoped to one tree. A debate pinned to that tree uses the same scope.
    pub fn redactor(&self, tree: &str) -> Option<Redactor> {
        self.secrets.as_ref().map(|secrets| secrets.redactor(tree))
    }
}

/// Redacts secrets in file contents. A file whose name marks it as secret is redacted strictly:
/// every assigned value goes.
pub(super) fn redact_contents<'b>(
    redactor: Option<&Redactor>,
    path: &str,
    bytes: &'b [u8],
) -> Cow<'b, [u8]> {
    match redactor {
        None => Cow::Borrowed(bytes),
        Some(redactor) if exclusions::is_secret_path(path.as_bytes()) => {
            Cow::Owned(redactor.redact_secret_file(&String::from_utf8_lossy(bytes)).0.into_bytes())
        }
        Some(redactor) => redactor.redact_bytes(bytes).0,
    }
}
