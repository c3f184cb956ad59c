//! Result of building a brief (repository context for the prompts), and its errors.
use crate::repo::{ChangedFile, RepoError};

/// A brief from the repository, and how it was made.
#[derive(Debug, Clone, Default)]
pub struct RepositoryBrief {
    /// Text for the prompts. Empty if nothing was selected.
    pub text: String,
    /// What was picked and why, one line each.
    pub picked: Vec<String>,
    /// Files that are missing in the text or shortened.
    pub left_out: Vec<BriefOmission>,
    /// Paths the brief is about: named and changed files.
    pub touched_paths: Vec<String>,
    /// Estimated tokens of the text.
    pub tokens: usize,
    /// Every changed file, if a diff was requested.
    pub changed_files: Vec<ChangedFile>,
}

/// A file left out of the brief, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BriefOmission {
    pub path: String,
    /// Predicate, as in "is a lock file".
    pub reason: String,
}

/// How much content the readers of the brief need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BriefDetail {
    /// File contents, for models without file access.
    Contents,
    /// Names, line numbers and hunks, for models that can read files.
    Paths,
}

/// Why a brief could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BriefError {
    /// The repository cannot be read, or has no such commit.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// No such file.
    #[error(
        "there is no file `{path}` here: paths are relative to the current folder, or to the root \
         of the repository"
    )]
    FileNotFound {
        /// Path as the user wrote it.
        path: String,
    },
    /// The file exists but must not be shown.
    #[error("`{path}` cannot be given: it {why}")]
    Withheld {
        /// Path as the user wrote it.
        path: String,
        /// Reason, as a predicate.
        why: &'static str,
    },
    /// No path matches the glob pattern.
    #[error("no file matches `{pattern}`: `*` matches a part of a name, `**` any folders")]
    NoMatch { pattern: String },
    /// The requested line range starts after the end of the file.
    #[error("`{path}` has only {lines} lines: choose a range within them")]
    LinesOutOfRange {
        path: String,
        /// Number of lines in the file.
        lines: usize,
    },
}
