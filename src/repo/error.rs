//! What can go wrong between us, the user's repository and the disk, and what to do about it.
use super::plain;
use std::io;
use std::path::{Path, PathBuf};

/// Why nothing was pinned, or no copy made.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// The repository belongs to another user of this machine.
    #[error(
        "the repository `{}` belongs to somebody else: if you trust it, run `git config --global \
         --add safe.directory {}`",
        .path.display(),
        .path.display()
    )]
    Owner {
        /// Its folder.
        path: PathBuf,
    },
    /// The repository says that its files are somewhere else.
    #[error(
        "the repository `{}` keeps its files in another folder (`core.worktree`): go there",
        .path.display()
    )]
    Elsewhere {
        /// Where its `.git` is.
        path: PathBuf,
    },
    /// The repository cannot be read.
    #[error(
        "the repository `{}` cannot be read: {says} (`git status` may say more)",
        .path.display()
    )]
    Broken {
        /// Its folder.
        path: PathBuf,
        /// What was wrong with it.
        says: String,
    },
    /// The repository is laid out in a way that cannot be read here.
    #[error("the repository `{}` is laid out in a way that cannot be read here: {says}", .path.display())]
    Unsupported {
        /// Its folder.
        path: PathBuf,
        /// What it asks for.
        says: String,
    },
    /// Our own store of pinned trees cannot be used.
    #[error(
        "the store of pinned trees `{}` cannot be used: {says} (delete it, and what is pinned \
         from now on is kept again)",
        .path.display()
    )]
    Store {
        /// Its folder.
        path: PathBuf,
        /// What was wrong with it.
        says: String,
    },
    /// The objects of a tree are not all there any more.
    #[error(
        "the tree {tree} is not all there any more, neither in the repository nor among the \
         pinned ones: open a new debate about what stands there now"
    )]
    Gone {
        /// Its id.
        tree: String,
    },
    /// What was given is not the id of a tree.
    #[error("`{given}` is not the id of a tree: give the 40 digits a pin has")]
    NoId {
        /// What was given.
        given: String,
    },
    /// There is no repository.
    #[error("`{}` is in no git repository, so there are no changes and no history: name files", .path.display())]
    NoRepository {
        /// The folder.
        path: PathBuf,
    },
    /// The repository has no files.
    #[error(
        "`{}` is a bare repository, which has no files to talk about: use a clone or a worktree of it",
        .path.display()
    )]
    Bare {
        /// Its folder.
        path: PathBuf,
    },
    /// No commit is called that.
    #[error(
        "there is no commit `{given}` here: give an id, a branch or a tag (`git log` shows them)"
    )]
    NoRevision {
        /// What was given.
        given: String,
    },
    /// The default branch cannot be told.
    #[error(
        "the repository `{}` has no `origin/HEAD` and no branch `{names}`: write `diff=BASE...HEAD`",
        .path.display()
    )]
    NoDefault {
        /// Its folder.
        path: PathBuf,
        /// The names that were tried.
        names: String,
    },
    /// A patch cannot be read, or does not fit.
    #[error(
        "the patch does not apply to {onto}: {says} (make it with `git diff --binary`, or name what it was made from with `--base`)"
    )]
    Patch {
        /// What it was to be applied to.
        onto: String,
        /// What was wrong with it.
        says: String,
    },
    /// Two commits have nothing in common.
    #[error("`{one}` and `{other}` have no commit in common: write `diff={one}..{other}`")]
    Strangers {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// The repository was cloned without its past.
    #[error(
        "{missing} is not in this shallow clone: run `git fetch --unshallow`, or, in a workflow, \
         check out with `fetch-depth: 0`"
    )]
    Shallow {
        /// What was looked for.
        missing: String,
    },
    /// A file or folder of ours cannot be read or written.
    #[error("`{}`: {error} (see that it can be written and that the disk is not full)", .path.display())]
    Disk {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl RepoError {
    /// What libgit2 says of the user's repository.
    pub(super) fn broken(path: &Path, error: &git2::Error) -> RepoError {
        let path = path.to_owned();
        if error.code() == git2::ErrorCode::Owner {
            return RepoError::Owner { path };
        }
        let says = error.message().to_owned();
        if ["unsupported", "unknown"].iter().any(|word| says.contains(word)) {
            return RepoError::Unsupported { path, says };
        }
        RepoError::Broken { path, says }
    }

    /// There are no changes and no past where there is no repository.
    pub(super) fn no_repository(path: &Path) -> RepoError {
        let path = path.to_owned();
        if plain::bare(&path) { RepoError::Bare { path } } else { RepoError::NoRepository { path } }
    }

    /// No commit is called that.
    pub(super) fn no_revision(given: &str) -> RepoError {
        RepoError::NoRevision { given: given.to_owned() }
    }

    /// What libgit2 says of our own.
    pub(super) fn store(path: &Path, error: &git2::Error) -> RepoError {
        RepoError::Store { path: path.to_owned(), says: error.message().to_owned() }
    }

    /// What the system says of a path of ours.
    pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> RepoError {
        let path = path.to_owned();
        |error| RepoError::Disk { path, error }
    }
}
