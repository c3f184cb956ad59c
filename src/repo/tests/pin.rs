//! Pinning a repository's state as one Git tree, and snapshots of such trees. The user's repository
//! is never changed, secret files are never read, and no hostile tree or index reads or writes
//! outside its folder.
use crate::repo::{ExclusionReason, RepoError};
use crate::test_support::test_repo::{TestRepo, excluded_paths, list_files};
use git2::{ObjectType, Oid, Repository};
use std::fs;
use std::path::Path;

const EMPTY_TREE_ID: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

#[test]
fn clean_worktree_pins_the_commit_tree_without_writing() {
    let repo = TestRepo::new();
    let commit = repo.commit(&[("src/a.rs", "a"), ("b.md", "b")]);
    let pin = repo.pin();
    assert_eq!(pin.commit, Some(commit.to_string()));
    assert_eq!(pin.tree, repo.tree_of(commit));
    assert!(!pin.dirty && pin.left_out.is_empty());
    assert!(!repo.data_dir().exists());
}

/// For every kind of change, the pinned tree equals the tree that a commit of all changes would
/// have.
#[test]
fn dirty_worktree_pins_the_tree_its_commit_would_have() {
    let changes: &[fn(&TestRepo)] = &[
        |repo| repo.write("src/a.rs", "changed"),
        |repo| repo.write("new/deep/file.rs", "new"),
        |repo| repo.remove("src/a.rs"),
        |repo| repo.remove("only/one.rs"),
        |repo| {
            repo.write("src/a.rs", "staged");
            repo.stage();
        },
        |repo| {
            repo.write("src/a.rs", "staged");
            repo.stage();
            repo.write("src/a.rs", "and changed again");
        },
        |repo| {
            repo.remove("src/a.rs");
            repo.stage();
        },
        |repo| {
            repo.write("staged.rs", "new");
            repo.stage();
            repo.remove("staged.rs");
        },
        // A file becomes a folder, and a folder becomes a file.
        |repo| {
            repo.remove("b.md");
            repo.write("b.md/inside.rs", "x");
        },
        |repo| {
            repo.remove("only/one.rs");
            fs::remove_dir(repo.root().join("only")).unwrap();
            repo.write("only", "x");
        },
        // Names that Git sorts differently as files and as folders.
        |repo| {
            repo.write("src.a", "x");
            repo.write("src-b", "x");
            repo.write("src/z", "x");
        },
        |repo| repo.write(".gitignore", "ignored\n"),
    ];
    for (nth, change) in changes.iter().enumerate() {
        let repo = TestRepo::new();
        repo.commit(&[("src/a.rs", "a"), ("src/b.rs", "b"), ("b.md", "b"), ("only/one.rs", "1")]);
        change(&repo);
        let pin = repo.pin();
        assert!(pin.dirty && pin.left_out.is_empty(), "{nth}");
        assert_eq!(repo.pin(), pin, "{nth}: pinning again gives the same pin");
        repo.stage();
        let commit = repo.commit(&[]);
        assert_eq!(pin.tree, repo.tree_of(commit), "{nth}");
        assert_eq!(repo.pin().tree, pin.tree, "{nth}");
    }
}

#[test]
fn ignored_files_are_not_pinned() {
    let repo = TestRepo::new();
    repo.commit(&[(".gitignore", "target\n*.log\n"), ("a.rs", "a"), ("b.log.rs", "b")]);
    repo.write("target/big.rs", "x");
    repo.write("x.log", "x");
    assert!(!repo.pin().dirty);
    // Removed from the index and ignored from now on: not pinned, although the file still exists.
    let mut index = repo.repository().index().unwrap();
    index.remove_path(Path::new("a.rs")).unwrap();
    index.write().unwrap();
    repo.write(".gitignore", "target\n*.log\na.rs\n");
    assert_eq!(repo.tree_paths(&repo.pin().tree), [".gitignore", "b.log.rs"]);
}

#[test]
fn repository_without_commits_can_be_pinned() {
    let repo = TestRepo::new();
    let pin = repo.pin();
    assert_eq!((pin.tree.as_str(), pin.commit.as_deref(), pin.dirty), (EMPTY_TREE_ID, None, false));
    let snapshot = repo.snapshot(&pin.tree);
    assert_eq!((snapshot.files, list_files(&snapshot.folder)), (0, vec![]));
    repo.write("a/b.rs", "b");
    let pin = repo.pin();
    assert!(pin.dirty && pin.commit.is_none());
    assert_eq!(list_files(&repo.snapshot(&pin.tree).folder), ["a/b.rs"]);
}

#[test]
fn deleting_all_files_pins_the_empty_tree() {
    let repo = TestRepo::new();
    repo.commit(&[("a/b.rs", "b")]);
    repo.remove("a/b.rs");
    let pin = repo.pin();
    assert_eq!((pin.tree.as_str(), pin.dirty), (EMPTY_TREE_ID, true));
    assert_eq!(repo.snapshot(&pin.tree).files, 0);
}

#[test]
fn folder_without_a_worktree_has_no_pin() {
    let folder = tempfile::tempdir().unwrap();
    let tree_store = crate::repo::TreeStore::new(&folder.path().join("home"));
    assert_eq!(tree_store.pin(folder.path()).unwrap(), None);
    assert_eq!(tree_store.pin(&folder.path().join("nowhere")).unwrap(), None);
    fs::create_dir(folder.path().join(".git")).unwrap();
    assert_eq!(tree_store.pin(folder.path()).unwrap(), None, "an empty `.git`");
    let bare = folder.path().join("bare.git");
    Repository::init_bare(&bare).unwrap();
    assert_eq!(tree_store.pin(&bare).unwrap(), None, "a bare repository");
}

#[test]
fn dangling_gitdir_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".git"), "gitdir: /nowhere/at/all\n").unwrap();
    let tree_store = crate::repo::TreeStore::new(&folder.path().join("home"));
    let error = tree_store.pin(folder.path()).unwrap_err();
    assert!(matches!(error, RepoError::Unreadable { .. }), "{error:?}");
}

/// `core.worktree` could otherwise point the server at any folder on the disk.
#[test]
fn core_worktree_elsewhere_is_refused() {
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a")]);
    let mut config = repo.repository().config().unwrap();
    config.set_str("core.worktree", "/").unwrap();
    let error = repo.tree_store().pin(&repo.root()).unwrap_err();
    assert!(matches!(error, RepoError::WorktreeElsewhere { .. }), "{error:?}");
}

#[test]
fn pin_works_from_any_subfolder() {
    let repo = TestRepo::new();
    repo.commit(&[("a/b/c.rs", "c"), ("d.rs", "d")]);
    repo.write("e.rs", "e");
    let from_subfolder = repo.tree_store().pin(&repo.root().join("a/b")).unwrap().unwrap();
    assert_eq!(from_subfolder, repo.pin());
}

#[test]
fn linked_worktree_is_pinned_separately() {
    let repo = TestRepo::new();
    let commit = repo.commit(&[("a.rs", "a")]);
    let worktree = repo.temp_path("aside");
    repo.repository().worktree("aside", &worktree, None).unwrap();
    let pin = repo.tree_store().pin(&worktree).unwrap().unwrap();
    assert_eq!(pin.tree, repo.tree_of(commit));
    fs::write(worktree.join("b.rs"), "b").unwrap();
    let pin = repo.tree_store().pin(&worktree).unwrap().unwrap();
    let snapshot = repo.tree_store().snapshot(&worktree, &pin.tree).unwrap();
    assert_eq!(list_files(&snapshot.folder), ["a.rs", "b.rs"]);
    assert!(!repo.pin().dirty, "the main worktree is unchanged");
}

#[test]
fn objects_from_alternates_are_found() {
    let repo = TestRepo::new();
    let commit = repo.commit(&[("src/a.rs", "a"), ("src/b.rs", "b")]);
    let borrower_root = repo.temp_path("other");
    let borrower = Repository::init(&borrower_root).unwrap();
    let objects = repo.root().join(".git/objects");
    fs::create_dir_all(borrower_root.join(".git/objects/info")).unwrap();
    let line = format!("{}\n", objects.display());
    fs::write(borrower_root.join(".git/objects/info/alternates"), line).unwrap();
    fs::write(borrower_root.join(".git/shallow"), format!("{commit}\n")).unwrap();
    drop(borrower);
    let borrower = Repository::open(&borrower_root).unwrap();
    borrower.reference("refs/heads/here", commit, true, "").unwrap();
    borrower.set_head("refs/heads/here").unwrap();
    fs::create_dir(borrower_root.join("src")).unwrap();
    fs::write(borrower_root.join("src/a.rs"), "changed").unwrap();
    let pin = repo.tree_store().pin(&borrower_root).unwrap().unwrap();
    let snapshot = repo.tree_store().snapshot(&borrower_root, &pin.tree).unwrap();
    assert_eq!(fs::read_to_string(snapshot.folder.join("src/a.rs")).unwrap(), "changed");
}

/// The content of a secret file is never read, so it cannot get into the object store.
#[test]
fn secret_files_are_never_stored() {
    let repo = TestRepo::new();
    repo.commit(&[("config/.env", "KEY=old"), ("a.rs", "a")]);
    repo.write("config/.env", "KEY=changed");
    repo.write("deploy.PEM", "a private key");
    repo.write("b.rs", "b");
    let pin = repo.pin();
    let secret = |path: &str| (path.to_owned(), ExclusionReason::Secret);
    assert_eq!(excluded_paths(&pin.left_out), [secret("config/.env"), secret("deploy.PEM")]);
    let object_store = Repository::open_bare(repo.data_dir().join("trees.git")).unwrap();
    let is_stored = |text: &str| {
        let id = Oid::hash_object(ObjectType::Blob, text.as_bytes()).unwrap();
        object_store.find_blob(id).is_ok()
    };
    assert!(is_stored("b") && !is_stored("KEY=changed") && !is_stored("a private key"));
    // The committed version is still in the tree, but not in a snapshot.
    assert_eq!(repo.tree_paths(&pin.tree), ["a.rs", "b.rs", "config/.env"]);
    let snapshot = repo.snapshot(&pin.tree);
    assert_eq!(list_files(&snapshot.folder), ["a.rs", "b.rs"]);
    assert_eq!(excluded_paths(&snapshot.left_out), [secret("config/.env")]);
}

#[test]
fn excluded_files_are_listed_with_a_reason() {
    let repo = TestRepo::new();
    repo.commit(&[("grows.txt", "small"), ("a.rs", "a"), ("turns.rs", "t")]);
    repo.write("grows.txt", &"x".repeat(1024 * 1024 + 1));
    repo.write("just.txt", &"x".repeat(1024 * 1024));
    let inner = repo.root().join("inner");
    Repository::init(&inner).unwrap();
    fs::write(inner.join("x.rs"), "x").unwrap();
    #[cfg_attr(not(unix), expect(unused_mut, reason = "links are made on Unix"))]
    let mut expected = vec![
        ("grows.txt".to_owned(), ExclusionReason::TooLarge),
        ("inner/".into(), ExclusionReason::Submodule),
    ];
    #[cfg_attr(not(unix), expect(unused_mut, reason = "links are made on Unix"))]
    let mut paths = vec!["a.rs", "just.txt", "turns.rs"];
    #[cfg(unix)]
    {
        fs::write(repo.temp_path("private"), "private").unwrap();
        std::os::unix::fs::symlink(repo.temp_path("private"), repo.root().join("link")).unwrap();
        repo.remove("turns.rs");
        std::os::unix::fs::symlink("a.rs", repo.root().join("turns.rs")).unwrap();
        expected.extend([
            ("link".into(), ExclusionReason::Link),
            ("turns.rs".into(), ExclusionReason::Link),
        ]);
        paths.pop();
    }
    let pin = repo.pin();
    assert_eq!(excluded_paths(&pin.left_out), expected);
    assert_eq!(repo.tree_paths(&pin.tree), paths);
}

/// A folder replaced by a symlink: its files seem to exist, but must not be read through it.
#[cfg(unix)]
#[test]
fn symlinked_folders_are_not_followed() {
    let repo = TestRepo::new();
    repo.commit(&[("d/x.rs", "x"), ("a.rs", "a")]);
    fs::create_dir(repo.temp_path("private")).unwrap();
    fs::write(repo.temp_path("private/x.rs"), "private").unwrap();
    fs::remove_dir_all(repo.root().join("d")).unwrap();
    std::os::unix::fs::symlink(repo.temp_path("private"), repo.root().join("d")).unwrap();
    let pin = repo.pin();
    assert_eq!(repo.tree_paths(&pin.tree), ["a.rs"]);
    assert_eq!(excluded_paths(&pin.left_out), [("d".to_owned(), ExclusionReason::Link)]);
}

#[cfg(unix)]
#[test]
fn snapshot_keeps_the_executable_bit() {
    use std::os::unix::fs::PermissionsExt;
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a")]);
    repo.write("run.sh", "x");
    fs::set_permissions(repo.root().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let snapshot = repo.snapshot(&repo.pin().tree);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&snapshot.folder.join("run.sh")), 0o500);
    assert_eq!(mode(&snapshot.folder.join("a.rs")), 0o400);
}

#[cfg(target_os = "linux")]
#[test]
fn non_utf8_file_names_are_pinned() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9\\ \"x\"\n.rs");
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a")]);
    fs::write(repo.root().join(name), "latin").unwrap();
    let pin = repo.pin();
    let snapshot = repo.snapshot(&pin.tree);
    assert_eq!(fs::read_to_string(snapshot.folder.join(name)).unwrap(), "latin");
    repo.stage();
    assert_eq!(pin.tree, repo.tree_of(repo.commit(&[])));
}

/// Files outside the sparse checkout are missing from the working tree, but are not deleted.
#[test]
fn sparse_checkout_files_are_not_deleted() {
    let repo = TestRepo::new();
    let commit = repo.commit(&[("a.rs", "a"), ("far/b.rs", "b")]);
    let mut index = repo.repository().index().unwrap();
    let mut entry = index.get_path(Path::new("far/b.rs"), 0).unwrap();
    entry.flags_extended |= git2::IndexEntryExtendedFlag::SKIP_WORKTREE.bits();
    index.add(&entry).unwrap();
    index.write().unwrap();
    repo.remove("far/b.rs");
    assert_eq!(repo.pin().tree, repo.tree_of(commit));
}

#[test]
fn data_folder_inside_the_repository_is_not_pinned() {
    let repo = TestRepo::new();
    let commit = repo.commit(&[("a.rs", "a")]);
    let tree_store = crate::repo::TreeStore::new(&repo.root().join(".home"));
    repo.write("b.rs", "b");
    let pin = tree_store.pin(&repo.root()).unwrap().unwrap();
    tree_store.snapshot(&repo.root(), &pin.tree).unwrap();
    assert_eq!(tree_store.pin(&repo.root()).unwrap().unwrap(), pin);
    repo.remove("b.rs");
    let pin = tree_store.pin(&repo.root()).unwrap().unwrap();
    assert!(!pin.dirty && pin.tree == repo.tree_of(commit));
}

#[test]
fn pin_and_snapshot_leave_the_repository_unchanged() {
    let repo = TestRepo::new();
    repo.commit(&[("src/a.rs", "a"), ("b.md", "b")]);
    repo.write("src/a.rs", "changed");
    repo.write("c.rs", "staged");
    repo.stage();
    repo.write("d.rs", "new");
    let before = repo.file_listing();
    let pin = repo.pin();
    let snapshot = repo.snapshot(&pin.tree);
    repo.snapshot(&pin.tree);
    assert_eq!(list_files(&snapshot.folder), ["b.md", "c.rs", "d.rs", "src/a.rs"]);
    assert_eq!(repo.file_listing(), before);
}

/// The index file is untrusted input: its paths may contain `..`.
#[test]
fn hostile_index_path_cannot_escape_the_repository() {
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a")]);
    fs::write(repo.temp_path("private.txt"), "private").unwrap();
    repo.write("aa/private.txt", "x");
    repo.stage();
    repo.remove("aa/private.txt");
    let path = repo.root().join(".git/index");
    let mut bytes = fs::read(&path).unwrap();
    let inside = b"aa/private.txt";
    let offset = bytes.windows(inside.len()).position(|part| part == inside).unwrap();
    bytes[offset..offset + inside.len()].copy_from_slice(b"../private.txt");
    // An index with an all-zero checksum is accepted as valid.
    let end = bytes.len();
    bytes[end - 20..].fill(0);
    fs::write(&path, bytes).unwrap();
    // The pin falls back to the last commit and lists the index as unreadable.
    let pin = repo.pin();
    assert_eq!(excluded_paths(&pin.left_out)[0].1, ExclusionReason::Unreadable);
    assert!(
        repo.tree_paths(&pin.tree)
            .iter()
            .all(|path| !path.contains("private.txt") || path.starts_with("aa/"))
    );
    assert!(!repo.data_dir().exists());
}

/// Runs only if the test may `chown`, and checks only if `safe.directory` does not allow all.
#[cfg(unix)]
#[test]
fn repository_of_another_owner_is_refused_with_a_hint() {
    let repo = TestRepo::new();
    let (root, git) = (repo.root(), repo.root().join(".git"));
    let chown_results =
        [&root, &git].map(|path| std::os::unix::fs::chown(path, Some(12_345), None));
    if chown_results.iter().any(Result::is_err) {
        return;
    }
    if let Err(error) = repo.tree_store().pin(&root) {
        assert!(matches!(error, RepoError::NotOwned { .. }), "{error:?}");
        let hint = format!("git config --global --add safe.directory {}", root.display());
        assert!(error.to_string().contains(&hint), "{error}");
    }
}
