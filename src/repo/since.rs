//! What has happened to a few files since a commit: the commits that are not in its past and changed
//! one of them, and what is in no commit yet. Found by walking back a bounded way.
use super::history::Happened;
use super::stores::Stores;
use super::{Pin, RepoError, Trees};
use git2::{Oid, Repository, Tree};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Files that are asked about.
const MOST_FILES: usize = 100;
/// Commits that are looked at.
const MOST_COMMITS: usize = 2_000;
/// Commits that are told of.
const MOST_TOLD: usize = 50;
/// How long they are looked at.
const PATIENCE: Duration = Duration::from_millis(300);

/// How it was before.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// The last commit then; where it is not known, or gone, the time decides.
    pub commit: Option<&'a str>,
    /// The tree then.
    pub tree: Option<&'a str>,
    /// Seconds since 1970.
    pub time: i64,
}

/// A commit, and which of the files it changed.
pub type Touched = (Happened, Vec<String>);

/// What has happened to a few files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Later {
    /// Commits that changed one of them, the latest first, and which each changed.
    pub commits: Vec<Touched>,
    /// Whether the walk ended before all were found.
    pub short: bool,
    /// Those that stand otherwise than in the last commit.
    pub uncommitted: Vec<String>,
    /// Those that stand otherwise than they did.
    pub changed: Vec<String>,
}

impl Trees {
    /// What has happened to these files; `now` is what stands in the repository.
    pub fn since(
        &self,
        root: &Path,
        now: &Pin,
        earlier: &Earlier<'_>,
        paths: &[String],
    ) -> Result<Later, RepoError> {
        let stores = Stores::open(&self.home, root)?;
        let broken = |error: git2::Error| RepoError::broken(root, &error);
        let paths: Vec<&str> = paths.iter().take(MOST_FILES).map(String::as_str).collect();
        let tree = |id: &str| Oid::from_str(id).ok().and_then(|id| stores.tree(id));
        let differ = |one: Option<Tree<'_>>, other: Option<Tree<'_>>| -> Vec<String> {
            let (Some(one), Some(other)) = (one, other) else { return vec![] };
            let differs = |path: &&&str| id(&one, path) != id(&other, path);
            paths.iter().filter(differs).map(|path| (*path).to_owned()).collect()
        };
        let changed = differ(tree(&now.tree), earlier.tree.and_then(tree));
        let (Some(repository), Some(head)) = (stores.repository(), &now.commit) else {
            return Ok(Later { changed, ..Later::default() });
        };
        let head = Oid::from_str(head).map_err(broken)?;
        let last = repository.find_commit(head).and_then(|commit| commit.tree()).ok();
        let uncommitted = differ(tree(&now.tree), last);
        let (commits, short) = walk(repository, head, earlier, &paths).map_err(broken)?;
        Ok(Later { commits, short, uncommitted, changed })
    }
}

/// Walks back from the last commit, the latest first, and leaves out what is in the past of the
/// earlier one. That past is walked beside it: where all that waits belongs to it, nothing is left.
fn walk(
    repository: &Repository,
    head: Oid,
    earlier: &Earlier<'_>,
    paths: &[&str],
) -> Result<(Vec<Touched>, bool), git2::Error> {
    let until = Instant::now() + PATIENCE;
    let base = earlier.commit.and_then(|id| Oid::from_str(id).ok());
    let base = base.and_then(|id| repository.find_commit(id).ok());
    let (mut waiting, mut past, mut seen) = (BinaryHeap::new(), HashSet::new(), HashSet::new());
    let mut known: HashMap<Oid, Vec<Option<Oid>>> = HashMap::new();
    let first = repository.find_commit(head)?;
    waiting.push((first.time().seconds(), first.id()));
    if let Some(base) = &base {
        past.insert(base.id());
        waiting.push((base.time().seconds(), base.id()));
    }
    let (mut told, mut nth) = (vec![], 0);
    while waiting.iter().any(|(_, id)| !past.contains(id)) {
        let Some((time, id)) = waiting.pop() else { break };
        if !seen.insert(id) {
            continue;
        }
        if nth >= MOST_COMMITS || told.len() >= MOST_TOLD || Instant::now() >= until {
            return Ok((told, true));
        }
        nth += 1;
        let old = past.contains(&id) || (base.is_none() && time < earlier.time);
        // Where a shallow clone ends, so does the walk.
        let Ok(commit) = repository.find_commit(id) else { continue };
        for parent in commit.parents() {
            if old {
                past.insert(parent.id());
            }
            if base.is_some() || !old {
                waiting.push((parent.time().seconds(), parent.id()));
            }
        }
        if old {
            continue;
        }
        let now = held(&commit, paths, &mut known);
        let before: Vec<_> =
            commit.parents().map(|parent| held(&parent, paths, &mut known)).collect();
        let touched = |at: &usize| {
            let root = before.is_empty() && now[*at].is_none();
            !root && before.iter().all(|ids| ids[*at] != now[*at])
        };
        let touched: Vec<String> =
            (0..paths.len()).filter(touched).map(|at| paths[at].to_owned()).collect();
        if !touched.is_empty() {
            told.push((Happened::new(&commit), touched));
        }
    }
    Ok((told, false))
}

/// What each path held at a commit.
fn held(
    commit: &git2::Commit<'_>,
    paths: &[&str],
    known: &mut HashMap<Oid, Vec<Option<Oid>>>,
) -> Vec<Option<Oid>> {
    let read = || {
        let tree = commit.tree().ok();
        paths.iter().map(|path| id(tree.as_ref()?, path)).collect()
    };
    known.entry(commit.id()).or_insert_with(read).clone()
}

fn id(tree: &Tree<'_>, path: &str) -> Option<Oid> {
    tree.get_path(Path::new(path)).ok().map(|entry| entry.id())
}
