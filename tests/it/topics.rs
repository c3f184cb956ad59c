//! Topic suggestions from the changes in a working tree, for a user who starts without a topic.
use crate::lab::Lab;
use debate_mcp::engine::FileChange;
use debate_mcp::engine::topic_suggestions::{ChangeOrigin, suggest_topics};
use serde_json::json;

fn changed(path: &str, added: u64, deleted: u64) -> FileChange {
    FileChange { path: path.into(), from: None, added: Some(added), deleted: Some(deleted) }
}

#[test]
fn what_has_changed_raises_three_questions() {
    let some = [
        changed("Cargo.lock", 900, 900),
        changed("src/store.rs", 12, 90),
        changed("Cargo.toml", 1, 0),
        changed("src/new.rs", 40, 0),
    ];
    let raised = suggest_topics(&some, ChangeOrigin::WorkingTree);
    assert_eq!(raised.len(), 3);
    assert!(raised[0].contains("`src/store.rs` and 2 other files (+53 -90)"), "{raised:?}");
    assert!(raised[1].contains("`Cargo.toml`") && raised[2].contains("90 lines out of"));
    let alone = suggest_topics(&[changed("src/a.rs", 5, 0)], ChangeOrigin::LastCommit);
    assert!(alone[0].starts_with("Was the last commit, to `src/a.rs` (+5 -0)"), "{alone:?}");
    assert_eq!(alone.len(), 3);
    let tested = suggest_topics(
        &[changed("src/a.rs", 5, 9), changed("tests/a.rs", 5, 0)],
        ChangeOrigin::WorkingTree,
    );
    assert!(tested.iter().all(|topic| !topic.contains("need tests")), "{tested:?}");
    assert_eq!(tested.len(), 3);
}

#[test]
fn nothing_changed_raises_nothing() {
    assert!(suggest_topics(&[], ChangeOrigin::WorkingTree).is_empty());
    assert!(
        suggest_topics(&[changed("package-lock.json", 9, 9)], ChangeOrigin::LastCommit).is_empty()
    );
}

#[test]
fn without_a_question_both_doors_offer_what_the_tree_raises() {
    let lab = Lab::without_git();
    git2::Repository::init(lab.root()).unwrap();
    lab.file("src/parser.rs", "fn parse() {}\n");
    let done = lab.debate(&["run"]).fails_with(2);
    done.warns("the topic is empty");
    done.warns("`src/parser.rs`");
    let mut host = lab.host();
    let refused = host.fails("start_debate", json!({"topic": "  "}));
    assert!(
        refused.contains("offer what this working tree raises") && refused.contains("parser.rs")
    );
    assert_eq!(refused.matches(" / ").count(), 2, "three are offered: {refused}");
}
