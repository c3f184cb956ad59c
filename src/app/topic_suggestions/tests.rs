//! Topic suggestions from the changes in a working tree, for a user who starts without a topic.
use crate::app::topic_suggestions::{ChangeOrigin, suggest_topics};
use crate::engine::FileChange;

fn file_change(path: &str, added: u64, deleted: u64) -> FileChange {
    FileChange { path: path.into(), from: None, added: Some(added), deleted: Some(deleted) }
}

#[test]
fn changes_suggest_three_topics() {
    let changes = [
        file_change("Cargo.lock", 900, 900),
        file_change("src/store.rs", 12, 90),
        file_change("Cargo.toml", 1, 0),
        file_change("src/new.rs", 40, 0),
    ];
    let topics = suggest_topics(&changes, ChangeOrigin::WorkingTree);
    assert_eq!(topics.len(), 3);
    assert!(topics[0].contains("`src/store.rs` and 2 other files (+53 -90)"), "{topics:?}");
    assert!(topics[1].contains("`Cargo.toml`") && topics[2].contains("90 lines out of"));
    let single_file_topics =
        suggest_topics(&[file_change("src/a.rs", 5, 0)], ChangeOrigin::LastCommit);
    assert!(
        single_file_topics[0].starts_with("Was the last commit, to `src/a.rs` (+5 -0)"),
        "{single_file_topics:?}"
    );
    assert_eq!(single_file_topics.len(), 3);
    let topics_with_tests = suggest_topics(
        &[file_change("src/a.rs", 5, 9), file_change("tests/a.rs", 5, 0)],
        ChangeOrigin::WorkingTree,
    );
    assert!(
        topics_with_tests.iter().all(|topic| !topic.contains("need tests")),
        "{topics_with_tests:?}"
    );
    assert_eq!(topics_with_tests.len(), 3);
}

#[test]
fn no_changes_suggest_no_topics() {
    assert!(suggest_topics(&[], ChangeOrigin::WorkingTree).is_empty());
    assert!(
        suggest_topics(&[file_change("package-lock.json", 9, 9)], ChangeOrigin::LastCommit)
            .is_empty()
    );
}
