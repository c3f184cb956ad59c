//! Error type of this module. Each message says what failed and what the user can do. The main type
//! is [`RepoError`]. `brief` and `evidence` pass its message on to the engine as a `ContextError`.
use super::disk;
use std::io;
use std::path::{Path, PathBuf};

/// Why a repository operation failed.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// The repository belongs to another user of this machine (git's `safe.directory` check).
    #[error(
        "the repository `{}` belongs to another user: if you trust it, run `git config --global \
         --add safe.directory {}`",
        .path.display(),
        .path.display()
    )]
    NotOwned {
        /// Top folder of the repository.
        path: PathBuf,
    },
    /// The config sets `core.worktree` to another folder.
    #[error(
        "the repository `{}` keeps its files in another folder (`core.worktree`): run this in \
         that folder",
        .path.display()
    )]
    WorktreeElsewhere {
        /// Folder of its `.git`.
        path: PathBuf,
    },
    /// libgit2 cannot read the repository.
    #[error(
        "the repository `{}` cannot be read: {says} (`git status` may say more)",
        .path.display()
    )]
    Unreadable {
        /// Top folder of the repository.
        path: PathBuf,
        /// Error message of libgit2.
        says: String,
    },
    /// The repository uses a format or extension that libgit2 does not support.
    #[error(
        "the repository `{}` uses a git format that is not supported here: {says}",
        .path.display()
    )]
    Unsupported {
        /// Top folder of the repository.
        path: PathBuf,
        /// Error message of libgit2.
        says: String,
    },
    /// Our own object store for pinned trees cannot be used.
    #[error(
        "the store of pinned trees `{}` cannot be used: {says} (delete this folder: the next \
         debate creates it again)",
        .path.display()
    )]
    OwnStore {
        /// Folder of the store.
        path: PathBuf,
        /// Error message of libgit2.
        says: String,
    },
    /// Objects of a tree are missing from both object stores.
    #[error(
        "the tree {tree} is no longer complete, neither in the repository nor in the store of \
         pinned trees: start a new debate about the current state"
    )]
    TreeMissing {
        /// Id of the tree.
        tree: String,
    },
    /// The value is not a valid tree id.
    #[error("`{given}` is not a tree id: give the 40 hexadecimal digits of a pin")]
    InvalidTreeId {
        /// Value as given by the caller.
        given: String,
    },
    /// The folder is not in a git repository.
    #[error(
        "`{}` is in no git repository, so there are no changes and no history: name files",
        .path.display()
    )]
    NoRepository {
        /// Folder that was searched.
        path: PathBuf,
    },
    /// The repository is bare: it has no working tree.
    #[error(
        "`{}` is a bare repository, which has no working tree: use a clone or a worktree of it",
        .path.display()
    )]
    Bare {
        /// Folder of the repository.
        path: PathBuf,
    },
    /// The name resolves to no commit.
    #[error(
        "there is no commit `{given}` here: give an id, a branch or a tag (`git log` shows them)"
    )]
    UnknownRevision {
        /// Name as given by the user.
        given: String,
    },
    /// The default branch cannot be determined.
    #[error(
        "the repository `{}` has no `origin/HEAD` and no branch `{names}`: write \
         `diff=BASE...HEAD`",
        .path.display()
    )]
    NoDefaultBranch {
        /// Top folder of the repository.
        path: PathBuf,
        /// Branch names that were tried.
        names: String,
    },
    /// A patch cannot be parsed or does not apply.
    #[error(
        "the patch does not apply to {onto}: {says} (create it with `git diff --binary`, or name \
         the commit it was made from with `--base`)"
    )]
    PatchFailed {
        /// Commit it was applied to.
        onto: String,
        /// Error message of libgit2, or the limit that was exceeded.
        says: String,
    },
    /// Two commits have no merge base.
    #[error("`{one}` and `{other}` have no commit in common: write `diff={one}..{other}`")]
    NoMergeBase {
        /// Name of the first commit.
        one: String,
        /// Name of the second commit.
        other: String,
    },
    /// A shallow clone lacks a commit that is needed.
    #[error(
        "{missing} is not in this shallow clone: run `git fetch --unshallow`, or, in a workflow, \
         check out with `fetch-depth: 0`"
    )]
    Shallow {
        /// Description of the missing commit.
        missing: String,
    },
    /// I/O error on a file or folder of ours.
    #[error(
        "`{}`: {error} (check that it is writable and that the disk is not full)",
        .path.display()
    )]
    Io {
        /// File or folder that failed.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
}

impl RepoError {
    /// Converts a libgit2 error about the user's repository.
    pub(super) fn from_git(path: &Path, error: &git2::Error) -> RepoError {
        let path = path.to_owned();
        if error.code() == git2::ErrorCode::Owner {
            return RepoError::NotOwned { path };
        }
        let says = error.message().to_owned();
        if ["unsupported", "unknown"].iter().any(|word| says.contains(word)) {
            return RepoError::Unsupported { path, says };
        }
        RepoError::Unreadable { path, says }
    }

    /// Error for a folder outside any repository, or for a bare repository.
    pub(super) fn no_repository(path: &Path) -> RepoError {
        let path = path.to_owned();
        if disk::is_bare_repository(&path) {
            RepoError::Bare { path }
        } else {
            RepoError::NoRepository { path }
        }
    }

    /// Error for a name that resolves to no commit.
    pub(super) fn unknown_revision(given: &str) -> RepoError {
        RepoError::UnknownRevision { given: given.to_owned() }
    }

    /// Converts a libgit2 error about our own object store.
    pub(super) fn from_own_store(path: &Path, error: &git2::Error) -> RepoError {
        RepoError::OwnStore { path: path.to_owned(), says: error.message().to_owned() }
    }

    /// Returns a closure that adds the path to an I/O error.
    pub(super) fn io_at(path: &Path) -> impl FnOnce(io::Error) -> RepoError {
        let path = path.to_owned();
        |error| RepoError::Io { path, error }
    }
}
