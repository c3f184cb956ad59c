//! Test fixture: a git repository built with libgit2, without the `git` program, and a data folder
//! for the trees pinned from it.
use debate_mcp::repo::{ExcludedPath, ExclusionReason, Pin, TreeSnapshot, TreeStore};
use git2::{IndexAddOption, ObjectType, Oid, Repository, Signature, TreeWalkMode, TreeWalkResult};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// A temporary repository with a data folder (`home`) beside it.
pub(crate) struct TestRepo {
    folder: TempDir,
    repository: Repository,
}

impl TestRepo {
    pub(crate) fn new() -> TestRepo {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path().join("repo")).unwrap();
        let mut config = repository.config().unwrap();
        // Isolates the repository from the user's global git config.
        config.set_str("core.autocrlf", "false").unwrap();
        config.set_str("core.excludesFile", "").unwrap();
        TestRepo { folder, repository }
    }

    pub(crate) fn root(&self) -> PathBuf {
        dunce::canonicalize(self.folder.path()).unwrap().join("repo")
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        dunce::canonicalize(self.folder.path()).unwrap().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.outside("home")
    }

    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    pub(crate) fn tree_store(&self) -> TreeStore {
        TreeStore::new(&self.home())
    }

    pub(crate) fn pin(&self) -> Pin {
        self.tree_store().pin(&self.root()).unwrap().unwrap()
    }

    pub(crate) fn snapshot(&self, tree: &str) -> TreeSnapshot {
        self.tree_store().snapshot(&self.root(), tree).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.root().join(path)).unwrap();
    }

    /// Stages all changes, like `git add --all`.
    pub(crate) fn stage(&self) {
        let mut index = self.repository.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
    }

    /// Commits the index, after writing and staging these files.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> Oid {
        for (path, text) in files {
            self.write(path, text);
        }
        if !files.is_empty() {
            self.stage();
        }
        let tree = self.repository.index().unwrap().write_tree().unwrap();
        let tree = self.repository.find_tree(tree).unwrap();
        let who = Signature::new("a", "a@b", &git2::Time::new(0, 0)).unwrap();
        let head = self.repository.head().ok().and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<_> = head.iter().collect();
        self.repository.commit(Some("HEAD"), &who, &who, "x", &tree, &parents).unwrap()
    }

    pub(crate) fn tree_of(&self, commit: Oid) -> String {
        self.repository.find_commit(commit).unwrap().tree_id().to_string()
    }

    /// Paths of all files in a tree, from the repository's or our own object store.
    pub(crate) fn tree_paths(&self, tree: &str) -> Vec<String> {
        let both = Repository::open(self.root()).unwrap();
        let ours = self.home().join("trees.git/objects");
        if ours.exists() {
            both.odb().unwrap().add_disk_alternate(ours.to_str().unwrap()).unwrap();
        }
        let tree = both.find_tree(Oid::from_str(tree).unwrap()).unwrap();
        let mut paths = vec![];
        tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            if entry.kind() != Some(ObjectType::Tree) {
                paths.push(format!("{folder}{}", entry.name().unwrap()));
            }
            TreeWalkResult::Ok
        })
        .unwrap();
        paths
    }

    /// Writes a tree object that git itself would refuse: mode, name, id.
    pub(crate) fn raw_tree(&self, entries: &[(&str, &[u8], Oid)]) -> Oid {
        let mut bytes = vec![];
        for (mode, name, id) in entries {
            bytes.extend_from_slice(&[mode.as_bytes(), b" ", name, b"\0", id.as_bytes()].concat());
        }
        self.repository.odb().unwrap().write(ObjectType::Tree, &bytes).unwrap()
    }

    pub(crate) fn blob(&self, bytes: &[u8]) -> Oid {
        self.repository.blob(bytes).unwrap()
    }

    /// Every file of the repository with its size, modification time and content.
    pub(crate) fn file_listing(&self) -> Vec<(String, u64, SystemTime, Vec<u8>)> {
        let known = |path: String| {
            let whole = self.root().join(&path);
            let found = fs::metadata(&whole).unwrap();
            (path, found.len(), found.modified().unwrap(), fs::read(whole).unwrap())
        };
        list_files(&self.root()).into_iter().map(known).collect()
    }
}

/// Snapshots are read-only, so they must be made writable before the folder can be deleted.
#[cfg(unix)]
impl Drop for TestRepo {
    fn drop(&mut self) {
        use std::os::unix::fs::PermissionsExt;
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
            let inner = fs::read_dir(folder).into_iter().flatten().flatten();
            let inner = inner.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(inner.map(|entry| entry.path()));
        }
    }
}

/// Excluded paths with their reasons.
pub(crate) fn excluded_paths(left_out: &[ExcludedPath]) -> Vec<(String, ExclusionReason)> {
    left_out.iter().map(|left| (left.path.clone(), left.why)).collect()
}

/// The files below a folder, sorted.
pub(crate) fn list_files(folder: &Path) -> Vec<String> {
    let (mut paths, mut folders) = (vec![], vec![folder.to_owned()]);
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                folders.push(path);
            } else {
                let below = path.strip_prefix(folder).unwrap();
                paths.push(below.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    paths.sort();
    paths
}
