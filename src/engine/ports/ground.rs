//! Ports to the repository: briefs ([`BriefSource`]), citation checks ([`Evidence`]) and snapshots
//! of pinned trees for tools ([`SnapshotProvider`]).
//!
//! Implemented by `brief`, `evidence` and `repo`. Everything is read from a pinned git tree, so
//! that the result of a query never changes.
use super::change::{Contribution, Meant, Proposal};
use crate::debate::{BaseTree, Body, Citation};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Reads the repository: pins trees, gathers briefs and finds changes.
pub trait Briefs: Send + Sync {
    /// Gathers the requested files and diffs up to the token limit. Empty if nothing is requested.
    fn gather(&self, context: &Context<'_>) -> Result<Gathered, BadContext>;

    /// Pins the tree of a commit.
    fn commit(&self, root: &Path, commit: &str) -> Result<Pinned, BadContext>;

    /// Pins the current files, with uncommitted changes, as a git tree. `None` if there is no
    /// repository.
    fn pin(&self, root: &Path) -> Result<Option<Pinned>, BadContext>;

    /// Finds the selected change and pins its tree. The files in `without` are output files of this
    /// run and are ignored.
    fn proposal(
        &self,
        root: &Path,
        meant: &Meant,
        without: &[PathBuf],
    ) -> Result<Proposal, BadContext>;

    /// Finds what happened to some files since a debate was opened. The search has a time limit.
    fn since(&self, root: &Path, asked: &Before<'_>) -> Result<Since, BadContext>;
}

/// Query for changes since a debate was opened.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
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
pub struct Since {
    /// Commits that touch one of them, the newest first.
    pub commits: Vec<Touching>,
    /// Whether the search stopped early, so that there may be more commits.
    pub more: bool,
    /// Files with uncommitted changes.
    pub uncommitted: Vec<String>,
    /// Files whose content differs.
    pub changed: Vec<String>,
}

/// A commit that touches some of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touching {
    /// Abbreviated id.
    pub id: String,
    /// First line of the message.
    pub subject: String,
    /// Files it touches.
    pub paths: Vec<String>,
}

/// Request for a brief.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub root: &'a Path,
    /// The pinned tree, if the repository could be read.
    pub pinned: Option<&'a Pinned>,
    pub topic: &'a str,
    /// `none`, `auto`, or what the user asked for, in the syntax of `--context`.
    pub wanted: &'a str,
    pub readers: Readers,
    /// The change under review, if any.
    pub change: Option<&'a Contribution>,
}

/// Whether the participants can read files themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// All of them can, so the brief needs only names, numbers and hunks.
    OfFiles,
    /// At least one cannot, so the brief must have the content.
    OfTheBrief,
}

/// A brief, and how it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Text for the prompts.
    pub text: String,
    /// What was picked, with the reason.
    pub picked: Vec<String>,
    pub left_out: Vec<Omitted>,
    /// Paths the brief is about.
    pub touched: Vec<String>,
    /// Every changed file, if changes were requested.
    pub changed: Vec<Changed>,
    /// Estimated number of tokens.
    pub tokens: usize,
    /// Secrets that were redacted, by kind. Empty if there were none.
    pub removed: String,
}

/// A changed file with its line counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Changed")]
pub struct Changed {
    /// Current path.
    pub path: String,
    /// Old path, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Added lines, absent if binary or not counted.
    pub added: Option<u64>,
    /// Deleted lines, absent if binary or not counted.
    pub deleted: Option<u64>,
}

/// A file left out of a brief, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "they say it")]
#[schemars(rename = "Omitted")]
pub struct Omitted {
    pub path: String,
    pub why: String,
}

/// Checks citations against the pinned tree of a debate, so that the result is reproducible.
pub trait Evidence: Send + Sync {
    /// Removes verification marks a model has put on its own citations.
    fn unmarked(&self, text: &str) -> String;

    /// Extracts the citations of a reply and looks each up in the tree.
    fn citations(&self, body: &Body, about: &About<'_>) -> Vec<Citation>;

    /// As [`Evidence::check_citations`], for any text: a review, a report, another tool's output.
    fn look_up(&self, text: &str, about: &About<'_>) -> Result<Vec<Citation>, BadContext>;

    /// Content of a file of the tree, by exact path, with secrets redacted.
    fn file(&self, path: &str, about: &About<'_>) -> Result<String, BadContext> {
        let _ = about;
        Err(BadContext(format!("there is no tree in which to look for `{path}`")))
    }
}

/// Where citations are looked up: the tree, and how ambiguous paths are resolved.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub root: &'a Path,
    /// Id of the pinned tree.
    pub pin: &'a str,
    /// Paths preferred when a citation matches several files.
    pub touched: &'a [String],
    /// Folder that relative paths start from: empty, or ending in `/`.
    pub folder: &'a str,
    /// Path that does not count as evidence, because a text cannot confirm itself.
    pub except: Option<&'a str>,
    /// The old files of a change, if the tree is that of a change.
    pub was: Option<&'a BaseTree>,
}

/// A pinned git tree of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// Id of the tree.
    pub tree: String,
    /// Last commit, if there is one.
    pub commit: Option<String>,
    /// Whether it has uncommitted changes.
    pub dirty: bool,
    /// Summary of the files that are not in the tree. Empty if all are.
    pub left_out: String,
}

/// Makes read-only copies of pinned trees for tools, without secrets.
pub trait Snapshots: Send + Sync {
    /// A snapshot of a pinned tree. It is not deleted while the handle lives.
    fn snapshot(&self, root: &Path, pin: &str) -> Result<Snapshot, BadContext>;
}

/// A snapshot of a pinned tree on disk.
pub struct Snapshot {
    pub folder: PathBuf,
    /// Summary of the files that are not in the copy. Empty if all are.
    pub left_out: String,
    /// Lock that protects it from eviction.
    pub hold: Box<dyn std::any::Any + Send + Sync>,
}

/// Error when the repository could not be read or a query is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadContext(pub String);
