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
    let other = |found| Citation { path: Some("src/b.rs".into()), ..citation_at(found, "") };
    for (was, now, stands) in [
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
        (CitationStatus::Exact, other(CitationStatus::Exact), RecheckStatus::Moved),
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
        (CitationStatus::Located, other(CitationStatus::Located), RecheckStatus::Moved),
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
        let (came, note) = citation_at(was, "src/a.rs").recheck_status(Some(&now), &[]);
        assert_eq!((came, note), (stands, None), "{was:?} {:?}", now.found);
    }
    let was = citation_at(CitationStatus::Exact, "src/a.rs");
    assert_eq!(was.recheck_status(None, &[]).0, RecheckStatus::Unknown);
    // A citation of a line without a quote holds even if the file has changed, but with a note.
    let located = citation_at(CitationStatus::Located, "src/a.rs");
    let (stands, note) = located.recheck_status(Some(&located), &["src/a.rs".into()]);
    assert_eq!(stands, RecheckStatus::Holds);
    assert!(note.unwrap().contains("has changed since"));
    // The placeholder of a redacted secret differs between trees, so the quote cannot be compared.
    let hidden = Citation { quote: Some("key = [REDACTED:key:ab12]".into()), ..was };
    let gone = citation_at(CitationStatus::NotFound, "src/a.rs");
    assert_eq!(hidden.recheck_status(Some(&gone), &[]).0, RecheckStatus::Unknown);
}

#[test]
fn commits_since_the_pin_are_filtered_by_path() {
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a"), ("b.rs", "b"), ("c.rs", "c")]);
    let before = ground.pin();
    let touching = ground.commit(&[("a.rs", "A")]);
    ground.commit(&[("b.rs", "B")]);
    let deleting = {
        ground.remove("c.rs");
        ground.stage();
        ground.commit(&[])
    };
    ground.write("a.rs", "changed again");
    let now = ground.pin();
    let paths: Vec<String> = ["a.rs", "c.rs", "never.rs"].map(Into::into).into();
    let earlier =
        EarlierState { commit: before.commit.as_deref(), tree: Some(&before.tree), time: i64::MAX };
    let later = ground.tree_store().changes_since(&ground.root(), &now, &earlier, &paths).unwrap();
    let told: Vec<(String, Vec<String>)> =
        later.commits.iter().map(|(commit, paths)| (commit.id.clone(), paths.clone())).collect();
    let short = |id: git2::Oid| id.to_string()[..12].to_owned();
    let wanted =
        [(short(deleting), vec!["c.rs".to_owned()]), (short(touching), vec!["a.rs".into()])];
    assert_eq!(told, wanted);
    assert_eq!(later.uncommitted, ["a.rs"]);
    assert_eq!(later.changed, ["a.rs", "c.rs"]);
    assert!(!later.truncated);
    // If the commit is unknown or gone, the timestamp decides.
    for commit in [None, Some("0123456789012345678901234567890123456789")] {
        for (time, many) in [(-1, 3), (1, 0)] {
            let earlier = EarlierState { commit, tree: None, time };
            let later =
                ground.tree_store().changes_since(&ground.root(), &now, &earlier, &paths).unwrap();
            assert_eq!(later.commits.len(), many, "{commit:?} {time}");
        }
    }
}

#[test]
fn unchanged_repository_reports_no_changes() {
    let ground = TestRepo::new();
    ground.commit(&[("a.rs", "a")]);
    let pin = ground.pin();
    let earlier = EarlierState { commit: pin.commit.as_deref(), tree: Some(&pin.tree), time: 0 };
    let later = ground
        .tree_store()
        .changes_since(&ground.root(), &pin, &earlier, &["a.rs".into()])
        .unwrap();
    assert_eq!(later, debate_mcp::repo::LaterChanges::default());
}

const VALID_CITATION: &str = "src/store.rs:3 \"pub fn open(path: &Path) -> Store\"";

/// A duel whose first turn cites existing code, paused after its first round.
fn start_citing_duel(lab: &TestEnv) -> String {
    let claim = json!({"id": "P1", "text": "P1 holds.", "evidence": [VALID_CITATION, "src/store.rs:4"],
        "answers": []});
    let text = format!("Keep it.\n\n```claims\n{}\n```\n", json!({"claims": [claim]}));
    lab.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": text})));
    commit_all(lab, "First");
    lab.debate_run("Cited?", &["--pause"]).expect_exit_code(2);
    lab.latest_debate_id()
}

fn commit_all(lab: &TestEnv, subject: &str) {
    let repository = git2::Repository::open(lab.repo_root()).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["src"], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.update_all(["src"], None).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let who = git2::Signature::now("a", "a@b").unwrap();
    let head = repository.head().ok().and_then(|head| head.peel_to_commit().ok());
    let parents: Vec<_> = head.iter().collect();
    repository.commit(Some("HEAD"), &who, &who, subject, &tree, &parents).unwrap();
}

fn recheck_rows(lab: &TestEnv, id: &str, code: i32) -> Vec<(String, String, String)> {
    let done = lab.debate(&["recheck", id, "--json"]).expect_exit_code(code).json();
    let word = |it: &Value, name: &str| it[name].as_str().unwrap_or("-").to_owned();
    let all = done["citations"].as_array().unwrap().iter();
    all.map(|it| (word(it, "stands"), word(it, "was"), word(it, "now"))).collect()
}

#[test]
fn recheck_reports_moved_and_gone_citations() {
    let lab = repo_with_source();
    let id = start_citing_duel(&lab);
    let (log, store) =
        (lab.events(&id), fs::read_to_string(lab.repo_root().join("src/store.rs")).unwrap());
    let row = |stands: &str, was: &str, now: &str| (stands.into(), was.into(), now.into());
    let same = [row("holds", "exact", "exact"), row("holds", "located", "located")];
    assert_eq!(recheck_rows(&lab, &id, 0), same);
    lab.debate(&["resume"]).expect_exit_code(2);
    assert!(
        !lab.debate(&["resume"]).expect_exit_code(2).stderr.contains("cited"),
        "nothing has happened"
    );

    lab.write_repo_file("src/store.rs", &format!("// One.\n// Two.\n{store}"));
    assert_eq!(recheck_rows(&lab, &id, 0)[0], row("moved", "exact", "near"));
    let told = lab.debate(&["resume"]).expect_exit_code(2);
    told.assert_stderr_contains("uncommitted changes touch src/store.rs");
    told.assert_stderr_contains(&format!("`debate recheck {id}` looks up again what was cited."));

    lab.write_repo_file("src/store.rs", &"//! Nothing.\n".repeat(9));
    commit_all(&lab, "Throw the store away");
    let gone = [row("gone", "exact", "not_found"), row("holds", "located", "located")];
    assert_eq!(recheck_rows(&lab, &id, 1), gone);
    let shown = lab.debate(&["recheck"]).expect_exit_code(1);
    shown.assert_stdout_contains(&["gone    src/store.rs:3", "was exact, now not found"]);
    shown.assert_stdout_contains(&[
        "holds   src/store.rs:4",
        "the file has changed since, and nothing of it was quoted",
    ]);
    shown.assert_stderr_contains("1 gone, 1 holds. The record stays.");
    let told = lab.debate(&["resume"]).expect_exit_code(2);
    told.assert_stderr_contains("[INFO] 1 commit since touches files cited here: ");
    told.assert_stderr_contains(" Throw the store away (src/store.rs)");

    let mut host = lab.mcp_client();
    let stands = host.call_tool("continue_round", json!({"wait_seconds": 0}));
    let notes = stands["notes"].to_string();
    assert_contains_in_order(&notes, &["1 commit since touches files cited here", "recheck"]);
    let shown = host.call_tool("show_debate", json!({"part": "recheck"}));
    assert_contains_in_order(
        shown["text"].as_str().unwrap(),
        &["Looked up again in", "- gone: src/store.rs:3"],
    );
    assert!(host.call_tool("summarize", json!({}))["notes"].to_string().contains("1 commit since"));
    host.disconnect();
    assert_eq!(lab.events(&id)[..log.len()], log, "what was found then stays on the record");
}

#[test]
fn recheck_without_found_citations_does_nothing() {
    let lab = TestEnv::new();
    lab.debate_run("Nothing?", &["--rounds", "1"]).expect_success();
    lab.write_repo_file("a.txt", "a");
    let done = lab.debate(&["recheck"]).expect_success();
    assert_eq!(done.stdout, "");
    done.assert_stderr_contains("nothing that was cited had been found");
}
