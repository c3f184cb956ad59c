//! Test fixture: a temporary git repository with a data folder beside it, and a fake clock.
use super::TreeStore;
use super::object_store::ObjectStore;
use git2::{Commit, ObjectType, Oid, Repository, Signature, Time};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Mode of a regular file in a tree.
pub(crate) const FILE_MODE: i32 = 0o100_644;
/// Mode of a folder in a tree.
pub(crate) const FOLDER_MODE: i32 = 0o040_000;

/// A temporary repository without a work tree of its own, and a data folder.
pub(crate) struct TempRepo {
    folder: TempDir,
    pub(crate) repository: Repository,
}

impl TempRepo {
    pub(crate) fn new() -> TempRepo {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path().join("repo")).unwrap();
        TempRepo { folder, repository }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Data folder of the tree store.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn tree_store(&self) -> TreeStore {
        TreeStore::new(&self.home())
    }

    pub(super) fn object_store(&self) -> ObjectStore {
        ObjectStore::open(&self.home(), &self.root()).unwrap()
    }

    pub(crate) fn blob(&self, bytes: &[u8]) -> Oid {
        self.repository.blob(bytes).unwrap()
    }

    /// Writes a tree object of mode, name and id, without validation. The names must be sorted.
    pub(crate) fn tree<N: Display>(&self, entries: impl IntoIterator<Item = (i32, N, Oid)>) -> Oid {
        let mut bytes = vec![];
        for (mode, name, id) in entries {
            bytes.extend_from_slice(format!("{mode:o} {name}\0").as_bytes());
            bytes.extend_from_slice(id.as_bytes());
        }
        self.repository.odb().unwrap().write(ObjectType::Tree, &bytes).unwrap()
    }

    /// Commits the trees one after another, each a second later, from Unix second 0 on. Updates no
    /// branch.
    pub(crate) fn commit_chain(&self, trees: impl IntoIterator<Item = Oid>) -> Vec<Oid> {
        let mut ids: Vec<Oid> = vec![];
        for (tree, seconds) in trees.into_iter().zip(0..) {
            let tree = self.repository.find_tree(tree).unwrap();
            let signature = Signature::new("a", "a@b", &Time::new(seconds, 0)).unwrap();
            let parent = ids.last().map(|id| self.repository.find_commit(*id).unwrap());
            let parents: Vec<&Commit<'_>> = parent.iter().collect();
            let id = self.repository.commit(None, &signature, &signature, "x", &tree, &parents);
            ids.push(id.unwrap());
        }
        ids
    }
}

/// Fake clock: `elapsed` has passed between the first query and every later one.
pub(super) fn clock_after(elapsed: Duration) -> impl Fn() -> Instant + Sync {
    let (started, is_first) = (Instant::now(), AtomicBool::new(true));
    move || if is_first.swap(false, Ordering::Relaxed) { started } else { started + elapsed }
}
