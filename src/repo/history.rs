//! Recent commits that changed some files, found by a bounded walk over the history. See
//! `commits_since` for changes after a given commit.
use super::object_store::ObjectStore;
use super::{Pin, RepoError, TreeStore};
use git2::{Commit, Oid, Repository, Tree};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum number of files to follow.
const MAX_FILES: usize = 10;
/// Maximum number of commits reported per file.
const MAX_COMMITS_PER_FILE: usize = 5;
/// Maximum number of commits visited.
const MAX_COMMITS_VISITED: usize = 2_000;
/// Timeout of the walk.
const TIMEOUT: Duration = Duration::from_millis(300);

/// Recent history of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHistory {
    /// Path from the repository root. Empty for the whole repository.
    pub path: String,
    /// Commits that changed it, newest first.
    pub commits: Vec<CommitSummary>,
}

/// Short form of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSummary {
    /// First 12 digits of the commit id.
    pub id: String,
    /// Commit time in Unix seconds, by the committer's clock.
    pub time: i64,
    /// First line of the message. Untrusted text of the author.
    pub subject: String,
}

impl TreeStore {
    /// Recent commits for each path, or for the whole repository if `paths` is empty. The flag is
    /// true if a limit or the timeout ended the walk early.
    pub fn history(
        &self,
        root: &Path,
        pin: &Pin,
        paths: &[String],
    ) -> Result<(Vec<FileHistory>, bool), RepoError> {
        let stores = ObjectStore::open(&self.home, root)?;
        let repository = stores.repository().ok_or_else(|| RepoError::no_repository(root))?;
        let Some(commit) = &pin.commit else { return Ok((vec![], false)) };
        let paths: Vec<&str> = match paths {
            [] => vec![""],
            paths => paths.iter().take(MAX_FILES).map(String::as_str).collect(),
        };
        walk_history(repository, commit, &paths, &Instant::now)
            .map_err(|error| RepoError::from_git(root, &error))
    }
}

fn walk_history(
    repository: &Repository,
    from: &str,
    paths: &[&str],
    clock: &dyn Fn() -> Instant,
) -> Result<(Vec<FileHistory>, bool), git2::Error> {
    let deadline = clock() + TIMEOUT;
    let history = |path: &&str| FileHistory { path: (*path).to_owned(), commits: vec![] };
    let mut histories: Vec<FileHistory> = paths.iter().map(history).collect();
    let mut id_cache: HashMap<Oid, Vec<Option<Oid>>> = HashMap::new();
    // Priority queue by commit time. libgit2's own walk would sort the whole history first.
    let (mut queue, mut seen, mut truncated) = (BinaryHeap::new(), HashSet::new(), false);
    let first = repository.find_commit(Oid::from_str(from)?)?;
    queue.push((first.time().seconds(), Reverse(0), first.id()));
    let mut visited = 0;
    while let Some((.., id)) = queue.pop() {
        if histories.iter().all(|history| history.commits.len() >= MAX_COMMITS_PER_FILE) {
            break;
        }
        truncated = visited >= MAX_COMMITS_VISITED || clock() >= deadline;
        if truncated {
            break;
        }
        visited += 1;
        // The walk ends at the boundary of a shallow clone.
        let Ok(commit) = repository.find_commit(id) else { continue };
        let new_ids =
            id_cache.remove(&commit.id()).or_else(|| entry_ids(&commit, paths)).unwrap_or_default();
        let mut parent_ids = vec![];
        for parent in commit.parents() {
            let ids = entry_ids(&parent, paths).unwrap_or_default();
            id_cache.insert(parent.id(), ids.clone());
            parent_ids.push(ids);
            if seen.insert(parent.id()) {
                queue.push((parent.time().seconds(), Reverse(seen.len()), parent.id()));
            }
        }
        for (index, history) in histories.iter_mut().enumerate() {
            let id = new_ids.get(index).copied().flatten();
            let is_same = |ids: &Vec<Option<Oid>>| ids.get(index).copied().flatten() == id;
            let never_existed = parent_ids.is_empty() && id.is_none();
            if history.commits.len() < MAX_COMMITS_PER_FILE
                && !never_existed
                && !parent_ids.iter().any(is_same)
            {
                history.commits.push(CommitSummary::new(&commit));
            }
        }
    }
    Ok((histories, truncated))
}

/// Object ids of all paths at a commit.
fn entry_ids(commit: &Commit<'_>, paths: &[&str]) -> Option<Vec<Option<Oid>>> {
    let tree = commit.tree().ok()?;
    let id = |path: &&str| entry_id(&tree, path);
    Some(paths.iter().map(id).collect())
}

fn entry_id(tree: &Tree<'_>, path: &str) -> Option<Oid> {
    if path.is_empty() {
        return Some(tree.id());
    }
    tree.get_path(Path::new(path)).ok().map(|entry| entry.id())
}

impl CommitSummary {
    pub(super) fn new(commit: &Commit<'_>) -> CommitSummary {
        let subject = commit.summary_bytes().unwrap_or_default();
        CommitSummary {
            id: commit.id().to_string().chars().take(12).collect(),
            time: commit.time().seconds(),
            subject: String::from_utf8_lossy(subject).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo, clock_after};
    use std::iter::repeat_n;

    #[test]
    fn files_and_commits_per_file_are_limited() {
        let repo = TempRepo::new();
        let trees = (0..=MAX_COMMITS_PER_FILE).map(|nth| {
            let id = repo.blob(nth.to_string().as_bytes());
            repo.tree([(FILE_MODE, "a.rs", id)])
        });
        let ids = repo.commit_chain(trees);
        let commit_count = |id: Oid| {
            let clock = clock_after(Duration::ZERO);
            let walked = walk_history(&repo.repository, &id.to_string(), &["a.rs"], &clock);
            walked.unwrap().0[0].commits.len()
        };
        assert_eq!(commit_count(ids[MAX_COMMITS_PER_FILE - 1]), 5);
        assert_eq!(commit_count(ids[MAX_COMMITS_PER_FILE]), 5);
        let commit = Some(ids[0].to_string());
        let pin = Pin { tree: String::new(), commit, dirty: false, left_out: vec![] };
        let file_count = |count: usize| {
            let paths: Vec<String> = (0..count).map(|nth| format!("{nth}.rs")).collect();
            repo.tree_store().history(&repo.root(), &pin, &paths).unwrap().0.len()
        };
        assert_eq!((file_count(MAX_FILES), file_count(MAX_FILES + 1)), (10, 10));
    }

    #[test]
    fn walk_ends_after_2_000_commits() {
        let repo = TempRepo::new();
        let odb = repo.repository.odb().unwrap();
        // Objects written from here on stay in memory, which is faster.
        let _memory = odb.add_new_mempack_backend(1_000).unwrap();
        let tree = repo.tree([(FILE_MODE, "a.rs", repo.blob(b"x"))]);
        let ids = repo.commit_chain(repeat_n(tree, MAX_COMMITS_VISITED + 1));
        let is_truncated = |id: Oid| {
            let clock = clock_after(Duration::ZERO);
            walk_history(&repo.repository, &id.to_string(), &["b.rs"], &clock).unwrap().1
        };
        assert!(!is_truncated(ids[MAX_COMMITS_VISITED - 1]));
        assert!(is_truncated(ids[MAX_COMMITS_VISITED]));
        assert_eq!(MAX_COMMITS_VISITED, 2_000);
    }

    #[test]
    fn walk_ends_at_the_timeout() {
        let repo = TempRepo::new();
        let tree = repo.tree([(FILE_MODE, "a.rs", repo.blob(b"x"))]);
        let id = repo.commit_chain([tree])[0].to_string();
        let walk_after = |elapsed: Duration| {
            let walked = walk_history(&repo.repository, &id, &["a.rs"], &clock_after(elapsed));
            let (histories, truncated) = walked.unwrap();
            (histories[0].commits.len(), truncated)
        };
        assert_eq!(walk_after(TIMEOUT.saturating_sub(Duration::from_nanos(1))), (1, false));
        assert_eq!(walk_after(TIMEOUT), (0, true));
        assert_eq!(TIMEOUT, Duration::from_millis(300));
    }
}
