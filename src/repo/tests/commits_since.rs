//! Commits and edits since an earlier pin.
use crate::repo::{EarlierState, LaterChanges};
use crate::test_support::test_repo::TestRepo;

#[test]
fn commits_since_the_pin_are_filtered_by_path() {
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a"), ("b.rs", "b"), ("c.rs", "c")]);
    let earlier_pin = repo.pin();
    let changing_commit = repo.commit(&[("a.rs", "A")]);
    repo.commit(&[("b.rs", "B")]);
    let deleting_commit = {
        repo.remove("c.rs");
        repo.stage();
        repo.commit(&[])
    };
    repo.write("a.rs", "changed again");
    let current_pin = repo.pin();
    let paths: Vec<String> = ["a.rs", "c.rs", "never.rs"].map(Into::into).into();
    let earlier = EarlierState {
        commit: earlier_pin.commit.as_deref(),
        tree: Some(&earlier_pin.tree),
        time: i64::MAX,
    };
    let changes =
        repo.tree_store().changes_since(&repo.root(), &current_pin, &earlier, &paths).unwrap();
    let commits: Vec<(String, Vec<String>)> =
        changes.commits.iter().map(|(commit, paths)| (commit.id.clone(), paths.clone())).collect();
    let short = |id: git2::Oid| id.to_string()[..12].to_owned();
    let expected = [
        (short(deleting_commit), vec!["c.rs".to_owned()]),
        (short(changing_commit), vec!["a.rs".into()]),
    ];
    assert_eq!(commits, expected);
    assert_eq!(changes.uncommitted, ["a.rs"]);
    assert_eq!(changes.changed, ["a.rs", "c.rs"]);
    assert!(!changes.truncated);
    // If the commit is unknown or gone, the timestamp decides.
    for commit in [None, Some("0123456789012345678901234567890123456789")] {
        for (time, count) in [(-1, 3), (1, 0)] {
            let earlier = EarlierState { commit, tree: None, time };
            let changes = repo
                .tree_store()
                .changes_since(&repo.root(), &current_pin, &earlier, &paths)
                .unwrap();
            assert_eq!(changes.commits.len(), count, "{commit:?} {time}");
        }
    }
}

#[test]
fn unchanged_repository_reports_no_changes() {
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "a")]);
    let pin = repo.pin();
    let earlier = EarlierState { commit: pin.commit.as_deref(), tree: Some(&pin.tree), time: 0 };
    let changes =
        repo.tree_store().changes_since(&repo.root(), &pin, &earlier, &["a.rs".into()]).unwrap();
    assert_eq!(changes, LaterChanges::default());
}
