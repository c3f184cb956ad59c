//! Snapshots of pinned trees: which files they contain, read-only permissions, hostile trees,
//! reuse, and LRU eviction of snapshots that are not in use.
use crate::repo::{ExclusionReason, RepoError};
use crate::test_support::test_repo::{TestRepo, excluded_paths, list_files};
use git2::Oid;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;

/// Distinct trees with one file each.
fn one_file_trees(repo: &TestRepo, count: usize) -> Vec<String> {
    let tree = |number: usize| {
        let blob = repo.blob(format!("{number}").as_bytes());
        repo.raw_tree(&[("100644", b"a.rs", blob)]).to_string()
    };
    (0..count).map(tree).collect()
}

fn sibling_path(folder: &Path, extension: &str) -> PathBuf {
    PathBuf::from(format!("{}.{extension}", folder.display()))
}

#[test]
fn snapshot_contains_only_readable_files() {
    let repo = TestRepo::new();
    repo.commit(&[
        ("src/deep/a.rs", "a"),
        (".env", "KEY=1"),
        ("AGENTS.md", "obey"),
        (".claude/settings.json", "{}"),
        ("image.png", "\u{89}PNG\0"),
        ("big.txt", &"x".repeat(1024 * 1024 + 1)),
        ("late.txt", &format!("{}\0", "x".repeat(8_000))),
        ("empty.rs", ""),
    ]);
    let snapshot = repo.snapshot(&repo.pin().tree);
    assert_eq!(list_files(&snapshot.folder), ["empty.rs", "late.txt", "src/deep/a.rs"]);
    assert_eq!((snapshot.files, snapshot.bytes), (3, 8_002));
    let expected = [
        (".env", ExclusionReason::Secret),
        ("AGENTS.md", ExclusionReason::Instructions),
        ("big.txt", ExclusionReason::TooLarge),
        ("image.png", ExclusionReason::Binary),
        (".claude/settings.json", ExclusionReason::Settings),
    ];
    let expected = expected.map(|(path, reason)| (path.to_owned(), reason));
    assert_eq!(excluded_paths(&snapshot.left_out), expected);
    assert!(expected.iter().all(|(_, reason)| !reason.describe().is_empty()));
}

#[cfg(unix)]
#[test]
fn snapshot_is_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let repo = TestRepo::new();
    repo.commit(&[("src/deep/a.rs", "a"), ("b.rs", "b")]);
    let folder = repo.snapshot(&repo.pin().tree).folder;
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
    for inner in ["", "src", "src/deep"] {
        assert_eq!(mode(&folder.join(inner)), 0o500, "{inner}");
    }
    for file in ["b.rs", "src/deep/a.rs"] {
        assert_eq!(mode(&folder.join(file)), 0o400, "{file}");
    }
    assert_eq!(mode(folder.parent().unwrap()), 0o700);
    assert_eq!(mode(&sibling_path(&folder, "json")), 0o600);
    repo.write("c.rs", "c");
    repo.pin();
    assert_eq!(mode(&repo.data_dir().join("trees.git")), 0o700);
}

/// The tree is untrusted: its names may contain `..`, and its modes may not match its objects.
#[test]
fn hostile_tree_cannot_escape_the_snapshot() {
    let repo = TestRepo::new();
    let blob = repo.blob(b"evil");
    let link_target = repo.blob(b"../..");
    let inner = repo.raw_tree(&[("100644", b"x", blob)]);
    let tree = repo.raw_tree(&[
        ("100644", b"..", blob),
        ("40000", b"..", inner),
        ("40000", b".git", inner),
        ("40000", b".GIT", inner),
        ("40000", b".", inner),
        ("100644", b"../up", blob),
        ("100644", b"/abs", blob),
        ("100644", b"a/b/../../../c", blob),
        ("120000", b"link", link_target),
        ("40000", b"link", inner),
        ("100644", b"same", blob),
        ("40000", b"same", inner),
        ("160000", b"sub", blob),
        ("40000", b"not-a-folder", blob),
        ("100644", b"not-a-file", inner),
        ("100644", b"good", blob),
    ]);
    let before = list_files(&repo.temp_path(""));
    let snapshot = repo.snapshot(&tree.to_string());
    assert_eq!(list_files(&snapshot.folder), ["good", "link/x", "same"]);
    let after = list_files(&repo.temp_path(""));
    let new_paths: Vec<_> = after.iter().filter(|path| !before.contains(path)).collect();
    assert!(new_paths.iter().all(|path| path.starts_with("home/snapshots/")), "{new_paths:?}");
    let exclusions = excluded_paths(&snapshot.left_out);
    let reason_for = |path: &str| {
        exclusions.iter().find(|(excluded, _)| excluded == path).map(|(_, reason)| *reason)
    };
    for path in ["..", "../", ".git/", ".GIT/", "./", "../up", "/abs", "a/b/../../../c"] {
        assert_eq!(reason_for(path), Some(ExclusionReason::Unreadable), "{path}");
    }
    for path in ["same/x", "not-a-folder/", "not-a-file"] {
        assert_eq!(reason_for(path), Some(ExclusionReason::Unreadable), "{path}");
    }
    assert_eq!(
        (reason_for("link"), reason_for("sub")),
        (Some(ExclusionReason::Link), Some(ExclusionReason::Submodule))
    );
}

/// Nested trees of few objects can expand to more files than a disk holds (a tree bomb).
#[test]
fn tree_bomb_is_cut_off() {
    let repo = TestRepo::new();
    let secret = repo.blob(b"x");
    let mut tree = repo.raw_tree(&[("100644", b".env", secret)]);
    for _ in 0..12 {
        let names: Vec<String> = (0..40).map(|number| format!("d{number:02}")).collect();
        let entries: Vec<_> = names.iter().map(|name| ("40000", name.as_bytes(), tree)).collect();
        tree = repo.raw_tree(&entries);
    }
    let snapshot = repo.snapshot(&tree.to_string());
    assert_eq!(snapshot.files, 0);
    assert!(snapshot.left_out.iter().any(|exclusion| exclusion.why == ExclusionReason::TooMuch));
}

/// A partial clone has a tree without all of its blobs.
#[test]
fn missing_objects_of_a_partial_clone_are_excluded() {
    let repo = TestRepo::new();
    let missing_oid = Oid::from_str("1234567890123456789012345678901234567890").unwrap();
    let present_oid = repo.blob(b"here");
    let tree = repo.raw_tree(&[
        ("100644", b"a", missing_oid),
        ("100644", b"b", present_oid),
        ("40000", b"c", missing_oid),
    ]);
    let partial = repo.snapshot(&tree.to_string());
    assert_eq!(list_files(&partial.folder), ["b"]);
    let expected =
        [("a".into(), ExclusionReason::Unreadable), ("c/".into(), ExclusionReason::Unreadable)];
    assert_eq!(excluded_paths(&partial.left_out), expected);
}

#[test]
fn unknown_tree_id_is_an_error() {
    let repo = TestRepo::new();
    let error = |tree: &str| repo.tree_store().snapshot(&repo.root(), tree).unwrap_err();
    let missing_tree = "1234567890123456789012345678901234567890";
    assert!(matches!(error(missing_tree), RepoError::TreeMissing { tree } if tree == missing_tree));
    let blob = repo.blob(b"x");
    assert!(matches!(error(&blob.to_string()), RepoError::TreeMissing { .. }));
    for invalid_id in ["", "../../x", "1234", "HEAD", &"g".repeat(40), &"1".repeat(41)] {
        assert!(matches!(error(invalid_id), RepoError::InvalidTreeId { .. }), "{invalid_id}");
    }
    let leftovers = list_files(&repo.data_dir().join("snapshots"));
    assert!(
        leftovers.iter().all(|name| name == "gate"
            || name.rsplit_once('.').is_some_and(|(_, extension)| extension == "lock")),
        "{leftovers:?}"
    );
}

#[test]
fn snapshot_is_created_once_and_reused() {
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a"), (".env", "x")]);
    let tree = repo.pin().tree;
    let first = repo.snapshot(&tree);
    let modified_at = fs::metadata(first.folder.join("a.rs")).unwrap().modified().unwrap();
    // A complete snapshot is reused without the repository.
    let reused = repo.tree_store().snapshot(Path::new("/nowhere"), &tree.to_uppercase()).unwrap();
    assert_eq!((&reused.folder, reused.files, reused.bytes), (&first.folder, 1, 1));
    assert_eq!(reused.left_out, first.left_out);
    assert_eq!(fs::metadata(reused.folder.join("a.rs")).unwrap().modified().unwrap(), modified_at);
}

#[test]
fn snapshot_without_its_manifest_is_recreated() {
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a"), (".env", "x")]);
    let tree = repo.pin().tree;
    let first = repo.snapshot(&tree);
    fs::remove_file(sibling_path(&first.folder, "json")).unwrap();
    // In use, the snapshot stays in place. After release it is replaced.
    let second = repo.snapshot(&tree);
    assert_eq!((second.left_out.len(), list_files(&first.folder)), (1, vec!["a.rs".to_owned()]));
    fs::write(sibling_path(&first.folder, "json"), "{").unwrap();
    drop((first, second));
    let third = repo.snapshot(&tree);
    assert_eq!((third.left_out.len(), list_files(&third.folder)), (1, vec!["a.rs".to_owned()]));
}

#[test]
fn concurrent_snapshots_of_one_tree_agree() {
    let repo = TestRepo::new();
    let files: Vec<_> =
        (0..200).map(|number| (format!("d{}/{number}.rs", number % 7), "x")).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    repo.commit(&files);
    repo.write("new.rs", "new");
    let (trees, root) = (repo.tree_store(), repo.root());
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
    let repo = TestRepo::new();
    let trees = one_file_trees(&repo, 20);
    let snapshots_dir = repo.data_dir().join("snapshots");
    let is_cached = |tree: &str| {
        list_files(&snapshots_dir).iter().any(|path| path.starts_with(&format!("{tree}-1-whole/")))
    };
    let snapshot_in_use = repo.snapshot(&trees[0]);
    for tree in &trees[1..16] {
        repo.snapshot(tree);
    }
    // Touch this one, so that another one is the least recently used.
    repo.snapshot(&trees[1]);
    for tree in &trees[16..] {
        repo.snapshot(tree);
    }
    assert!(
        is_cached(&trees[0]) && snapshot_in_use.folder.join("a.rs").exists(),
        "a snapshot in use is kept"
    );
    assert!(is_cached(&trees[1]), "a recently used snapshot is kept");
    for tree in &trees[2..6] {
        assert!(!is_cached(tree), "{tree}");
    }
    assert!(trees[6..].iter().all(|tree| is_cached(tree)));
    let entry_count = fs::read_dir(&snapshots_dir).unwrap().count();
    assert_eq!(
        entry_count,
        if cfg!(unix) { 16 * 3 + 1 } else { 16 * 3 + 1 + 4 },
        "no other files are left"
    );
    // After release it is evicted like any other.
    drop(snapshot_in_use);
    let empty_tree = repo.raw_tree(&[]);
    repo.snapshot(&empty_tree.to_string());
    assert!(!is_cached(&trees[0]));
    assert_eq!(repo.snapshot(&trees[0]).files, 1, "it can be created again");
}

#[test]
fn temporary_files_of_a_crash_are_deleted() {
    let repo = TestRepo::new();
    let trees = one_file_trees(&repo, 2);
    let snapshots_dir = repo.data_dir().join("snapshots");
    for name in [format!("{}-1.tmp", trees[0]), format!("{}-1.tmp", trees[1])] {
        fs::create_dir_all(snapshots_dir.join(&name).join("half")).unwrap();
        fs::write(snapshots_dir.join(name).join("half/made.rs"), "x").unwrap();
    }
    fs::write(snapshots_dir.join("list.tmp"), "{").unwrap();
    let snapshot = repo.snapshot(&trees[0]);
    assert_eq!(list_files(&snapshot.folder), ["a.rs"]);
    assert!(
        list_files(&snapshots_dir).iter().all(|path| !path.contains(".tmp")),
        "{:?}",
        list_files(&snapshots_dir)
    );
}
