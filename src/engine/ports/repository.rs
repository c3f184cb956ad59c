//! Ports to the repository: briefs, which are the repository context in prompts ([`BriefSource`]),
//! citation checks ([`Evidence`]) and snapshots of pinned trees for tools ([`SnapshotProvider`]).
//!
//! Implemented by `brief` and `evidence`. Files are read from a pinned git tree, so that the result
//! of a query never changes. Only a brief can have files from disk: without a pin, or if the user
//! names a file that is not in the tree.
use super::change::{ChangeSelector, ChangeSet, ChangeUnderReview, FileChange};
use super::pinned_tree::PinnedTree;
use crate::debate::{BaseTree, Body, Citation};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Reads the repository: pins trees, gathers briefs and finds changes.
pub trait BriefSource: Send + Sync {
    /// Gathers the requested files and diffs up to the token limit. Empty if nothing is requested.
    fn gather(&self, request: &BriefRequest<'_>) -> Result<GatheredBrief, ContextError>;

    /// Pins the tree of a commit.
    fn pin_commit(&self, root: &Path, commit: &str) -> Result<PinnedTree, ContextError>;

    /// Pins the current files, with uncommitted changes, as a git tree. `None` if there is no
    /// repository.
    fn pin_files(&self, root: &Path) -> Result<Option<PinnedTree>, ContextError>;

    /// Finds the selected change and pins its tree. The files in `ignored` are output files of this
    /// run and are ignored.
    fn find_change_set(
        &self,
        root: &Path,
        selector: &ChangeSelector,
        ignored: &[PathBuf],
    ) -> Result<ChangeSet, ContextError>;

    /// Finds what happened to some files since a debate was opened. The search has a time limit.
    fn changes_since(
        &self,
        root: &Path,
        query: &ChangesSinceQuery<'_>,
    ) -> Result<ChangesSince, ContextError>;
}

/// Query for changes since a debate was opened.
#[derive(Clone, Copy, Debug)]
pub struct ChangesSinceQuery<'a> {
    /// Milliseconds since the Unix epoch.
    pub opened_at: i64,
    /// Last commit at that time, if known.
    pub commit: Option<&'a str>,
    /// Pinned tree at that time, if known.
    pub tree: Option<&'a str>,
    /// Files to look at.
    pub paths: &'a [String],
}

/// What happened to some files since a debate was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangesSince {
    /// Commits that touch one of them, the newest first.
    pub commits: Vec<RelatedCommit>,
    /// Whether the search stopped early, so that there may be more commits.
    pub truncated: bool,
    /// Files with uncommitted changes.
    pub uncommitted: Vec<String>,
    /// Files whose content differs.
    pub changed: Vec<String>,
}

/// A commit that touches some of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedCommit {
    /// Abbreviated id.
    pub id: String,
    /// First line of the message.
    pub subject: String,
    /// Files it touches.
    pub paths: Vec<String>,
}

/// Request for a brief.
#[derive(Clone, Copy, Debug)]
pub struct BriefRequest<'a> {
    pub root: &'a Path,
    /// The pinned tree, if the repository could be read.
    pub pinned: Option<&'a PinnedTree>,
    pub topic: &'a str,
    /// `none`, `auto`, or what the user asked for, in the syntax of `--context`.
    pub selection: &'a str,
    pub readers: BriefReaders,
    /// The change under review, if any.
    pub change: Option<&'a ChangeUnderReview>,
}

/// Whether the participants can read files themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BriefReaders {
    /// All of them can, so the brief needs only names, numbers and hunks.
    ReadFiles,
    /// At least one cannot, so the brief must have the content.
    BriefOnly,
}

/// A brief, and how it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatheredBrief {
    /// Text for the prompts.
    pub text: String,
    /// What was picked, with the reason.
    pub picked: Vec<String>,
    pub left_out: Vec<OmittedFile>,
    /// Paths the brief is about.
    pub touched_paths: Vec<String>,
    /// Every changed file, if changes were requested.
    pub changed_files: Vec<FileChange>,
    /// Estimated number of tokens.
    pub tokens: usize,
    /// Secrets that were redacted, by kind. Empty if there were none.
    pub redacted: String,
}

/// A file left out of a brief, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
#[schemars(rename = "Omitted")]
pub struct OmittedFile {
    pub path: String,
    pub why: String,
}

/// Checks citations against the pinned tree of a debate, so that the result is reproducible.
pub trait Evidence: Send + Sync {
    /// Removes verification marks a model has put on its own citations.
    fn strip_verification_marks(&self, text: &str) -> String;

    /// Extracts the citations of a reply and looks each up in the tree.
    fn check_citations(&self, body: &Body, about: &CitationContext<'_>) -> Vec<Citation>;

    /// As [`Evidence::check_citations`], for any text: a review, a report, another tool's output.
    fn check_text(
        &self,
        text: &str,
        about: &CitationContext<'_>,
    ) -> Result<Vec<Citation>, ContextError>;

    /// Content of a file of the tree, by exact path, with secrets redacted.
    fn read_file(&self, path: &str, context: &CitationContext<'_>) -> Result<String, ContextError> {
        let _ = context;
        Err(ContextError(format!("there is no tree in which to look for `{path}`")))
    }
}

/// Where citations are looked up: the tree, and how ambiguous paths are resolved.
#[derive(Clone, Copy, Debug)]
pub struct CitationContext<'a> {
    pub root: &'a Path,
    /// Id of the pinned tree.
    pub pin: &'a str,
    /// Paths preferred when a citation matches several files.
    pub preferred_paths: &'a [String],
    /// Folder that relative paths start from: empty, or ending in `/`.
    pub base_folder: &'a str,
    /// Path that does not count as evidence, because a text cannot confirm itself.
    pub excluded_path: Option<&'a str>,
    /// The old files of a change, if the tree is that of a change.
    pub base_tree: Option<&'a BaseTree>,
}

/// Makes read-only copies of pinned trees for tools, without secrets.
pub trait SnapshotProvider: Send + Sync {
    /// A snapshot of a pinned tree. It is not deleted while the handle lives.
    fn snapshot(&self, root: &Path, pin: &str) -> Result<SnapshotHandle, ContextError>;
}

/// A snapshot of a pinned tree on disk.
pub struct SnapshotHandle {
    pub folder: PathBuf,
    /// Summary of the files that are not in the copy. Empty if all are.
    pub left_out: String,
    /// Lock that protects it from eviction.
    pub guard: Box<dyn std::any::Any + Send + Sync>,
}

/// Error when the repository could not be read or a query is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ContextError(pub String);
