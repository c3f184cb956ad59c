//! What debaters are given besides the topic, read from the repository and from nowhere else.
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
