//! Topic suggestions from the changes in a working tree, for a user who starts without a topic.
use crate::test_env::TestEnv;
use debate_mcp::engine::FileChange;
use debate_mcp::engine::topic_suggestions::{ChangeOrigin, suggest_topics};
use serde_json::json;

fn file_change(path: &str, added: u64, deleted: u64) -> FileChange {
    FileChange { path: path.into(), from: None, added: Some(added), deleted: Some(deleted) }
}

#[test]
fn changes_suggest_three_topics() {
    let some = [
        file_change("Cargo.lock", 900, 900),
        file_change("src/store.rs", 12, 90),
        file_change("Cargo.toml", 1, 0),
        file_change("src/new.rs", 40, 0),
    ];
    let raised = suggest_topics(&some, ChangeOrigin::WorkingTree);
    assert_eq!(raised.len(), 3);
    assert!(raised[0].contains("`src/store.rs` and 2 other files (+53 -90)"), "{raised:?}");
    assert!(raised[1].contains("`Cargo.toml`") && raised[2].contains("90 lines out of"));
    let alone = suggest_topics(&[file_change("src/a.rs", 5, 0)], ChangeOrigin::LastCommit);
    assert!(alone[0].starts_with("Was the last commit, to `src/a.rs` (+5 -0)"), "{alone:?}");
    assert_eq!(alone.len(), 3);
    let tested = suggest_topics(
        &[file_change("src/a.rs", 5, 9), file_change("tests/a.rs", 5, 0)],
        ChangeOrigin::WorkingTree,
    );
    assert!(tested.iter().all(|topic| !topic.contains("need tests")), "{tested:?}");
    assert_eq!(tested.len(), 3);
}

#[test]
fn no_changes_suggest_no_topics() {
    assert!(suggest_topics(&[], ChangeOrigin::WorkingTree).is_empty());
    assert!(
        suggest_topics(&[file_change("package-lock.json", 9, 9)], ChangeOrigin::LastCommit)
            .is_empty()
    );
}

#[test]
fn empty_topic_gets_suggestions_in_cli_and_mcp() {
    let lab = TestEnv::without_git();
    git2::Repository::init(lab.repo_root()).unwrap();
    lab.write_repo_file("src/parser.rs", "fn parse() {}\n");
    let done = lab.debate(&["run"]).expect_error(2);
    done.assert_stderr_contains("the topic is empty");
    done.assert_stderr_contains("`src/parser.rs`");
    let mut host = lab.mcp_client();
    let refused = host.expect_tool_error("start_debate", json!({"topic": "  "}));
    assert!(
        refused.contains("offer what this working tree raises") && refused.contains("parser.rs")
    );
    assert_eq!(refused.matches(" / ").count(), 2, "three are offered: {refused}");
}
