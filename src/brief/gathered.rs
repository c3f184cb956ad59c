//! What comes of gathering, and what can keep it from coming.
use crate::repo::{ChangedFile, RepoError};

/// What was gathered.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    /// What debaters are given. Empty if there is nothing to give.
    pub text: String,
    /// What was chosen and why, a line each.
    pub picked: Vec<String>,
    /// What is not in the text, or not all of it.
    pub left_out: Vec<Omitted>,
    /// The paths it is about: those named and those changed.
    pub touched: Vec<String>,
    /// About how many tokens the text has.
    pub tokens: usize,
    /// Every changed file, if changes were asked for.
    pub changed: Vec<ChangedFile>,
}

/// Something that is not in a brief.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Omitted {
    /// Its path.
    pub path: String,
    /// Why: "`Cargo.lock` is a lock file".
    pub why: String,
}

/// Who reads a brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Those who see nothing else: they get what stands in the files.
    Contents,
    /// Those who can read the files themselves: they get names, numbers and hunks.
    Paths,
}

/// Why nothing was gathered.
#[derive(Debug, thiserror::Error)]
pub enum BriefError {
    /// The repository cannot be read, or has no such commits.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// What was named is not there.
    #[error(
        "there is no file `{path}` here: paths are relative to where you are, or to the root of the repository"
    )]
    NoFile {
        /// What was named.
        path: String,
    },
    /// It is there and cannot be given.
    #[error("`{path}` cannot be given: it {why}")]
    Withheld {
        /// What was named.
        path: String,
        /// What about it.
        why: &'static str,
    },
    /// No file is like a pattern.
    #[error("no file is like `{pattern}`: `*` stands for a part of a name, `**` for any folders")]
    NoMatch {
        /// The pattern.
        pattern: String,
    },
    /// A file has fewer lines.
    #[error("`{path}` has {lines} lines: name some of those")]
    Beyond {
        /// Which.
        path: String,
        /// How many it has.
        lines: usize,
    },
}
