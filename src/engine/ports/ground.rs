//! What a debate stands on: what debaters are given, and what they say held against it.
use super::change::{Contribution, Meant, Proposal};
use crate::debate::{Body, Citation, Was};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Gathers what debaters are given besides the topic.
pub trait Briefs: Send + Sync {
    /// What was asked for, as far as it fits; nothing, if nothing was.
    fn gather(&self, context: &Context<'_>) -> Result<Gathered, BadContext>;

    /// What a commit holds.
    fn commit(&self, root: &Path, commit: &str) -> Result<Pinned, BadContext>;

    /// What stands in a repository now, as one tree with a name; none where there is no repository.
    fn pin(&self, root: &Path) -> Result<Option<Pinned>, BadContext>;

    /// A change that is not merged yet: what it is, and one tree of it. Files that are about to be
    /// written are no part of it.
    fn proposal(
        &self,
        root: &Path,
        meant: &Meant,
        without: &[PathBuf],
    ) -> Result<Proposal, BadContext>;

    /// What has happened in a repository to a few files since a debate was opened on it, as far as
    /// that can be found out soon.
    fn since(&self, root: &Path, asked: &Before<'_>) -> Result<Since, BadContext>;
}

/// How a repository was when a debate was opened on it.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Milliseconds since 1970.
    pub opened_at: i64,
    /// The last commit then, if that is known.
    pub commit: Option<&'a str>,
    /// The tree, if that is known.
    pub tree: Option<&'a str>,
    /// The files that are asked about.
    pub paths: &'a [String],
}

/// What has happened to a few files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// The commits that changed one of them, the latest first.
    pub commits: Vec<Touching>,
    /// Whether there may be more of them.
    pub more: bool,
    /// Those with changes that are in no commit.
    pub uncommitted: Vec<String>,
    /// Those that are not what they were.
    pub changed: Vec<String>,
}

/// A commit that changed some of the files that were asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touching {
    /// The first digits of its id.
    pub id: String,
    /// Its first line.
    pub subject: String,
    /// Which of them.
    pub paths: Vec<String>,
}

/// What is to be gathered.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The repository it is about.
    pub root: &'a Path,
    /// What stands in it, if it could be read.
    pub pinned: Option<&'a Pinned>,
    /// The question.
    pub topic: &'a str,
    /// `none`, `auto`, or what is wanted, in the user's words.
    pub wanted: &'a str,
    /// Who is to read it.
    pub readers: Readers,
    /// The change it is about, if it is about one.
    pub change: Option<&'a Contribution>,
}

/// Who reads a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Everyone can look into the files.
    OfFiles,
    /// Someone knows no more than stands in the brief.
    OfTheBrief,
}

/// What was gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// What debaters are given.
    pub text: String,
    /// What was picked, and why.
    pub picked: Vec<String>,
    /// What was left out, and why.
    pub left_out: Vec<Omitted>,
    /// The paths it is about.
    pub touched: Vec<String>,
    /// Every changed file, if changes were asked for.
    pub changed: Vec<Changed>,
    /// What the text comes to, about.
    pub tokens: usize,
    /// What secrets were taken out of it, by kind; nothing, if there were none.
    pub removed: String,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    /// As it is called now.
    pub path: String,
    /// As it was called, if that has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Lines; none if it is not text, or was not counted.
    pub added: Option<u64>,
    /// Lines; none if it is not text, or was not counted.
    pub deleted: Option<u64>,
}

/// Something that is not in a brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "they say it")]
pub struct Omitted {
    pub path: String,
    pub why: String,
}

/// Looks up what is cited. By the tree a debate is pinned to, so that the answer is the same
/// whenever it is asked.
pub trait Evidence: Send + Sync {
    /// A reply without the marks by which its writer pretends that something was looked up.
    fn unmarked(&self, text: &str) -> String;

    /// Every citation of a reply, with what looking it up came to.
    fn citations(&self, body: &Body, about: &About<'_>) -> Vec<Citation>;

    /// The same for any text: a review, a report, another tool's answer.
    fn look_up(&self, text: &str, about: &About<'_>) -> Result<Vec<Citation>, BadContext>;

    /// What stands in a file of the tree, by its exact path, without what is secret in it.
    fn file(&self, path: &str, about: &About<'_>) -> Result<String, BadContext> {
        let _ = about;
        Err(BadContext(format!("there is no tree in which to look for `{path}`")))
    }
}

/// What a debate is about, for looking things up in it.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The repository.
    pub root: &'a Path,
    /// The tree it is pinned to.
    pub pin: &'a str,
    /// Where a citation could mean several files, one of these is meant.
    pub touched: &'a [String],
    /// Where whoever wrote it stands, below the root: empty, or ending in `/`.
    pub folder: &'a str,
    /// A path that is no evidence: what is checked cannot vouch for itself.
    pub except: Option<&'a str>,
    /// What a change touches as it was before, if the tree is that of a change.
    pub was: Option<&'a Was>,
}

/// What stood in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// The name of the tree.
    pub tree: String,
    /// The last commit, if there is one.
    pub commit: Option<String>,
    /// Whether something has changed since.
    pub dirty: bool,
    /// What stands there and is not in it, in a few words; nothing, if all of it is.
    pub left_out: String,
}

/// Gives tools something to read that does not change and holds nothing they must not read.
pub trait Snapshots: Send + Sync {
    /// A copy of a pinned tree. It stays for as long as it is held.
    fn snapshot(&self, root: &Path, pin: &str) -> Result<Snapshot, BadContext>;
}

/// A copy of a pinned tree.
pub struct Snapshot {
    /// Where it is.
    pub folder: PathBuf,
    /// What is not in it, in a few words; nothing, if all of it is.
    pub left_out: String,
    /// Keeps it there.
    pub hold: Box<dyn std::any::Any + Send + Sync>,
}

/// Why there is no brief.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadContext(pub String);
