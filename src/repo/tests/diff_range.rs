//! Diff ranges in every kind of repository: branches, first commits, shallow and partial clones.
//! Also the history of a file.
use super::tree_diff::diff_range;
use crate::repo::{
    DiffRange, ExclusionReason, FileChangeKind, LineCounts, RepoError, TreeDiff, TreeStore,
};
use crate::test_support::test_repo::TestRepo;
use git2::{Oid, Repository};
use std::fs;

fn changed_paths(diff: &TreeDiff) -> Vec<&str> {
    diff.files.iter().map(|file| file.path.as_str()).collect()
}

fn diff_error(repo: &TestRepo, range: &DiffRange) -> RepoError {
    repo.tree_store().diff(&repo.root(), &repo.pin(), range).unwrap_err()
}

fn since_range(base: &str, head: &str) -> DiffRange {
    DiffRange::MergeBase { base: base.into(), head: head.into() }
}

/// A repository with a branch of two commits, off a default branch that has advanced since.
fn repo_with_branch(default: &str) -> (TestRepo, Oid, Oid) {
    let repo = TestRepo::new();
    let base = repo.commit(&[("a.rs", "a\n")]);
    let repository = repo.repository();
    let commit = repository.find_commit(base).unwrap();
    let default_head = repo.commit(&[("theirs.rs", "theirs\n")]);
    repository.reference(&format!("refs/heads/{default}"), default_head, true, "").unwrap();
    repository.branch("mine", &commit, true).unwrap();
    repository.set_head("refs/heads/mine").unwrap();
    repository.reset(commit.as_object(), git2::ResetType::Hard, None).unwrap();
    drop(commit);
    repo.commit(&[("mine.rs", "one\n")]);
    let head = repo.commit(&[("mine.rs", "two\n")]);
    (repo, base, head)
}

#[test]
fn branch_diff_starts_at_the_merge_base() {
    for default in ["main", "master", "trunk", "develop"] {
        let (repo, base, head) = repo_with_branch(default);
        // `git init` created a branch with another default name, which would be preferred.
        for name in ["main", "master"].iter().filter(|name| **name != default) {
            if let Ok(mut found) = repo.repository().find_branch(name, git2::BranchType::Local) {
                found.delete().unwrap();
            }
        }
        let found = diff_range(&repo, &DiffRange::Branch);
        assert_eq!(changed_paths(&found), ["mine.rs"], "{default}");
        assert!(found.description.contains(&base.to_string()[..12]), "{}", found.description);
        let since_default = diff_range(&repo, &since_range(default, "HEAD"));
        assert_eq!(changed_paths(&since_default), ["mine.rs"]);
        let direct =
            diff_range(&repo, &DiffRange::Between { base: default.into(), head: String::new() });
        assert_eq!(changed_paths(&direct), ["mine.rs", "theirs.rs"]);
        let last_commit = diff_range(&repo, &DiffRange::Commit(head.to_string()));
        assert_eq!(
            (changed_paths(&last_commit), last_commit.files[0].kind),
            (vec!["mine.rs"], FileChangeKind::Modified)
        );
        repo.write("more.rs", "more\n");
        assert_eq!(changed_paths(&diff_range(&repo, &DiffRange::Branch)), ["mine.rs", "more.rs"]);
        assert_eq!(changed_paths(&diff_range(&repo, &DiffRange::Auto)), ["more.rs"]);
    }
}

#[test]
fn default_branch_comes_from_the_remote() {
    let (repo, base, _) = repo_with_branch("main");
    let repository = repo.repository();
    let base_commit = repository.find_commit(base).unwrap();
    repository.reference("refs/remotes/origin/next", base_commit.id(), true, "").unwrap();
    let (head, next) = ("refs/remotes/origin/HEAD", "refs/remotes/origin/next");
    repository.reference_symbolic(head, next, true, "").unwrap();
    assert!(diff_range(&repo, &DiffRange::Branch).description.contains("`origin/next`"));
}

#[test]
fn auto_range_picks_the_first_available_diff() {
    let (repo, ..) = repo_with_branch("main");
    assert!(diff_range(&repo, &DiffRange::Auto).description.contains("this branch"));
    let repo = TestRepo::new();
    repo.write("a.rs", "a\n");
    let diff = diff_range(&repo, &DiffRange::Auto);
    assert_eq!((changed_paths(&diff), diff.files[0].kind), (vec!["a.rs"], FileChangeKind::Added));
    assert!(diff.description.contains("no commit yet"), "{}", diff.description);
    repo.commit(&[("a.rs", "a\n")]);
    let diff = diff_range(&repo, &DiffRange::Auto);
    assert!(diff.description.contains("the first one"), "{}", diff.description);
    let head = repo.repository().head().unwrap().target().unwrap();
    repo.repository().set_head_detached(head).unwrap();
    assert_eq!(changed_paths(&diff_range(&repo, &DiffRange::Auto)), ["a.rs"]);
}

#[test]
fn missing_revision_or_repository_is_an_error() {
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a\n")]);
    let unknown = diff_error(&repo, &DiffRange::Commit("nothing".into()));
    assert!(matches!(unknown, RepoError::UnknownRevision { .. }), "{unknown}");
    let repository = repo.repository();
    let (tree, author) = (repo.tree_of(repo.commit(&[])), git2::Time::new(0, 0));
    let tree = repository.find_tree(Oid::from_str(&tree).unwrap()).unwrap();
    let author = git2::Signature::new("b", "b@b", &author).unwrap();
    let unrelated = repository.commit(None, &author, &author, "other", &tree, &[]).unwrap();
    let unrelated_error = diff_error(&repo, &since_range(&unrelated.to_string(), "HEAD"));
    assert!(matches!(unrelated_error, RepoError::NoMergeBase { .. }), "{unrelated_error}");
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("bare.git");
    Repository::init_bare(&bare).unwrap();
    let tree_store = TreeStore::new(&folder.path().join("home"));
    for (root, message) in
        [(folder.path(), "no git repository"), (bare.as_path(), "bare repository")]
    {
        let error = tree_store.diff(root, &repo.pin(), &DiffRange::Auto).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn shallow_clone_error_says_how_to_fetch_more() {
    let (repo, _, head) = repo_with_branch("main");
    fs::write(repo.root().join(".git/shallow"), format!("{head}\n")).unwrap();
    let pin = repo.tree_store().pin(&repo.root()).unwrap().unwrap();
    for range in [DiffRange::Branch, DiffRange::Commit("HEAD".into()), since_range("gone", "HEAD")]
    {
        let error = repo.tree_store().diff(&repo.root(), &pin, &range).unwrap_err();
        assert!(matches!(error, RepoError::Shallow { .. }), "{range:?}: {error}");
        let message = error.to_string();
        assert!(
            message.contains("fetch-depth: 0") && message.contains("git fetch --unshallow"),
            "{message}"
        );
    }
}

#[test]
fn missing_blob_is_reported_as_unreadable() {
    let repo = TestRepo::new();
    let (present, missing) = (repo.blob(b"there\n"), repo.blob(b"gone\n"));
    let old = repo.raw_tree(&[("100644", b"a.rs", present)]);
    let new = repo.raw_tree(&[("100644", b"a.rs", missing), ("100644", b"b.rs", present)]);
    let repository = repo.repository();
    let author = git2::Signature::new("a", "a@b", &git2::Time::new(0, 0)).unwrap();
    let commit = |tree: Oid| {
        let tree = repository.find_tree(tree).unwrap();
        repository.commit(None, &author, &author, "x", &tree, &[]).unwrap().to_string()
    };
    let range = DiffRange::Between { base: commit(old), head: commit(new) };
    let id = missing.to_string();
    fs::remove_file(repo.root().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let diff = diff_range(&repo, &range);
    assert_eq!(changed_paths(&diff), ["a.rs", "b.rs"]);
    assert_eq!(diff.files[0].lines, LineCounts::Unknown(ExclusionReason::Unreadable));
    let reader = repo.tree_store().view(&repo.root(), &old.to_string()).unwrap().reader().unwrap();
    assert_eq!(reader.diff_file(&diff.files[0]).unwrap_err(), ExclusionReason::Unreadable);
}

#[test]
fn file_history_lists_the_commits_that_changed_it() {
    let repo = TestRepo::new();
    let mut expected_ids = vec![];
    for nth in 1..9 {
        expected_ids
            .push(repo.commit(&[("a.rs", &"a\n".repeat(nth))]).to_string()[..12].to_owned());
        repo.commit(&[("b.rs", &"b\n".repeat(nth))]);
    }
    let paths = ["a.rs".to_owned(), "nowhere.rs".into()];
    let (histories, is_truncated) =
        repo.tree_store().history(&repo.root(), &repo.pin(), &paths).unwrap();
    let ids: Vec<_> = histories[0].commits.iter().map(|commit| commit.id.clone()).collect();
    expected_ids.reverse();
    assert_eq!(
        (ids.as_slice(), histories[1].commits.len(), is_truncated),
        (&expected_ids[..5], 0, false)
    );
    let (repo_history, _) = repo.tree_store().history(&repo.root(), &repo.pin(), &[]).unwrap();
    assert_eq!(repo_history[0].commits.len(), 5);
}
