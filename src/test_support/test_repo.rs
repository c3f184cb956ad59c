//! Test fixture: a git repository built with libgit2, without the `git` program, and a data folder
//! for the trees pinned from it.
use debate_mcp::repo::{ExcludedPath, ExclusionReason, Pin, TreeSnapshot, TreeStore};
use git2::{IndexAddOption, ObjectType, Oid, Repository, Signature, TreeWalkMode, TreeWalkResult};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// A temporary repository with a data folder beside it.
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

    /// A path in the temporary folder, outside the repository.
    pub(crate) fn temp_path(&self, name: &str) -> PathBuf {
        dunce::canonicalize(self.folder.path()).unwrap().join(name)
    }

    /// The folder of the tree store and the snapshots.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.temp_path("home")
    }

    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    pub(crate) fn tree_store(&self) -> TreeStore {
        TreeStore::new(&self.data_dir())
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
        let signature = Signature::new("a", "a@b", &git2::Time::new(0, 0)).unwrap();
        let head = self.repository.head().ok().and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<_> = head.iter().collect();
        self.repository.commit(Some("HEAD"), &signature, &signature, "x", &tree, &parents).unwrap()
    }

    pub(crate) fn tree_of(&self, commit: Oid) -> String {
        self.repository.find_commit(commit).unwrap().tree_id().to_string()
    }

    /// Paths of all files in a tree, from the repository's object store or the tree store.
    pub(crate) fn tree_paths(&self, tree: &str) -> Vec<String> {
        let repository = Repository::open(self.root()).unwrap();
        let own_objects = self.data_dir().join("trees.git/objects");
        if own_objects.exists() {
            repository.odb().unwrap().add_disk_alternate(own_objects.to_str().unwrap()).unwrap();
        }
        let tree = repository.find_tree(Oid::from_str(tree).unwrap()).unwrap();
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
        let describe_file = |path: String| {
            let full_path = self.root().join(&path);
            let metadata = fs::metadata(&full_path).unwrap();
            (path, metadata.len(), metadata.modified().unwrap(), fs::read(full_path).unwrap())
        };
        list_files(&self.root()).into_iter().map(describe_file).collect()
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
            let subfolders = fs::read_dir(folder).into_iter().flatten().flatten();
            let subfolders =
                subfolders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(subfolders.map(|entry| entry.path()));
        }
    }
}

/// Excluded paths with their reasons.
pub(crate) fn excluded_paths(exclusions: &[ExcludedPath]) -> Vec<(String, ExclusionReason)> {
    exclusions.iter().map(|exclusion| (exclusion.path.clone(), exclusion.why)).collect()
}

/// The files below a folder, sorted.
pub(crate) fn list_files(folder: &Path) -> Vec<String> {
    let (mut paths, mut folders) = (vec![], vec![folder.to_owned()]);
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(current).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                folders.push(path);
            } else {
                let relative_path = path.strip_prefix(folder).unwrap();
                paths.push(relative_path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    paths.sort();
    paths
}
