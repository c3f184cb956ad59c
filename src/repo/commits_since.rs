//! Changes of some files since an earlier state: commits that touched them and are not reachable
//! from the earlier commit, and uncommitted edits. Found by a bounded walk over the history. See
//! `history` for the most recent commits of a file.
use super::history::CommitSummary;
use super::object_store::ObjectStore;
use super::{Pin, RepoError, TreeStore};
use git2::{Oid, Repository, Tree};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum number of files.
const MAX_FILES: usize = 100;
/// Maximum number of commits visited.
const MAX_COMMITS_VISITED: usize = 2_000;
/// Maximum number of commits reported.
const MAX_COMMITS_REPORTED: usize = 50;
/// Timeout of the walk.
const TIMEOUT: Duration = Duration::from_millis(300);

/// An earlier state of the repository.
#[derive(Debug, Clone, Copy)]
pub struct EarlierState<'a> {
    /// Last commit at that time. If it is unknown or missing, `time` decides.
    pub commit: Option<&'a str>,
    /// Tree id at that time.
    pub tree: Option<&'a str>,
    /// Unix seconds.
    pub time: i64,
}

/// A commit, and the requested files it changed.
type TouchingCommit = (CommitSummary, Vec<String>);

/// Changes of some files since an earlier state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaterChanges {
    /// Commits that changed one of the files, newest first.
    pub commits: Vec<TouchingCommit>,
    /// True if a limit or the timeout ended the walk early.
    pub truncated: bool,
    /// Files that differ from the last commit.
    pub uncommitted: Vec<String>,
    /// Files that differ from the earlier tree.
    pub changed: Vec<String>,
}

impl TreeStore {
    /// Finds the changes of `paths` since `earlier`. `pin` is the current state of the repository.
    pub fn changes_since(
        &self,
        root: &Path,
        pin: &Pin,
        earlier: &EarlierState<'_>,
        paths: &[String],
    ) -> Result<LaterChanges, RepoError> {
        let stores = ObjectStore::open(&self.home, root)?;
        let git_error = |error: git2::Error| RepoError::from_git(root, &error);
        let paths: Vec<&str> = paths.iter().take(MAX_FILES).map(String::as_str).collect();
        let tree = |id: &str| Oid::from_str(id).ok().and_then(|id| stores.find_tree(id));
        let differing_paths = |one: Option<Tree<'_>>, other: Option<Tree<'_>>| -> Vec<String> {
            let (Some(one), Some(other)) = (one, other) else { return vec![] };
            let differs = |path: &&&str| entry_id(&one, path) != entry_id(&other, path);
            paths.iter().filter(differs).map(|path| (*path).to_owned()).collect()
        };
        let changed = differing_paths(tree(&pin.tree), earlier.tree.and_then(tree));
        let (Some(repository), Some(head)) = (stores.repository(), &pin.commit) else {
            return Ok(LaterChanges { changed, ..LaterChanges::default() });
        };
        let head = Oid::from_str(head).map_err(git_error)?;
        let last = repository.find_commit(head).and_then(|commit| commit.tree()).ok();
        let uncommitted = differing_paths(tree(&pin.tree), last);
        let (commits, truncated) =
            walk_since(repository, head, earlier, &paths, &Instant::now).map_err(git_error)?;
        Ok(LaterChanges { commits, truncated, uncommitted, changed })
    }
}

/// Walks back from the last commit, newest first, and skips commits reachable from the earlier one.
/// Both histories share one priority queue, and the walk ends when only skipped commits remain in
/// it.
fn walk_since(
    repository: &Repository,
    head: Oid,
    earlier: &EarlierState<'_>,
    paths: &[&str],
    clock: &dyn Fn() -> Instant,
) -> Result<(Vec<TouchingCommit>, bool), git2::Error> {
    let deadline = clock() + TIMEOUT;
    let base = earlier.commit.and_then(|id| Oid::from_str(id).ok());
    let base = base.and_then(|id| repository.find_commit(id).ok());
    let (mut queue, mut reachable, mut seen) = (BinaryHeap::new(), HashSet::new(), HashSet::new());
    let mut id_cache: HashMap<Oid, Vec<Option<Oid>>> = HashMap::new();
    let first = repository.find_commit(head)?;
    queue.push((first.time().seconds(), first.id()));
    if let Some(base) = &base {
        reachable.insert(base.id());
        queue.push((base.time().seconds(), base.id()));
    }
    let (mut commits, mut visited) = (vec![], 0);
    while queue.iter().any(|(_, id)| !reachable.contains(id)) {
        let Some((time, id)) = queue.pop() else { break };
        if !seen.insert(id) {
            continue;
        }
        if visited >= MAX_COMMITS_VISITED
            || commits.len() >= MAX_COMMITS_REPORTED
            || clock() >= deadline
        {
            return Ok((commits, true));
        }
        visited += 1;
        let is_old = reachable.contains(&id) || (base.is_none() && time < earlier.time);
        // The walk ends at the boundary of a shallow clone.
        let Ok(commit) = repository.find_commit(id) else { continue };
        for parent in commit.parents() {
            if is_old {
                reachable.insert(parent.id());
            }
            if base.is_some() || !is_old {
                queue.push((parent.time().seconds(), parent.id()));
            }
        }
        if is_old {
            continue;
        }
        let new_ids = cached_entry_ids(&commit, paths, &mut id_cache);
        let parent_ids: Vec<_> = commit
            .parents()
            .map(|parent| cached_entry_ids(&parent, paths, &mut id_cache))
            .collect();
        let touched = |index: &usize| {
            let never_existed = parent_ids.is_empty() && new_ids[*index].is_none();
            !never_existed && parent_ids.iter().all(|ids| ids[*index] != new_ids[*index])
        };
        let touched: Vec<String> =
            (0..paths.len()).filter(touched).map(|index| paths[index].to_owned()).collect();
        if !touched.is_empty() {
            commits.push((CommitSummary::new(&commit), touched));
        }
    }
    Ok((commits, false))
}

/// Object ids of all paths at a commit, cached.
fn cached_entry_ids(
    commit: &git2::Commit<'_>,
    paths: &[&str],
    cache: &mut HashMap<Oid, Vec<Option<Oid>>>,
) -> Vec<Option<Oid>> {
    let read = || {
        let tree = commit.tree().ok();
        paths.iter().map(|path| entry_id(tree.as_ref()?, path)).collect()
    };
    cache.entry(commit.id()).or_insert_with(read).clone()
}

fn entry_id(tree: &Tree<'_>, path: &str) -> Option<Oid> {
    tree.get_path(Path::new(path)).ok().map(|entry| entry.id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo, clock_after};
    use std::iter::repeat_n;

    /// State before all commits.
    const NO_COMMIT: EarlierState<'static> = EarlierState { commit: None, tree: None, time: 0 };

    /// Number of commits that touched `a.rs`, and whether the walk was truncated.
    fn walk_after(repo: &TempRepo, head: Oid, elapsed: Duration) -> (usize, bool) {
        let clock = clock_after(elapsed);
        let walked = walk_since(&repo.repository, head, &NO_COMMIT, &["a.rs"], &clock);
        let (commits, truncated) = walked.unwrap();
        (commits.len(), truncated)
    }

    #[test]
    fn walk_ends_after_2_000_commits() {
        let repo = TempRepo::new();
        let odb = repo.repository.odb().unwrap();
        // Objects written from here on stay in memory, which is faster.
        let _memory = odb.add_new_mempack_backend(1_000).unwrap();
        let tree = repo.tree([(FILE_MODE, "b.rs", repo.blob(b"x"))]);
        let ids = repo.commit_chain(repeat_n(tree, MAX_COMMITS_VISITED + 1));
        let walk = |head: Oid| walk_after(&repo, head, Duration::ZERO);
        assert_eq!(walk(ids[MAX_COMMITS_VISITED - 1]), (0, false));
        assert_eq!(walk(ids[MAX_COMMITS_VISITED]), (0, true));
        assert_eq!(MAX_COMMITS_VISITED, 2_000);
    }

    #[test]
    fn walk_ends_at_the_timeout() {
        let repo = TempRepo::new();
        let tree = repo.tree([(FILE_MODE, "a.rs", repo.blob(b"x"))]);
        let head = repo.commit_chain([tree])[0];
        let in_time = TIMEOUT.saturating_sub(Duration::from_nanos(1));
        assert_eq!(walk_after(&repo, head, in_time), (1, false));
        assert_eq!(walk_after(&repo, head, TIMEOUT), (0, true));
        assert_eq!(TIMEOUT, Duration::from_millis(300));
    }

    #[test]
    fn commits_over_the_limit_are_not_reported() {
        let repo = TempRepo::new();
        let trees = (0..=MAX_COMMITS_REPORTED).map(|nth| {
            let id = repo.blob(nth.to_string().as_bytes());
            repo.tree([(FILE_MODE, "a.rs", id)])
        });
        let ids = repo.commit_chain(trees);
        let walk = |head: Oid| walk_after(&repo, head, Duration::ZERO);
        assert_eq!(walk(ids[MAX_COMMITS_REPORTED - 1]), (50, false));
        assert_eq!(walk(ids[MAX_COMMITS_REPORTED]), (50, true));
    }

    #[test]
    fn files_over_the_limit_are_not_compared() {
        let repo = TempRepo::new();
        let paths: Vec<String> = (0..=MAX_FILES).map(|nth| format!("{nth:03}.rs")).collect();
        let id = repo.blob(b"x");
        let tree = repo.tree(paths.iter().map(|path| (FILE_MODE, path, id))).to_string();
        let earlier_tree = repo.tree([(FILE_MODE, "a.rs", id)]).to_string();
        let earlier = EarlierState { tree: Some(&earlier_tree), ..NO_COMMIT };
        let pin = Pin { tree, commit: None, dirty: false, left_out: vec![] };
        let changed_count = |count: usize| {
            let (store, root) = (repo.tree_store(), repo.root());
            let changes = store.changes_since(&root, &pin, &earlier, &paths[..count]);
            changes.unwrap().changed.len()
        };
        assert_eq!((changed_count(MAX_FILES), changed_count(MAX_FILES + 1)), (100, 100));
    }
}
