//! Recheck of citations against the present repository. The recorded results stay unchanged.
use crate::cli_evidence::repo_with_source;
use crate::debate_fixture::citation;
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order};
use crate::test_repo::TestRepo;
use debate_mcp::debate::{Citation, CitationStatus, RecheckStatus};
use debate_mcp::repo::EarlierState;
use serde_json::{Value, json};
use std::fs;

fn citation_at(found: CitationStatus, path: &str) -> Citation {
    Citation { path: Some(path.into()), ..citation("src/a.rs:3 \"fn a\"", found) }
}

#[test]
fn recheck_status_compares_then_and_now() {
    let in_other_file =
        |found| Citation { path: Some("src/b.rs".into()), ..citation_at(found, "") };
    for (recorded, current, status) in [
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::Exact, "src/a.rs"),
            RecheckStatus::Holds,
        ),
        (CitationStatus::Near, citation_at(CitationStatus::Near, "src/a.rs"), RecheckStatus::Holds),
        (
            CitationStatus::Near,
            citation_at(CitationStatus::Exact, "src/a.rs"),
            RecheckStatus::Holds,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::Near, "src/a.rs"),
            RecheckStatus::Moved,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::ElsewhereInFile, "src/a.rs"),
            RecheckStatus::Moved,
        ),
        (CitationStatus::Exact, in_other_file(CitationStatus::Exact), RecheckStatus::Moved),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::ElsewhereInRepo, "src/a.rs"),
            RecheckStatus::Moved,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::NotFound, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::NoSuchPath, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::NonDistinctive, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::Ambiguous, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::Unchecked, "src/a.rs"),
            RecheckStatus::Unknown,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::NotSearched, "src/a.rs"),
            RecheckStatus::Unknown,
        ),
        (
            CitationStatus::Located,
            citation_at(CitationStatus::Located, "src/a.rs"),
            RecheckStatus::Holds,
        ),
        (CitationStatus::Located, in_other_file(CitationStatus::Located), RecheckStatus::Moved),
        (
            CitationStatus::Located,
            citation_at(CitationStatus::LineOutOfRange, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Located,
            citation_at(CitationStatus::CommitUnknown, "src/a.rs"),
            RecheckStatus::Gone,
        ),
    ] {
        let (actual, note) = citation_at(recorded, "src/a.rs").recheck_status(Some(&current), &[]);
        assert_eq!((actual, note), (status, None), "{recorded:?} {:?}", current.found);
    }
    let recorded = citation_at(CitationStatus::Exact, "src/a.rs");
    assert_eq!(recorded.recheck_status(None, &[]).0, RecheckStatus::Unknown);
    // A citation of a line without a quote holds even if the file has changed, but with a note.
    let located = citation_at(CitationStatus::Located, "src/a.rs");
    let (status, note) = located.recheck_status(Some(&located), &["src/a.rs".into()]);
    assert_eq!(status, RecheckStatus::Holds);
    assert!(note.unwrap().contains("has changed since"));
    // The placeholder of a redacted secret differs between trees, so the quote cannot be compared.
    let redacted = Citation { quote: Some("key = [REDACTED:key:ab12]".into()), ..recorded };
    let not_found = citation_at(CitationStatus::NotFound, "src/a.rs");
    assert_eq!(redacted.recheck_status(Some(&not_found), &[]).0, RecheckStatus::Unknown);
}

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
    assert_eq!(changes, debate_mcp::repo::LaterChanges::default());
}

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
