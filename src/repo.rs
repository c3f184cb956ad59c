//! What stands in the user's repository, pinned as one tree, and copies of such trees for programs
//! to read. The repository itself is only ever read; whatever has to be written goes below the
//! user's home for debates.
//!
//! | file       | concept                                                              |
//! |------------|----------------------------------------------------------------------|
//! | `pin`      | what stands there now: the last commit and what has changed since    |
//! | `patch`    | a tree with changes applied                                          |
//! | `proposal` | a change that is not merged yet, as one tree                         |
//! | `mailed`   | a change that came as a patch                                        |
//! | `stores`   | the user's objects, which are read, and our own, which are written   |
//! | `shelf`    | the copies that are kept: found, locked, written once, thrown away   |
//! | `copy`     | one tree written into a folder                                       |
//! | `plain`    | folders without a repository                                         |
//! | `view`     | a pinned tree, to be looked into                                     |
//! | `range`    | what is to be compared with what                                     |
//! | `changes`  | what differs between two trees                                       |
//! | `renames`  | which of it was only renamed                                         |
//! | `counts`   | how many lines of it                                                 |
//! | `few`      | how many, where few differ                                           |
//! | `attributes` | whether a repository says that something is text                   |
//! | `hunks`    | which lines of one file                                              |
//! | `history`  | the commits that changed a file                                      |
//! | `since`    | what has happened to a few files since a commit                      |
//! | `commits`  | whether there is a commit                                            |
//! | `absent`   | what is left out because of its name                                 |
//! | `disk`     | private folders, files that are no links, folders that cannot change |
//! | `error`    | what can go wrong, and what to do about it                           |
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

/// Bytes a file may have to be pinned or copied.
const LARGEST: u64 = 1024 * 1024;

/// Where pinned trees and the copies of them are kept.
#[derive(Clone)]
pub struct Trees {
    home: PathBuf,
    secrets: Option<Secrets>,
}

/// Contents without what is secret in them. Of a file that is secret by its name no value is left.
fn cleaned<'b>(gate: Option<&Redactor>, path: &str, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    match gate {
        None => Cow::Borrowed(bytes),
        Some(gate) if absent::secret(path.as_bytes()) => {
            Cow::Owned(gate.strict(&String::from_utf8_lossy(bytes)).0.into_bytes())
        }
        Some(gate) => gate.bytes(bytes).0,
    }
}

/// Something that is not in a pinned tree or in a copy, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path from the root of the repository, as well as it can be shown. A folder ends in `/`.
    pub path: String,
    /// Why it was left out.
    pub why: Why,
}

/// Why something is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Files with such a name hold keys or passwords.
    Secret,
    /// It tells agents what to do, and whoever reads the copy is not to be told.
    Instructions,
    /// It sets agents up: their servers, hooks and permissions.
    Settings,
    /// It is not text.
    Binary,
    /// It has more than 1 MB.
    TooLarge,
    /// It is a link, and may lead anywhere.
    Link,
    /// It is a repository of its own.
    Submodule,
    /// There was no room for it.
    TooMuch,
    /// It cannot be read, or not be written under its name.
    Unreadable,
}

impl Trees {
    /// Keeps them below a folder, which is neither read nor made yet.
    pub fn at(home: &Path) -> Trees {
        Trees { home: home.to_owned(), secrets: None }
    }

    /// Whatever is read of a tree from now on is read without these.
    #[must_use]
    pub fn hiding(self, secrets: Secrets) -> Trees {
        Trees { secrets: Some(secrets), ..self }
    }

    /// The folder they are kept below.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// What is hidden, in a word: what was read with other things hidden is not the same.
    pub fn edition(&self) -> String {
        self.secrets.as_ref().map_or_else(|| "whole".into(), Secrets::edition)
    }

    /// What a commit holds, however it is named.
    pub fn commit(&self, root: &Path, name: &str) -> Result<Pin, RepoError> {
        range::commit(root, name)
    }

    /// What stands in a file on disk, without what is secret in it, or why that cannot be told. The
    /// path is one below the folder; it leads neither out of it nor through links, and not to what
    /// belongs to git. `tree` is what is read with it.
    pub fn on_disk(&self, folder: &Path, path: &str, tree: Option<&str>) -> Result<Vec<u8>, Why> {
        let bytes = plain::on_disk(folder, path)?;
        Ok(cleaned(self.gate(tree.unwrap_or(UNPINNED)).as_ref(), path, &bytes).into_owned())
    }

    /// The gate of one tree: a debate that is pinned to it has the same.
    pub fn gate(&self, tree: &str) -> Option<Redactor> {
        self.secrets.as_ref().map(|secrets| secrets.within(tree))
    }

    /// What stands in the repository now, as one tree: the whole of it, whichever of its folders
    /// `root` is. Where there is none, what stands in the folder itself; None if it is empty, large,
    /// or somebody's home.
    pub fn pin(&self, root: &Path) -> Result<Option<Pin>, RepoError> {
        pin::pin(&self.home, root, &[])
    }

    /// The same without these files, which are about to be written and no part of it.
    pub fn pin_without(&self, root: &Path, files: &[PathBuf]) -> Result<Option<Pin>, RepoError> {
        pin::pin(&self.home, root, files)
    }

    /// A copy of a pinned tree, written once, for programs to read.
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
    /// How many there are of a kind.
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

    /// What is said of it: "`.env` …"
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
