//! Pinning a repository's state as one Git tree, and snapshots of such trees. The user's repository
//! is never changed, secret files are never read, and no hostile tree or index reads or writes
//! outside its folder.
use crate::test_repo::{TestRepo, excluded_paths, list_files};
use debate_mcp::repo::{ExclusionReason, RepoError};
use git2::{ObjectType, Oid, Repository};
use std::fs;
use std::path::Path;

const EMPTY_TREE_ID: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

#[test]
fn clean_worktree_pins_the_commit_tree_without_writing() {
    let ground = TestRepo::new();
    let commit = ground.commit(&[("src/a.rs", "a"), ("b.md", "b")]);
    let pin = ground.pin();
    assert_eq!(pin.commit, Some(commit.to_string()));
    assert_eq!(pin.tree, ground.tree_of(commit));
    assert!(!pin.dirty && pin.left_out.is_empty());
    assert!(!ground.home().exists());
}

/// For every kind of change, the pinned tree equals the tree that a commit of all changes would
/// have.
#[test]
fn dirty_worktree_pins_the_tree_its_commit_would_have() {
    let changes: &[fn(&TestRepo)] = &[
        |ground| ground.write("src/a.rs", "changed"),
        |ground| ground.write("new/deep/file.rs", "new"),
        |ground| ground.remove("src/a.rs"),
        |ground| ground.remove("only/one.rs"),
        |ground| {
            ground.write("src/a.rs", "staged");
            ground.stage();
        },
        |ground| {
            ground.write("src/a.rs", "staged");
            ground.stage();
            ground.write("src/a.rs", "and changed again");
        },
        |ground| {
            ground.remove("src/a.rs");
            ground.stage();
        },
        |ground| {
            ground.write("staged.rs", "new");
            ground.stage();
            ground.remove("staged.rs");
        },
        // A file becomes a folder, and a folder becomes a file.
        |ground| {
            ground.remove("b.md");
            ground.write("b.md/inside.rs", "x");
        },
        |ground| {
            ground.remove("only/one.rs");
            fs::remove_dir(ground.root().join("only")).unwrap();
            ground.write("only", "x");
        },
        // Names that Git sorts differently as files and as folders.
        |ground| {
            ground.write("src.a", "x");
            ground.write("src-b", "x");
            ground.write("src/z", "x");
        },
        |ground| ground.write(".gitignore", "ignored\n"),
    ];
    for (nth, change) in changes.iter().enumerate() {
        let ground = TestRepo::new();
        ground.commit(&[("src/a.rs", "a"), ("src/b.rs", "b"), ("b.md", "b"), ("only/one.rs", "1")]);
        change(&ground);
        let pin = ground.pin();
        assert!(pin.dirty && pin.left_out.is_empty(), "{nth}");
        assert_eq!(ground.pin(), pin, "{nth}: the same state, the same pin");
        ground.stage();
        let commit = ground.commit(&[]);
        assert_eq!(pin.tree, ground.tree_of(commit), "{nth}");
        assert_eq!(ground.pin().tree, pin.tree, "{nth}");
    }
}

#[test]
fn ignored_files_are_not_pinned() {
    let ground = TestRepo::new();
    ground.commit(&[(".gitignore", "target\n*.log\n"), ("a.rs", "a"), ("b.log.rs", "b")]);
    ground.write("target/big.rs", "x");
    ground.write("x.log", "x");
    assert!(!ground.pin().dirty);
    // Removed from the index and ignored from now on: not pinned, although the file still exists.
    let mut index = ground.repository().index().unwrap();
    index.remove_path(Path::new("a.rs")).unwrap();
    index.write().unwrap();
    ground.write(".gitignore", "target\n*.log\na.rs\n");
    assert_eq!(ground.tree_paths(&ground.pin().tree), [".gitignore", "b.log.rs"]);
}

#[test]
fn repository_without_commits_can_be_pinned() {
    let ground = TestRepo::new();
    let pin = ground.pin();
    assert_eq!((pin.tree.as_str(), pin.commit.as_deref(), pin.dirty), (EMPTY_TREE_ID, None, false));
    let snapshot = ground.snapshot(&pin.tree);
    assert_eq!((snapshot.files, list_files(&snapshot.folder)), (0, vec![]));
    ground.write("a/b.rs", "b");
    let pin = ground.pin();
    assert!(pin.dirty && pin.commit.is_none());
    assert_eq!(list_files(&ground.snapshot(&pin.tree).folder), ["a/b.rs"]);
}

#[test]
fn deleting_all_files_pins_the_empty_tree() {
    let ground = TestRepo::new();
    ground.commit(&[("a/b.rs", "b")]);
    ground.remove("a/b.rs");
    let pin = ground.pin();
    assert_eq!((pin.tree.as_str(), pin.dirty), (EMPTY_TREE_ID, true));
    assert_eq!(ground.snapshot(&pin.tree).files, 0);
}

#[test]
fn folder_without_a_worktree_has_no_pin() {
    let folder = tempfile::tempdir().unwrap();
    let trees = debate_mcp::repo::TreeStore::new(&folder.path().join("home"));
    assert_eq!(trees.pin(folder.path()).unwrap(), None);
    assert_eq!(trees.pin(&folder.path().join("nowhere")).unwrap(), None);
    fs::create_dir(folder.path().join(".git")).unwrap();
    assert_eq!(trees.pin(folder.path()).unwrap(), None, "an empty `.git`");
    let bare = folder.path().join("bare.git");
    Repository::init_bare(&bare).unwrap();
    assert_eq!(trees.pin(&bare).unwrap(), None, "a bare one");
}

#[test]
fn dangling_gitdir_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".git"), "gitdir: /nowhere/at/all\n").unwrap();
    let trees = debate_mcp::repo::TreeStore::new(&folder.path().join("home"));
    let error = trees.pin(folder.path()).unwrap_err();
    assert!(matches!(error, RepoError::Unreadable { .. }), "{error:?}");
}

/// `core.worktree` could otherwise point the server at any folder on the disk.
#[test]
fn core_worktree_elsewhere_is_refused() {
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a")]);
    let mut config = ground.repository().config().unwrap();
    config.set_str("core.worktree", "/").unwrap();
    let error = ground.tree_store().pin(&ground.root()).unwrap_err();
    assert!(matches!(error, RepoError::WorktreeElsewhere { .. }), "{error:?}");
}

#[test]
fn pin_works_from_any_subfolder() {
    let ground = TestRepo::new();
    ground.commit(&[("a/b/c.rs", "c"), ("d.rs", "d")]);
    ground.write("e.rs", "e");
    let below = ground.tree_store().pin(&ground.root().join("a/b")).unwrap().unwrap();
    assert_eq!(below, ground.pin());
}

#[test]
fn linked_worktree_is_pinned_separately() {
    let ground = TestRepo::new();
    let commit = ground.commit(&[("a.rs", "a")]);
    let aside = ground.outside("aside");
    ground.repository().worktree("aside", &aside, None).unwrap();
    let pin = ground.tree_store().pin(&aside).unwrap().unwrap();
    assert_eq!(pin.tree, ground.tree_of(commit));
    fs::write(aside.join("b.rs"), "b").unwrap();
    let pin = ground.tree_store().pin(&aside).unwrap().unwrap();
    let snapshot = ground.tree_store().snapshot(&aside, &pin.tree).unwrap();
    assert_eq!(list_files(&snapshot.folder), ["a.rs", "b.rs"]);
    assert!(!ground.pin().dirty, "the other one is as it was");
}

#[test]
fn objects_from_alternates_are_found() {
    let ground = TestRepo::new();
    let commit = ground.commit(&[("src/a.rs", "a"), ("src/b.rs", "b")]);
    let other = ground.outside("other");
    let borrower = Repository::init(&other).unwrap();
    let objects = ground.root().join(".git/objects");
    fs::create_dir_all(other.join(".git/objects/info")).unwrap();
    let line = format!("{}\n", objects.display());
    fs::write(other.join(".git/objects/info/alternates"), line).unwrap();
    fs::write(other.join(".git/shallow"), format!("{commit}\n")).unwrap();
    drop(borrower);
    let borrower = Repository::open(&other).unwrap();
    borrower.reference("refs/heads/here", commit, true, "").unwrap();
    borrower.set_head("refs/heads/here").unwrap();
    fs::create_dir(other.join("src")).unwrap();
    fs::write(other.join("src/a.rs"), "changed").unwrap();
    let pin = ground.tree_store().pin(&other).unwrap().unwrap();
    let snapshot = ground.tree_store().snapshot(&other, &pin.tree).unwrap();
    assert_eq!(fs::read_to_string(snapshot.folder.join("src/a.rs")).unwrap(), "changed");
}

/// The content of a secret file is never read, so it cannot get into the object store.
#[test]
fn secret_files_are_never_stored() {
    let ground = TestRepo::new();
    ground.commit(&[("config/.env", "KEY=old"), ("a.rs", "a")]);
    ground.write("config/.env", "KEY=changed");
    ground.write("deploy.PEM", "a private key");
    ground.write("b.rs", "b");
    let pin = ground.pin();
    let secret = |path: &str| (path.to_owned(), ExclusionReason::Secret);
    assert_eq!(excluded_paths(&pin.left_out), [secret("config/.env"), secret("deploy.PEM")]);
    let ours = Repository::open_bare(ground.home().join("trees.git")).unwrap();
    let stored = |text: &str| {
        let id = Oid::hash_object(ObjectType::Blob, text.as_bytes()).unwrap();
        ours.find_blob(id).is_ok()
    };
    assert!(stored("b") && !stored("KEY=changed") && !stored("a private key"));
    // The committed version is still in the tree, but not in a snapshot.
    assert_eq!(ground.tree_paths(&pin.tree), ["a.rs", "b.rs", "config/.env"]);
    let snapshot = ground.snapshot(&pin.tree);
    assert_eq!(list_files(&snapshot.folder), ["a.rs", "b.rs"]);
    assert_eq!(excluded_paths(&snapshot.left_out), [secret("config/.env")]);
}

#[test]
fn excluded_files_are_listed_with_a_reason() {
    let ground = TestRepo::new();
    ground.commit(&[("grows.txt", "small"), ("a.rs", "a"), ("turns.rs", "t")]);
    ground.write("grows.txt", &"x".repeat(1024 * 1024 + 1));
    ground.write("just.txt", &"x".repeat(1024 * 1024));
    let inner = ground.root().join("inner");
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
        fs::write(ground.outside("private"), "private").unwrap();
        std::os::unix::fs::symlink(ground.outside("private"), ground.root().join("link")).unwrap();
        ground.remove("turns.rs");
        std::os::unix::fs::symlink("a.rs", ground.root().join("turns.rs")).unwrap();
        expected.extend([
            ("link".into(), ExclusionReason::Link),
            ("turns.rs".into(), ExclusionReason::Link),
        ]);
        paths.pop();
    }
    let pin = ground.pin();
    assert_eq!(excluded_paths(&pin.left_out), expected);
    assert_eq!(ground.tree_paths(&pin.tree), paths);
}

/// A folder replaced by a symlink: its files seem to exist, but must not be read through it.
#[cfg(unix)]
#[test]
fn symlinked_folders_are_not_followed() {
    let ground = TestRepo::new();
    ground.commit(&[("d/x.rs", "x"), ("a.rs", "a")]);
    fs::create_dir(ground.outside("private")).unwrap();
    fs::write(ground.outside("private/x.rs"), "private").unwrap();
    fs::remove_dir_all(ground.root().join("d")).unwrap();
    std::os::unix::fs::symlink(ground.outside("private"), ground.root().join("d")).unwrap();
    let pin = ground.pin();
    assert_eq!(ground.tree_paths(&pin.tree), ["a.rs"]);
    assert_eq!(excluded_paths(&pin.left_out), [("d".to_owned(), ExclusionReason::Link)]);
}

#[cfg(unix)]
#[test]
fn snapshot_keeps_the_executable_bit() {
    use std::os::unix::fs::PermissionsExt;
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a")]);
    ground.write("run.sh", "x");
    fs::set_permissions(ground.root().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let snapshot = ground.snapshot(&ground.pin().tree);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&snapshot.folder.join("run.sh")), 0o500);
    assert_eq!(mode(&snapshot.folder.join("a.rs")), 0o400);
}

#[cfg(target_os = "linux")]
#[test]
fn non_utf8_file_names_are_pinned() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9\\ \"x\"\n.rs");
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a")]);
    fs::write(ground.root().join(name), "latin").unwrap();
    let pin = ground.pin();
    let snapshot = ground.snapshot(&pin.tree);
    assert_eq!(fs::read_to_string(snapshot.folder.join(name)).unwrap(), "latin");
    ground.stage();
    assert_eq!(pin.tree, ground.tree_of(ground.commit(&[])));
}

/// Files outside the sparse checkout are missing from the working tree, but are not deleted.
#[test]
fn sparse_checkout_files_are_not_deleted() {
    let ground = TestRepo::new();
    let commit = ground.commit(&[("a.rs", "a"), ("far/b.rs", "b")]);
    let mut index = ground.repository().index().unwrap();
    let mut entry = index.get_path(Path::new("far/b.rs"), 0).unwrap();
    entry.flags_extended |= git2::IndexEntryExtendedFlag::SKIP_WORKTREE.bits();
    index.add(&entry).unwrap();
    index.write().unwrap();
    ground.remove("far/b.rs");
    assert_eq!(ground.pin().tree, ground.tree_of(commit));
}

#[test]
fn data_folder_inside_the_repository_is_not_pinned() {
    let ground = TestRepo::new();
    let commit = ground.commit(&[("a.rs", "a")]);
    let trees = debate_mcp::repo::TreeStore::new(&ground.root().join(".home"));
    ground.write("b.rs", "b");
    let pin = trees.pin(&ground.root()).unwrap().unwrap();
    trees.snapshot(&ground.root(), &pin.tree).unwrap();
    assert_eq!(trees.pin(&ground.root()).unwrap().unwrap(), pin);
    ground.remove("b.rs");
    let pin = trees.pin(&ground.root()).unwrap().unwrap();
    assert!(!pin.dirty && pin.tree == ground.tree_of(commit));
}

#[test]
fn pin_and_snapshot_leave_the_repository_unchanged() {
    let ground = TestRepo::new();
    ground.commit(&[("src/a.rs", "a"), ("b.md", "b")]);
    ground.write("src/a.rs", "changed");
    ground.write("c.rs", "staged");
    ground.stage();
    ground.write("d.rs", "new");
    let before = ground.file_listing();
    let pin = ground.pin();
    let snapshot = ground.snapshot(&pin.tree);
    ground.snapshot(&pin.tree);
    assert_eq!(list_files(&snapshot.folder), ["b.md", "c.rs", "d.rs", "src/a.rs"]);
    assert_eq!(ground.file_listing(), before);
}

/// The index file is untrusted input: its paths may contain `..`.
#[test]
fn hostile_index_path_cannot_escape_the_repository() {
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a")]);
    fs::write(ground.outside("private.txt"), "private").unwrap();
    ground.write("aa/private.txt", "x");
    ground.stage();
    ground.remove("aa/private.txt");
    let path = ground.root().join(".git/index");
    let mut bytes = fs::read(&path).unwrap();
    let inside = b"aa/private.txt";
    let at = bytes.windows(inside.len()).position(|part| part == inside).unwrap();
    bytes[at..at + inside.len()].copy_from_slice(b"../private.txt");
    // An index with an all-zero checksum is accepted as valid.
    let end = bytes.len();
    bytes[end - 20..].fill(0);
    fs::write(&path, bytes).unwrap();
    // The pin falls back to the last commit and lists the index as unreadable.
    let pin = ground.pin();
    assert_eq!(excluded_paths(&pin.left_out)[0].1, ExclusionReason::Unreadable);
    assert!(
        ground
            .tree_paths(&pin.tree)
            .iter()
            .all(|path| !path.contains("private.txt") || path.starts_with("aa/"))
    );
    assert!(!ground.home().exists());
}

/// Runs only if the test may `chown`, and checks only if `safe.directory` does not allow all.
#[cfg(unix)]
#[test]
fn repository_of_another_owner_is_refused_with_a_hint() {
    let ground = TestRepo::new();
    let (root, git) = (ground.root(), ground.root().join(".git"));
    let given = [&root, &git].map(|path| std::os::unix::fs::chown(path, Some(12_345), None));
    if given.iter().any(Result::is_err) {
        return;
    }
    if let Err(error) = ground.tree_store().pin(&root) {
        assert!(matches!(error, RepoError::NotOwned { .. }), "{error:?}");
        let says = format!("git config --global --add safe.directory {}", root.display());
        assert!(error.to_string().contains(&says), "{error}");
    }
}
