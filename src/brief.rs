//! What debaters are given besides the topic, read from the repository and from nowhere else.
//!
//! | file      | concept                                                        |
//! |-----------|----------------------------------------------------------------|
//! | `wanted`  | what is wanted, as users write it                              |
//! | `gather`  | each wish becomes pieces, and what was chosen is said          |
//! | `auto`    | what a topic asks for of itself                                |
//! | `gathered` | what comes of it                                              |
//! | `ground`  | where contents come from: the pinned tree, or the disk         |
//! | `topic`   | what a topic speaks of, by its words                           |
//! | `symbols` | where something is defined: a search that ends in time         |
//! | `files`   | one file: whole, some lines of it, or its outline              |
//! | `outline` | headings, signatures, guards                                   |
//! | `tree`    | files with their sizes, folders summed up                      |
//! | `review`  | a diff: all that changed by name, and hunks to choose from     |
//! | `risk`    | how much a hunk is worth reading                               |
//! | `kind`    | what sort of file something is                                 |
//! | `pack`    | what fits into the budget                                      |
//! | `compose` | the brief itself                                               |
//! | `page`    | numbered lines, cut where they are long, and counted           |
mod auto;
mod compose;
mod files;
mod gather;
mod gathered;
mod ground;
mod kind;
mod outline;
mod pack;
mod page;
mod review;
mod risk;
mod symbols;
mod topic;
mod tree;
mod wanted;

pub use gather::gather;
pub use gathered::{BriefError, Gathered, Given, Omitted};
pub use wanted::{BadWish, Wanted};

use crate::engine::{BadContext, Briefs, Pinned, Snapshot, Snapshots};
use crate::repo::{LeftOut, RepoError, Trees, Why, absent};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads from one repository.
pub struct FromRepository {
    /// Nothing outside it is read.
    pub root: PathBuf,
    /// What paths are relative to.
    pub folder: PathBuf,
    /// Where what stands in it is kept.
    pub trees: Trees,
}

impl Briefs for FromRepository {
    fn brief(&self, wanted: &str) -> Result<String, BadContext> {
        match wanted.split_once('=') {
            None if wanted == "none" => Ok(String::new()),
            Some(("file", path)) => self.file(path).map_err(BadContext),
            _ => Err(BadContext(format!("context `{wanted}` is not known"))),
        }
    }

    fn pin(&self, root: &Path) -> Result<Option<Pinned>, BadContext> {
        let pin = self.trees.pin(root).map_err(|error| unreadable(&error))?;
        Ok(pin.map(|pin| Pinned { left_out: counted(&pin.left_out), tree: pin.tree }))
    }
}

impl Snapshots for FromRepository {
    fn snapshot(&self, root: &Path, pin: &str) -> Result<Snapshot, BadContext> {
        let copy = self.trees.snapshot(root, pin).map_err(|error| unreadable(&error))?;
        let (folder, left_out) = (copy.folder.clone(), counted(&copy.left_out));
        Ok(Snapshot { folder, left_out, hold: Box::new(copy) })
    }
}

fn unreadable(error: &RepoError) -> BadContext {
    BadContext(error.to_string())
}

/// How much is left out for which reason, with the first few by name: all of it stands in the list
/// beside the copy.
fn counted(left_out: &[LeftOut]) -> String {
    const NAMED: usize = 3;
    let mut by_reason: BTreeMap<Why, Vec<&str>> = BTreeMap::new();
    for LeftOut { path, why } in left_out {
        by_reason.entry(*why).or_default().push(path);
    }
    let counted = by_reason.iter().map(|(why, paths)| {
        let more = paths.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named: Vec<&str> = paths.iter().take(NAMED).copied().collect();
        format!("{} ({}{more})", why.counts(paths.len()), named.join(", "))
    });
    counted.collect::<Vec<_>>().join("; ")
}

impl FromRepository {
    fn file(&self, path: &str) -> Result<String, String> {
        let inside = self.inside(path)?;
        if !inside.is_file() {
            return Err(format!("`{path}` is no file"));
        }
        let text = fs::read_to_string(&inside).map_err(|error| format!("`{path}`: {error}"))?;
        let lines = text.lines().zip(1..).map(|(line, nth)| format!("{nth:>5} {line}\n"));
        Ok(format!("`{path}`:\n{}", lines.collect::<Vec<_>>().concat()))
    }

    /// A path below the repository, whatever links and dots it has.
    fn inside(&self, path: &str) -> Result<PathBuf, String> {
        if path.starts_with("\\\\") || path.starts_with("//") {
            return Err(format!("`{path}` is not a path inside the repository"));
        }
        let whole = self.folder.join(path).canonicalize();
        let whole = whole.map_err(|error| format!("`{path}`: {error}"))?;
        let below = whole.strip_prefix(&self.root).ok();
        if below.is_some_and(|below| below.starts_with(".git")) {
            return Err(format!("`{path}` belongs to git, and may hold what is nobody's business"));
        }
        let name = below.map(|below| below.as_os_str().as_encoded_bytes());
        if name.and_then(absent) == Some(Why::Secret) {
            return Err(format!(
                "`{path}` may hold a secret, by its name, and would be sent as it is"
            ));
        }
        if below.is_some() {
            Ok(whole)
        } else {
            Err(format!("`{path}` leads out of the repository"))
        }
    }
}
