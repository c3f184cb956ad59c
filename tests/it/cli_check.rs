//! `debate check`: the citations of any text, looked up in the working tree or in a commit.
use crate::cli_evidence::repo_with_source;
use crate::test_env::{CommandOutput, TestEnv};
use serde_json::{Value, json};

fn run_check(env: &TestEnv, text: &str, extra_args: &[&str]) -> CommandOutput {
    env.debate(&[&["check", "-", "--json"][..], extra_args].concat()).stdin(text).output()
}

fn citation_findings(output: &CommandOutput) -> Vec<(String, String)> {
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let json = output.json();
    let citations = json["citations"].as_array().unwrap().iter();
    citations.map(|it| (text(it, "raw"), text(it, "finding"))).collect()
}

#[test]
fn every_citation_is_printed_with_its_finding() {
    let env = repo_with_source();
    let text = "The store is opened in `src/store.rs:3` \"pub fn open(path: &Path)\".\n\
                It ends at `src/store.rs:77`. See also `src/nothing.rs:1` and store.rs:1.\n";
    let output = run_check(&env, text, &[]);
    assert_eq!(output.exit_code, Some(1), "{output:#?}");
    let findings: Vec<String> =
        citation_findings(&output).into_iter().map(|(_, finding)| finding).collect();
    assert_eq!(
        findings,
        ["exact", "line_out_of_range", "no_such_path", "ambiguous"],
        "{output:#?}"
    );
    let json = output.json();
    assert_eq!(json["v"], 1);
    assert_eq!(
        json["counts"],
        json!({"exact": 1, "line_out_of_range": 1, "no_such_path": 1, "ambiguous": 1})
    );
    let first = &json["citations"][0];
    assert_eq!((&first["path"], &first["line"]), (&json!("src/store.rs"), &json!(3)));
    assert_eq!(first["quote"], "pub fn open(path: &Path)");
    let text_output = env.debate(&["check", "-"]).stdin(text).output();
    assert!(
        text_output.stdout.contains("WRONG  `src/nothing.rs:1`  no such path"),
        "{}",
        text_output.stdout
    );
    assert!(text_output.stderr.contains("looked up in"), "{}", text_output.stderr);
}

#[test]
fn correct_citations_exit_zero() {
    let env = repo_with_source();
    let output = run_check(&env, "`src/store.rs:3` \"pub fn open(path: &Path)\"", &[]);
    assert_eq!((output.exit_code, citation_findings(&output).len()), (Some(0), 1), "{output:#?}");
    let output = run_check(&env, "Nothing is cited at 12:30 on localhost:8080.", &[]);
    assert_eq!((output.exit_code, citation_findings(&output).len()), (Some(0), 0), "{output:#?}");
}

#[test]
fn checked_file_is_not_evidence_for_itself() {
    let env = repo_with_source();
    let text = "`src/store.rs:3` \"an entirely_invented_function() is here\"\n";
    env.write_repo_file("review.md", text);
    let output = env.debate(&["check", "review.md", "--json"]).output();
    assert_eq!(output.exit_code, Some(1), "{output:#?}");
    assert_eq!(citation_findings(&output)[0].1, "not_found");
    env.write_repo_file("other.md", text);
    let output = env.debate(&["check", "review.md", "--json"]).output();
    assert_eq!(
        citation_findings(&output)[0].1,
        "elsewhere_in_repo",
        "in another file: {output:#?}"
    );
}

#[test]
fn citations_are_checked_in_working_tree_or_commit() {
    let env = repo_with_source();
    let repository = git2::Repository::open(env.repo_root()).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["src"], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let signature = git2::Signature::now("x", "x@example.org").unwrap();
    let commit = repository
        .commit(Some("HEAD"), &signature, &signature, "x", &tree, &[])
        .unwrap()
        .to_string();
    env.write_repo_file("src/store.rs", "fn quite_another_thing() {}\n");
    let new_citation = "`src/store.rs:1` \"fn quite_another_thing()\"";
    let old_citation = "`src/store.rs:3` \"pub fn open(path: &Path)\"";
    assert_eq!(run_check(&env, new_citation, &[]).exit_code, Some(0));
    assert_eq!(run_check(&env, old_citation, &[]).exit_code, Some(1));
    assert_eq!(run_check(&env, old_citation, &["--commit", &commit]).exit_code, Some(0));
    assert_eq!(run_check(&env, new_citation, &["--commit", &commit[..10]]).exit_code, Some(1));
    let commit_citations =
        format!("Since commit `{}` it is so; `abcdef1234` broke it.", &commit[..12]);
    let output = run_check(&env, &commit_citations, &[]);
    let findings: Vec<String> =
        citation_findings(&output).into_iter().map(|(_, finding)| finding).collect();
    assert_eq!(findings, ["located", "commit_unknown"], "{output:#?}");
    env.debate(&["check", "-", "--commit", "nonsense"]).stdin(old_citation).expect_error(2);
    env.debate(&["check", "no-such-file.md"]).expect_error(2);
}
