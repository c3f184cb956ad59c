//! Snapshots of pinned trees: which files they contain, read-only permissions, hostile trees,
//! reuse, and LRU eviction of snapshots that are not in use.
use crate::test_repo::{TestRepo, excluded_paths, list_files};
use debate_mcp::repo::{ExclusionReason, RepoError};
use git2::Oid;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;

/// Distinct trees with one file each.
fn one_file_trees(ground: &TestRepo, many: usize) -> Vec<String> {
    let tree = |nth: usize| {
        let blob = ground.blob(format!("{nth}").as_bytes());
        ground.raw_tree(&[("100644", b"a.rs", blob)]).to_string()
    };
    (0..many).map(tree).collect()
}

fn sibling_path(folder: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", folder.display()))
}

#[test]
fn snapshot_contains_only_readable_files() {
    let ground = TestRepo::new();
    ground.commit(&[
        ("src/deep/a.rs", "a"),
        (".env", "KEY=1"),
        ("AGENTS.md", "obey"),
        (".claude/settings.json", "{}"),
        ("image.png", "\u{89}PNG\0"),
        ("big.txt", &"x".repeat(1024 * 1024 + 1)),
        ("late.txt", &format!("{}\0", "x".repeat(8_000))),
        ("empty.rs", ""),
    ]);
    let snapshot = ground.snapshot(&ground.pin().tree);
    assert_eq!(list_files(&snapshot.folder), ["empty.rs", "late.txt", "src/deep/a.rs"]);
    assert_eq!((snapshot.files, snapshot.bytes), (3, 8_002));
    let expected = [
        (".env", ExclusionReason::Secret),
        ("AGENTS.md", ExclusionReason::Instructions),
        ("big.txt", ExclusionReason::TooLarge),
        ("image.png", ExclusionReason::Binary),
        (".claude/settings.json", ExclusionReason::Settings),
    ];
    let expected = expected.map(|(path, why)| (path.to_owned(), why));
    assert_eq!(excluded_paths(&snapshot.left_out), expected);
    assert!(expected.iter().all(|(_, why)| !why.describe().is_empty()));
}

#[cfg(unix)]
#[test]
fn snapshot_is_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let ground = TestRepo::new();
    ground.commit(&[("src/deep/a.rs", "a"), ("b.rs", "b")]);
    let folder = ground.snapshot(&ground.pin().tree).folder;
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
    for inner in ["", "src", "src/deep"] {
        assert_eq!(mode(&folder.join(inner)), 0o500, "{inner}");
    }
    for file in ["b.rs", "src/deep/a.rs"] {
        assert_eq!(mode(&folder.join(file)), 0o400, "{file}");
    }
    assert_eq!(mode(folder.parent().unwrap()), 0o700);
    assert_eq!(mode(&sibling_path(&folder, "json")), 0o600);
    ground.write("c.rs", "c");
    ground.pin();
    assert_eq!(mode(&ground.home().join("trees.git")), 0o700);
}

/// The tree is untrusted: its names may contain `..`, and its modes may not match its objects.
#[test]
fn hostile_tree_cannot_escape_the_snapshot() {
    let ground = TestRepo::new();
    let blob = ground.blob(b"evil");
    let leads_out = ground.blob(b"../..");
    let inner = ground.raw_tree(&[("100644", b"x", blob)]);
    let tree = ground.raw_tree(&[
        ("100644", b"..", blob),
        ("40000", b"..", inner),
        ("40000", b".git", inner),
        ("40000", b".GIT", inner),
        ("40000", b".", inner),
        ("100644", b"../up", blob),
        ("100644", b"/abs", blob),
        ("100644", b"a/b/../../../c", blob),
        ("120000", b"link", leads_out),
        ("40000", b"link", inner),
        ("100644", b"same", blob),
        ("40000", b"same", inner),
        ("160000", b"sub", blob),
        ("40000", b"not-a-folder", blob),
        ("100644", b"not-a-file", inner),
        ("100644", b"good", blob),
    ]);
    let before = list_files(&ground.outside(""));
    let snapshot = ground.snapshot(&tree.to_string());
    assert_eq!(list_files(&snapshot.folder), ["good", "link/x", "same"]);
    let after = list_files(&ground.outside(""));
    let new: Vec<_> = after.iter().filter(|path| !before.contains(path)).collect();
    assert!(new.iter().all(|path| path.starts_with("home/snapshots/")), "{new:?}");
    let left = excluded_paths(&snapshot.left_out);
    let why = |path: &str| left.iter().find(|(left, _)| left == path).map(|(_, why)| *why);
    for path in ["..", "../", ".git/", ".GIT/", "./", "../up", "/abs", "a/b/../../../c"] {
        assert_eq!(why(path), Some(ExclusionReason::Unreadable), "{path}");
    }
    for path in ["same/x", "not-a-folder/", "not-a-file"] {
        assert_eq!(why(path), Some(ExclusionReason::Unreadable), "{path}");
    }
    assert_eq!(
        (why("link"), why("sub")),
        (Some(ExclusionReason::Link), Some(ExclusionReason::Submodule))
    );
}

/// Nested trees of few objects can expand to more files than a disk holds (a tree bomb).
#[test]
fn tree_bomb_is_cut_off() {
    let ground = TestRepo::new();
    let secret = ground.blob(b"x");
    let mut tree = ground.raw_tree(&[("100644", b".env", secret)]);
    for _ in 0..12 {
        let names: Vec<String> = (0..40).map(|nth| format!("d{nth:02}")).collect();
        let entries: Vec<_> = names.iter().map(|name| ("40000", name.as_bytes(), tree)).collect();
        tree = ground.raw_tree(&entries);
    }
    let snapshot = ground.snapshot(&tree.to_string());
    assert_eq!(snapshot.files, 0);
    assert!(snapshot.left_out.iter().any(|left| left.why == ExclusionReason::TooMuch));
}

/// A partial clone has a tree without all of its blobs.
#[test]
fn missing_objects_of_a_partial_clone_are_excluded() {
    let ground = TestRepo::new();
    let nowhere = Oid::from_str("1234567890123456789012345678901234567890").unwrap();
    let here = ground.blob(b"here");
    let tree = ground.raw_tree(&[
        ("100644", b"a", nowhere),
        ("100644", b"b", here),
        ("40000", b"c", nowhere),
    ]);
    let partial = ground.snapshot(&tree.to_string());
    assert_eq!(list_files(&partial.folder), ["b"]);
    let left =
        [("a".into(), ExclusionReason::Unreadable), ("c/".into(), ExclusionReason::Unreadable)];
    assert_eq!(excluded_paths(&partial.left_out), left);
}

#[test]
fn unknown_tree_id_is_an_error() {
    let ground = TestRepo::new();
    let error = |tree: &str| ground.tree_store().snapshot(&ground.root(), tree).unwrap_err();
    let nowhere = "1234567890123456789012345678901234567890";
    assert!(matches!(error(nowhere), RepoError::TreeMissing { tree } if tree == nowhere));
    let blob = ground.blob(b"x");
    assert!(matches!(error(&blob.to_string()), RepoError::TreeMissing { .. }));
    for no_id in ["", "../../x", "1234", "HEAD", &"g".repeat(40), &"1".repeat(41)] {
        assert!(matches!(error(no_id), RepoError::InvalidTreeId { .. }), "{no_id}");
    }
    let left = list_files(&ground.home().join("snapshots"));
    assert!(
        left.iter().all(|name| name == "gate"
            || name.rsplit_once('.').is_some_and(|(_, ending)| ending == "lock")),
        "{left:?}"
    );
}

#[test]
fn snapshot_is_created_once_and_reused() {
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a"), (".env", "x")]);
    let tree = ground.pin().tree;
    let first = ground.snapshot(&tree);
    let made = fs::metadata(first.folder.join("a.rs")).unwrap().modified().unwrap();
    // A complete snapshot is reused without the repository.
    let again = ground.tree_store().snapshot(Path::new("/nowhere"), &tree.to_uppercase()).unwrap();
    assert_eq!((&again.folder, again.files, again.bytes), (&first.folder, 1, 1));
    assert_eq!(again.left_out, first.left_out);
    assert_eq!(fs::metadata(again.folder.join("a.rs")).unwrap().modified().unwrap(), made);
}

#[test]
fn snapshot_without_its_manifest_is_recreated() {
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a"), (".env", "x")]);
    let tree = ground.pin().tree;
    let first = ground.snapshot(&tree);
    fs::remove_file(sibling_path(&first.folder, "json")).unwrap();
    // In use, the snapshot stays in place. After release it is replaced.
    let again = ground.snapshot(&tree);
    assert_eq!((again.left_out.len(), list_files(&first.folder)), (1, vec!["a.rs".to_owned()]));
    fs::write(sibling_path(&first.folder, "json"), "{").unwrap();
    drop((first, again));
    let third = ground.snapshot(&tree);
    assert_eq!((third.left_out.len(), list_files(&third.folder)), (1, vec!["a.rs".to_owned()]));
}

#[test]
fn concurrent_snapshots_of_one_tree_agree() {
    let ground = TestRepo::new();
    let files: Vec<_> = (0..200).map(|nth| (format!("d{}/{nth}.rs", nth % 7), "x")).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    ground.commit(&files);
    ground.write("new.rs", "new");
    let (trees, root) = (ground.tree_store(), ground.root());
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        let run = || {
            start.wait();
            let pin = trees.pin(&root).unwrap().unwrap();
            let snapshot = trees.snapshot(&root, &pin.tree).unwrap();
            assert_eq!(list_files(&snapshot.folder).len(), 201);
            (snapshot.files, pin.tree)
        };
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        let runs: Vec<_> = runs.into_iter().map(|run| run.join().unwrap()).collect();
        assert!(runs.iter().all(|run| *run == runs[0] && run.0 == 201), "{runs:?}");
    });
}

#[test]
fn least_recently_used_snapshots_are_evicted() {
    let ground = TestRepo::new();
    let trees = one_file_trees(&ground, 20);
    let shelf = ground.home().join("snapshots");
    let there = |tree: &str| {
        list_files(&shelf).iter().any(|path| path.starts_with(&format!("{tree}-1-whole/")))
    };
    let held = ground.snapshot(&trees[0]);
    for tree in &trees[1..16] {
        ground.snapshot(tree);
    }
    // Touch this one, so that another one is the least recently used.
    ground.snapshot(&trees[1]);
    for tree in &trees[16..] {
        ground.snapshot(tree);
    }
    assert!(there(&trees[0]) && held.folder.join("a.rs").exists(), "it is in use");
    assert!(there(&trees[1]), "it was used");
    for tree in &trees[2..6] {
        assert!(!there(tree), "{tree}");
    }
    assert!(trees[6..].iter().all(|tree| there(tree)));
    let names = fs::read_dir(&shelf).unwrap().count();
    assert_eq!(names, if cfg!(unix) { 16 * 3 + 1 } else { 16 * 3 + 1 + 4 }, "nothing else is left");
    // After release it is evicted like any other.
    drop(held);
    let last = ground.raw_tree(&[]);
    ground.snapshot(&last.to_string());
    assert!(!there(&trees[0]));
    assert_eq!(ground.snapshot(&trees[0]).files, 1, "and can be made again");
}

#[test]
fn temporary_files_of_a_crash_are_deleted() {
    let ground = TestRepo::new();
    let trees = one_file_trees(&ground, 2);
    let shelf = ground.home().join("snapshots");
    for name in [format!("{}-1.tmp", trees[0]), format!("{}-1.tmp", trees[1])] {
        fs::create_dir_all(shelf.join(&name).join("half")).unwrap();
        fs::write(shelf.join(name).join("half/made.rs"), "x").unwrap();
    }
    fs::write(shelf.join("list.tmp"), "{").unwrap();
    let snapshot = ground.snapshot(&trees[0]);
    assert_eq!(list_files(&snapshot.folder), ["a.rs"]);
    assert!(
        list_files(&shelf).iter().all(|path| !path.contains(".tmp")),
        "{:?}",
        list_files(&shelf)
    );
}
