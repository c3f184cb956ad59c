//! What happened to a few files lately: the commits that changed them, found by walking back a
//! bounded way.
use super::stores::Stores;
use super::{Pin, RepoError, Trees};
use git2::{Commit, Oid, Repository, Tree};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Files that are followed.
const MOST_FILES: usize = 10;
/// Commits that are told of each.
const MOST_EACH: usize = 5;
/// Commits that are looked at.
const MOST_COMMITS: usize = 2_000;
/// How long they are looked at.
const PATIENCE: Duration = Duration::from_millis(300);

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// Which; empty if it is the whole repository.
    pub path: String,
    /// The latest first.
    pub commits: Vec<Happened>,
}

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happened {
    /// The first digits of its id.
    pub id: String,
    /// Seconds since 1970, as its committer's clock had it.
    pub time: i64,
    /// Its first line, which is whatever its author wrote.
    pub subject: String,
}

impl Trees {
    /// The last commits that changed each of a few files; of no files, the last ones of all. The
    /// second part says whether the walk ended before all were found.
    pub fn history(
        &self,
        root: &Path,
        pin: &Pin,
        paths: &[String],
    ) -> Result<(Vec<Past>, bool), RepoError> {
        let stores = Stores::open(&self.home, root)?;
        let repository = stores.repository().ok_or_else(|| RepoError::no_repository(root))?;
        let Some(commit) = &pin.commit else { return Ok((vec![], false)) };
        let paths: Vec<&str> = match paths {
            [] => vec![""],
            paths => paths.iter().take(MOST_FILES).map(String::as_str).collect(),
        };
        walk(repository, commit, &paths).map_err(|error| RepoError::broken(root, &error))
    }
}

fn walk(
    repository: &Repository,
    from: &str,
    paths: &[&str],
) -> Result<(Vec<Past>, bool), git2::Error> {
    let until = Instant::now() + PATIENCE;
    let past = |path: &&str| Past { path: (*path).to_owned(), commits: vec![] };
    let mut pasts: Vec<Past> = paths.iter().map(past).collect();
    let mut known: HashMap<Oid, Vec<Option<Oid>>> = HashMap::new();
    // The latest first. libgit2 would sort all the past there is before it gave the first.
    let (mut waiting, mut seen, mut short) = (BinaryHeap::new(), HashSet::new(), false);
    let first = repository.find_commit(Oid::from_str(from)?)?;
    waiting.push((first.time().seconds(), Reverse(0), first.id()));
    let mut nth = 0;
    while let Some((.., id)) = waiting.pop() {
        if pasts.iter().all(|past| past.commits.len() >= MOST_EACH) {
            break;
        }
        short = nth >= MOST_COMMITS || Instant::now() >= until;
        if short {
            break;
        }
        nth += 1;
        // Where a shallow clone ends, so does the walk.
        let Ok(commit) = repository.find_commit(id) else { continue };
        let now = known.remove(&commit.id()).or_else(|| ids(&commit, paths)).unwrap_or_default();
        let mut before = vec![];
        for parent in commit.parents() {
            let ids = ids(&parent, paths).unwrap_or_default();
            known.insert(parent.id(), ids.clone());
            before.push(ids);
            if seen.insert(parent.id()) {
                waiting.push((parent.time().seconds(), Reverse(seen.len()), parent.id()));
            }
        }
        for (at, past) in pasts.iter_mut().enumerate() {
            let id = now.get(at).copied().flatten();
            let same = |ids: &Vec<Option<Oid>>| ids.get(at).copied().flatten() == id;
            let root = before.is_empty() && id.is_none();
            if past.commits.len() < MOST_EACH && !root && !before.iter().any(same) {
                past.commits.push(Happened::new(&commit));
            }
        }
    }
    Ok((pasts, short))
}

/// What each path held at a commit.
fn ids(commit: &Commit<'_>, paths: &[&str]) -> Option<Vec<Option<Oid>>> {
    let tree = commit.tree().ok()?;
    let id = |path: &&str| id(&tree, path);
    Some(paths.iter().map(id).collect())
}

fn id(tree: &Tree<'_>, path: &str) -> Option<Oid> {
    if path.is_empty() {
        return Some(tree.id());
    }
    tree.get_path(Path::new(path)).ok().map(|entry| entry.id())
}

impl Happened {
    pub(super) fn new(commit: &Commit<'_>) -> Happened {
        let subject = commit.summary_bytes().unwrap_or_default();
        Happened {
            id: commit.id().to_string().chars().take(12).collect(),
            time: commit.time().seconds(),
            subject: String::from_utf8_lossy(subject).into_owned(),
        }
    }
}
