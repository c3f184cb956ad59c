//! `debate check`: the citations of any text, looked up in the working tree or in a commit.
use crate::cli_evidence::repo_with_source;
use crate::test_env::{CommandOutput, TestEnv};
use serde_json::{Value, json};

fn run_check(lab: &TestEnv, text: &str, more: &[&str]) -> CommandOutput {
    lab.debate(&[&["check", "-", "--json"][..], more].concat()).stdin(text).output()
}

fn citation_findings(done: &CommandOutput) -> Vec<(String, String)> {
    let word = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let json = done.json();
    let citations = json["citations"].as_array().unwrap().iter();
    citations.map(|it| (word(it, "raw"), word(it, "finding"))).collect()
}

#[test]
fn every_citation_is_printed_with_its_finding() {
    let lab = repo_with_source();
    let text = "The store is opened in `src/store.rs:3` \"pub fn open(path: &Path)\".\n\
                It ends at `src/store.rs:77`. See also `src/nothing.rs:1` and store.rs:1.\n";
    let done = run_check(&lab, text, &[]);
    assert_eq!(done.exit_code, Some(1), "{done:#?}");
    let found: Vec<String> =
        citation_findings(&done).into_iter().map(|(_, finding)| finding).collect();
    assert_eq!(found, ["exact", "line_out_of_range", "no_such_path", "ambiguous"], "{done:#?}");
    let json = done.json();
    assert_eq!(json["v"], 1);
    assert_eq!(
        json["counts"],
        json!({"exact": 1, "line_out_of_range": 1, "no_such_path": 1, "ambiguous": 1})
    );
    let first = &json["citations"][0];
    assert_eq!((&first["path"], &first["line"]), (&json!("src/store.rs"), &json!(3)));
    assert_eq!(first["quote"], "pub fn open(path: &Path)");
    let told = lab.debate(&["check", "-"]).stdin(text).output();
    assert!(told.stdout.contains("WRONG  `src/nothing.rs:1`  no such path"), "{}", told.stdout);
    assert!(told.stderr.contains("looked up in"), "{}", told.stderr);
}

#[test]
fn correct_citations_exit_zero() {
    let lab = repo_with_source();
    let done = run_check(&lab, "`src/store.rs:3` \"pub fn open(path: &Path)\"", &[]);
    assert_eq!((done.exit_code, citation_findings(&done).len()), (Some(0), 1), "{done:#?}");
    let done = run_check(&lab, "Nothing is cited at 12:30 on localhost:8080.", &[]);
    assert_eq!((done.exit_code, citation_findings(&done).len()), (Some(0), 0), "{done:#?}");
}

#[test]
fn checked_file_is_not_evidence_for_itself() {
    let lab = repo_with_source();
    let words = "`src/store.rs:3` \"an entirely_invented_function() is here\"\n";
    lab.write_repo_file("review.md", words);
    let done = lab.debate(&["check", "review.md", "--json"]).output();
    assert_eq!(done.exit_code, Some(1), "{done:#?}");
    assert_eq!(citation_findings(&done)[0].1, "not_found");
    lab.write_repo_file("other.md", words);
    let done = lab.debate(&["check", "review.md", "--json"]).output();
    assert_eq!(citation_findings(&done)[0].1, "elsewhere_in_repo", "another file may: {done:#?}");
}

#[test]
fn citations_are_checked_in_working_tree_or_commit() {
    let lab = repo_with_source();
    let repository = git2::Repository::open(lab.repo_root()).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["src"], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let who = git2::Signature::now("x", "x@example.org").unwrap();
    let commit = repository.commit(Some("HEAD"), &who, &who, "x", &tree, &[]).unwrap().to_string();
    lab.write_repo_file("src/store.rs", "fn quite_another_thing() {}\n");
    let new = "`src/store.rs:1` \"fn quite_another_thing()\"";
    let old = "`src/store.rs:3` \"pub fn open(path: &Path)\"";
    assert_eq!(run_check(&lab, new, &[]).exit_code, Some(0));
    assert_eq!(run_check(&lab, old, &[]).exit_code, Some(1));
    assert_eq!(run_check(&lab, old, &["--commit", &commit]).exit_code, Some(0));
    assert_eq!(run_check(&lab, new, &["--commit", &commit[..10]]).exit_code, Some(1));
    let known = format!("Since commit `{}` it is so; `abcdef1234` broke it.", &commit[..12]);
    let done = run_check(&lab, &known, &[]);
    let found: Vec<String> =
        citation_findings(&done).into_iter().map(|(_, finding)| finding).collect();
    assert_eq!(found, ["located", "commit_unknown"], "{done:#?}");
    lab.debate(&["check", "-", "--commit", "nonsense"]).stdin(old).expect_error(2);
    lab.debate(&["check", "no-such-file.md"]).expect_error(2);
}
