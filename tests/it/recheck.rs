//! Recheck of citations against the present repository. The recorded results stay unchanged.
use crate::cli_evidence::repo_with_source;
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order};
use serde_json::{Value, json};
use std::fs;

const VALID_CITATION: &str = "src/store.rs:3 \"pub fn open(path: &Path) -> Store\"";

/// A duel whose first turn cites existing code, paused after its first round.
fn start_citing_duel(env: &TestEnv) -> String {
    let claim = json!({"id": "P1", "text": "P1 holds.", "evidence": [VALID_CITATION, "src/store.rs:4"],
        "answers": []});
    let text = format!("Keep it.\n\n```claims\n{}\n```\n", json!({"claims": [claim]}));
    env.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": text})));
    commit_all(env, "First");
    env.debate_run("Cited?", &["--pause"]).expect_exit_code(2);
    env.latest_debate_id()
}

fn commit_all(env: &TestEnv, subject: &str) {
    let repository = git2::Repository::open(env.repo_root()).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["src"], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.update_all(["src"], None).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let signature = git2::Signature::now("a", "a@b").unwrap();
    let head = repository.head().ok().and_then(|head| head.peel_to_commit().ok());
    let parents: Vec<_> = head.iter().collect();
    repository.commit(Some("HEAD"), &signature, &signature, subject, &tree, &parents).unwrap();
}

fn recheck_rows(env: &TestEnv, id: &str, code: i32) -> Vec<(String, String, String)> {
    let result = env.debate(&["recheck", id, "--json"]).expect_exit_code(code).json();
    let field = |it: &Value, name: &str| it[name].as_str().unwrap_or("-").to_owned();
    let citations = result["citations"].as_array().unwrap().iter();
    citations.map(|it| (field(it, "stands"), field(it, "was"), field(it, "now"))).collect()
}

#[test]
fn recheck_reports_moved_and_gone_citations() {
    let env = repo_with_source();
    let id = start_citing_duel(&env);
    let (log, store) =
        (env.events(&id), fs::read_to_string(env.repo_root().join("src/store.rs")).unwrap());
    let row = |status: &str, was: &str, now: &str| (status.into(), was.into(), now.into());
    let unchanged = [row("holds", "exact", "exact"), row("holds", "located", "located")];
    assert_eq!(recheck_rows(&env, &id, 0), unchanged);
    env.debate(&["resume"]).expect_exit_code(2);
    assert!(
        !env.debate(&["resume"]).expect_exit_code(2).stderr.contains("cited"),
        "no change is reported"
    );

    env.write_repo_file("src/store.rs", &format!("// One.\n// Two.\n{store}"));
    assert_eq!(recheck_rows(&env, &id, 0)[0], row("moved", "exact", "near"));
    let output = env.debate(&["resume"]).expect_exit_code(2);
    output.assert_stderr_contains("uncommitted changes touch src/store.rs");
    output.assert_stderr_contains(&format!("`debate recheck {id}` looks up again what was cited."));

    env.write_repo_file("src/store.rs", &"//! Nothing.\n".repeat(9));
    commit_all(&env, "Throw the store away");
    let expected_gone = [row("gone", "exact", "not_found"), row("holds", "located", "located")];
    assert_eq!(recheck_rows(&env, &id, 1), expected_gone);
    let shown = env.debate(&["recheck"]).expect_exit_code(1);
    shown.assert_stdout_contains(&["gone    src/store.rs:3", "was exact, now not found"]);
    shown.assert_stdout_contains(&[
        "holds   src/store.rs:4",
        "the file has changed since, and nothing of it was quoted",
    ]);
    shown.assert_stderr_contains("1 gone, 1 holds. The record stays.");
    let output = env.debate(&["resume"]).expect_exit_code(2);
    output.assert_stderr_contains("[INFO] 1 commit since touches files cited here: ");
    output.assert_stderr_contains(" Throw the store away (src/store.rs)");

    let mut host = env.mcp_client();
    let status = host.call_tool("continue_round", json!({"wait_seconds": 0}));
    let notes = status["notes"].to_string();
    assert_contains_in_order(&notes, &["1 commit since touches files cited here", "recheck"]);
    let shown = host.call_tool("show_debate", json!({"part": "recheck"}));
    assert_contains_in_order(
        shown["text"].as_str().unwrap(),
        &["Looked up again in", "- gone: src/store.rs:3"],
    );
    assert!(host.call_tool("summarize", json!({}))["notes"].to_string().contains("1 commit since"));
    host.disconnect();
    assert_eq!(env.events(&id)[..log.len()], log, "the recorded events are unchanged");
}

#[test]
fn recheck_without_found_citations_does_nothing() {
    let env = TestEnv::new();
    env.debate_run("Nothing?", &["--rounds", "1"]).expect_success();
    env.write_repo_file("a.txt", "a");
    let output = env.debate(&["recheck"]).expect_success();
    assert_eq!(output.stdout, "");
    output.assert_stderr_contains("no citation of the debate had been found");
}
