//! The CI context of a review (pull or merge request, commit range, fork), parsed from the event
//! file and environment variables of GitHub and GitLab.
use super::*;
use crate::config::{Config, Environment, UserSettings};
use serde_json::json;
use std::path::PathBuf;

fn config_with_env(variables: &[(&str, &str)]) -> Config {
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    Config {
        data_dir: PathBuf::new(),
        prompts_dir: PathBuf::new(),
        formats_dir: PathBuf::new(),
        current_dir: PathBuf::new(),
        repo_root: PathBuf::new(),
        program: PathBuf::new(),
        state_dir: None,
        search_path: vec![],
        editor: None,
        log_level: None,
        user_dirs: (PathBuf::new(), PathBuf::new()),
        environment: Environment(variables.collect()),
        settings: UserSettings::default(),
    }
}

const BASE: &str = "0123456789abcdef0123456789abcdef01234567";
const HEAD: &str = "89abcdef0123456789abcdef0123456789abcdef";

/// The context parsed from this GitHub event.
fn github_context(event: &str, name: &str) -> CiContext {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("event.json");
    std::fs::write(&path, event).unwrap();
    let config = config_with_env(&[
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", name),
        ("GITHUB_EVENT_PATH", path.to_str().unwrap()),
        ("GITHUB_STEP_SUMMARY", "/tmp/summary"),
    ]);
    assert_eq!(config.ci_host(), Some(CiHost::Github));
    config.ci_context()
}

fn pull_request_event(head_repo: &str, head_sha: &str) -> String {
    let side = |sha: &str, repo: &str| json!({"sha": sha, "repo": {"full_name": repo}});
    json!({"pull_request": {
        "number": 12, "title": "Cache", "body": null,
        "base": side(BASE, "us/it"), "head": side(head_sha, head_repo),
    }})
    .to_string()
}

#[test]
fn github_pull_request_is_read_from_its_event() {
    let context = github_context(&pull_request_event("us/it", HEAD), "pull_request");
    assert_eq!(context.range, Some((BASE.into(), HEAD.into())));
    assert_eq!(
        (context.number, context.title.as_deref(), context.body),
        (Some(12), Some("Cache"), None)
    );
    assert!(!context.from_fork && !context.exposes_secrets);
    assert_eq!(context.summary_file, Some(PathBuf::from("/tmp/summary")));
    assert!(github_context(&pull_request_event("them/it", HEAD), "pull_request").from_fork);
    assert!(
        github_context(&pull_request_event("them/it", HEAD), "pull_request_target").exposes_secrets
    );
}

#[test]
fn invalid_event_data_is_ignored() {
    for invalid_sha in ["--output=x", "main", "$(id)", "", "0123"] {
        assert_eq!(
            github_context(&pull_request_event("us/it", invalid_sha), "pull_request").range,
            None,
            "{invalid_sha}"
        );
    }
    for event in ["", "[]", "{", "{\"pull_request\": 3}"] {
        let context = github_context(event, "pull_request");
        assert_eq!(
            (context.range, context.number, context.from_fork),
            (None, None, false),
            "{event}"
        );
    }
}

#[test]
fn gitlab_merge_request_is_read_from_variables() {
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_MERGE_REQUEST_IID", "7"),
        ("CI_MERGE_REQUEST_TITLE", "Cache"),
        ("CI_MERGE_REQUEST_DESCRIPTION", "Because."),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", BASE),
        ("CI_COMMIT_SHA", HEAD),
        ("CI_MERGE_REQUEST_PROJECT_ID", "1"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "2"),
    ];
    let config = config_with_env(&variables);
    assert_eq!(config.ci_host(), Some(CiHost::Gitlab));
    let context = config.ci_context();
    assert_eq!(context.range, Some((BASE.into(), HEAD.into())));
    assert_eq!(
        (context.number, context.body.as_deref(), context.from_fork),
        (Some(7), Some("Because."), true)
    );
}

#[test]
fn no_ci_variables_give_an_empty_context() {
    let config = config_with_env(&[("GITHUB_ACTIONS", ""), ("CI_COMMIT_SHA", HEAD)]);
    assert_eq!((config.ci_host(), config.ci_context()), (None, CiContext::default()));
}

#[test]
fn event_file_is_read_up_to_its_limit() {
    assert_eq!(MAX_EVENT_BYTES, 16 * 1024 * 1024);
    let file = tempfile::NamedTempFile::new().unwrap();
    // The JSON is at the very end, after white space.
    let read = |bytes: u64| {
        let blanks = " ".repeat(usize::try_from(bytes).unwrap() - 2);
        std::fs::write(file.path(), blanks + "{}").unwrap();
        read_event(file.path().to_str().unwrap())
    };
    assert_eq!(read(MAX_EVENT_BYTES), Some(serde_json::json!({})));
    assert_eq!(read(MAX_EVENT_BYTES + 1), None);
}

#[test]
fn commit_id_of_a_ci_job_has_seven_to_sixty_four_digits() {
    assert_eq!(COMMIT_ID_DIGITS, 7..=64);
    for (digits, is_id) in [(6, false), (7, true), (64, true), (65, false)] {
        let id = "a".repeat(digits);
        assert_eq!(parse_commit_id(&id).is_some(), is_id, "{digits} digits");
    }
}
