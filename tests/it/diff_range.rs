//! Diff ranges in every kind of repository: branches, first commits, shallow and partial clones.
//! Also the history of a file.
use crate::test_repo::TestRepo;
use crate::tree_diff::diff_range;
use debate_mcp::repo::{
    DiffRange, ExclusionReason, FileChangeKind, LineCounts, RepoError, TreeDiff, TreeStore,
};
use git2::{Oid, Repository};
use std::fs;

fn changed_paths(changes: &TreeDiff) -> Vec<&str> {
    changes.files.iter().map(|file| file.path.as_str()).collect()
}

fn diff_error(ground: &TestRepo, range: &DiffRange) -> RepoError {
    ground.tree_store().diff(&ground.root(), &ground.pin(), range).unwrap_err()
}

fn since_range(base: &str, head: &str) -> DiffRange {
    DiffRange::MergeBase { base: base.into(), head: head.into() }
}

/// A repository with a branch of two commits, off a default branch that has advanced since.
fn repo_with_branch(default: &str) -> (TestRepo, Oid, Oid) {
    let ground = TestRepo::new();
    let base = ground.commit(&[("a.rs", "a\n")]);
    let repository = ground.repository();
    let commit = repository.find_commit(base).unwrap();
    let theirs = ground.commit(&[("theirs.rs", "theirs\n")]);
    repository.reference(&format!("refs/heads/{default}"), theirs, true, "").unwrap();
    repository.branch("mine", &commit, true).unwrap();
    repository.set_head("refs/heads/mine").unwrap();
    repository.reset(commit.as_object(), git2::ResetType::Hard, None).unwrap();
    drop(commit);
    ground.commit(&[("mine.rs", "one\n")]);
    let head = ground.commit(&[("mine.rs", "two\n")]);
    (ground, base, head)
}

#[test]
fn branch_diff_starts_at_the_merge_base() {
    for default in ["main", "master", "trunk", "develop"] {
        let (ground, base, head) = repo_with_branch(default);
        // `git init` created a branch with another default name, which would be preferred.
        for name in ["main", "master"].iter().filter(|name| **name != default) {
            if let Ok(mut found) = ground.repository().find_branch(name, git2::BranchType::Local) {
                found.delete().unwrap();
            }
        }
        let found = diff_range(&ground, &DiffRange::Branch);
        assert_eq!(changed_paths(&found), ["mine.rs"], "{default}");
        assert!(found.description.contains(&base.to_string()[..12]), "{}", found.description);
        let same = diff_range(&ground, &since_range(default, "HEAD"));
        assert_eq!(changed_paths(&same), ["mine.rs"]);
        let plain =
            diff_range(&ground, &DiffRange::Between { base: default.into(), head: String::new() });
        assert_eq!(changed_paths(&plain), ["mine.rs", "theirs.rs"]);
        let last = diff_range(&ground, &DiffRange::Commit(head.to_string()));
        assert_eq!(
            (changed_paths(&last), last.files[0].kind),
            (vec!["mine.rs"], FileChangeKind::Modified)
        );
        ground.write("more.rs", "more\n");
        assert_eq!(changed_paths(&diff_range(&ground, &DiffRange::Branch)), ["mine.rs", "more.rs"]);
        assert_eq!(changed_paths(&diff_range(&ground, &DiffRange::Auto)), ["more.rs"]);
    }
}

#[test]
fn default_branch_comes_from_the_remote() {
    let (ground, base, _) = repo_with_branch("main");
    let repository = ground.repository();
    let old = repository.find_commit(base).unwrap();
    repository.reference("refs/remotes/origin/next", old.id(), true, "").unwrap();
    let (head, next) = ("refs/remotes/origin/HEAD", "refs/remotes/origin/next");
    repository.reference_symbolic(head, next, true, "").unwrap();
    assert!(diff_range(&ground, &DiffRange::Branch).description.contains("`origin/next`"));
}

#[test]
fn any_range_picks_the_first_available_diff() {
    let (ground, ..) = repo_with_branch("main");
    assert!(diff_range(&ground, &DiffRange::Auto).description.contains("this branch"));
    let ground = TestRepo::new();
    ground.write("a.rs", "a\n");
    let found = diff_range(&ground, &DiffRange::Auto);
    assert_eq!((changed_paths(&found), found.files[0].kind), (vec!["a.rs"], FileChangeKind::Added));
    assert!(found.description.contains("no commit yet"), "{}", found.description);
    ground.commit(&[("a.rs", "a\n")]);
    let found = diff_range(&ground, &DiffRange::Auto);
    assert!(found.description.contains("the first one"), "{}", found.description);
    let head = ground.repository().head().unwrap().target().unwrap();
    ground.repository().set_head_detached(head).unwrap();
    assert_eq!(changed_paths(&diff_range(&ground, &DiffRange::Auto)), ["a.rs"]);
}

#[test]
fn missing_revision_or_repository_is_an_error() {
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a\n")]);
    let nothing = diff_error(&ground, &DiffRange::Commit("nothing".into()));
    assert!(matches!(nothing, RepoError::UnknownRevision { .. }), "{nothing}");
    let repository = ground.repository();
    let (tree, who) = (ground.tree_of(ground.commit(&[])), git2::Time::new(0, 0));
    let tree = repository.find_tree(Oid::from_str(&tree).unwrap()).unwrap();
    let who = git2::Signature::new("b", "b@b", &who).unwrap();
    let stranger = repository.commit(None, &who, &who, "other", &tree, &[]).unwrap();
    let strangers = diff_error(&ground, &since_range(&stranger.to_string(), "HEAD"));
    assert!(matches!(strangers, RepoError::NoMergeBase { .. }), "{strangers}");
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("bare.git");
    Repository::init_bare(&bare).unwrap();
    let trees = TreeStore::new(&folder.path().join("home"));
    for (root, says) in [(folder.path(), "no git repository"), (bare.as_path(), "bare repository")]
    {
        let error = trees.diff(root, &ground.pin(), &DiffRange::Auto).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn shallow_clone_error_says_how_to_fetch_more() {
    let (ground, _, head) = repo_with_branch("main");
    fs::write(ground.root().join(".git/shallow"), format!("{head}\n")).unwrap();
    let pin = ground.tree_store().pin(&ground.root()).unwrap().unwrap();
    for range in [DiffRange::Branch, DiffRange::Commit("HEAD".into()), since_range("gone", "HEAD")]
    {
        let error = ground.tree_store().diff(&ground.root(), &pin, &range).unwrap_err();
        assert!(matches!(error, RepoError::Shallow { .. }), "{range:?}: {error}");
        let says = error.to_string();
        assert!(
            says.contains("fetch-depth: 0") && says.contains("git fetch --unshallow"),
            "{says}"
        );
    }
}

#[test]
fn missing_blob_is_reported_as_unreadable() {
    let ground = TestRepo::new();
    let (there, gone) = (ground.blob(b"there\n"), ground.blob(b"gone\n"));
    let old = ground.raw_tree(&[("100644", b"a.rs", there)]);
    let new = ground.raw_tree(&[("100644", b"a.rs", gone), ("100644", b"b.rs", there)]);
    let repository = ground.repository();
    let who = git2::Signature::new("a", "a@b", &git2::Time::new(0, 0)).unwrap();
    let commit = |tree: Oid| {
        let tree = repository.find_tree(tree).unwrap();
        repository.commit(None, &who, &who, "x", &tree, &[]).unwrap().to_string()
    };
    let range = DiffRange::Between { base: commit(old), head: commit(new) };
    let id = gone.to_string();
    fs::remove_file(ground.root().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let found = diff_range(&ground, &range);
    assert_eq!(changed_paths(&found), ["a.rs", "b.rs"]);
    assert_eq!(found.files[0].lines, LineCounts::Unknown(ExclusionReason::Unreadable));
    let reader =
        ground.tree_store().view(&ground.root(), &old.to_string()).unwrap().reader().unwrap();
    assert_eq!(reader.diff_file(&found.files[0]).unwrap_err(), ExclusionReason::Unreadable);
}

#[test]
fn file_history_lists_the_commits_that_changed_it() {
    let ground = TestRepo::new();
    let mut changed = vec![];
    for nth in 1..9 {
        changed.push(ground.commit(&[("a.rs", &"a\n".repeat(nth))]).to_string()[..12].to_owned());
        ground.commit(&[("b.rs", &"b\n".repeat(nth))]);
    }
    let paths = ["a.rs".to_owned(), "nowhere.rs".into()];
    let (pasts, short) =
        ground.tree_store().history(&ground.root(), &ground.pin(), &paths).unwrap();
    let ids: Vec<_> = pasts[0].commits.iter().map(|commit| commit.id.clone()).collect();
    changed.reverse();
    assert_eq!((ids.as_slice(), pasts[1].commits.len(), short), (&changed[..5], 0, false));
    let (all, _) = ground.tree_store().history(&ground.root(), &ground.pin(), &[]).unwrap();
    assert_eq!(all[0].commits.len(), 5);
}
