//! The CI context of a review (pull or merge request, commit range, fork), parsed from the event
//! file and environment variables of GitHub and GitLab.
use debate_mcp::config::{Config, Environment, Host, Pipeline, Settings};
use serde_json::json;
use std::path::PathBuf;

fn config(said: &[(&str, &str)]) -> Config {
    let said = said.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    Config {
        home: PathBuf::new(),
        prompts: PathBuf::new(),
        formats: PathBuf::new(),
        folder: PathBuf::new(),
        root: PathBuf::new(),
        program: PathBuf::new(),
        state_dir: None,
        path: vec![],
        editor: None,
        log: None,
        user: (PathBuf::new(), PathBuf::new()),
        environment: Environment(said.collect()),
        settings: Settings::default(),
    }
}

const BASE: &str = "0123456789abcdef0123456789abcdef01234567";
const HEAD: &str = "89abcdef0123456789abcdef0123456789abcdef";

/// The context parsed from this GitHub event.
fn github(event: &str, name: &str) -> Pipeline {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("event.json");
    std::fs::write(&path, event).unwrap();
    let config = config(&[
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", name),
        ("GITHUB_EVENT_PATH", path.to_str().unwrap()),
        ("GITHUB_STEP_SUMMARY", "/tmp/summary"),
    ]);
    assert_eq!(config.host(), Some(Host::Github));
    config.pipeline()
}

fn event(from: &str, head: &str) -> String {
    let side = |sha: &str, repo: &str| json!({"sha": sha, "repo": {"full_name": repo}});
    json!({"pull_request": {
        "number": 12, "title": "Cache", "body": null,
        "base": side(BASE, "us/it"), "head": side(head, from),
    }})
    .to_string()
}

#[test]
fn a_pull_request_is_told_by_its_event() {
    let it = github(&event("us/it", HEAD), "pull_request");
    assert_eq!(it.range, Some((BASE.into(), HEAD.into())));
    assert_eq!((it.number, it.title.as_deref(), it.body), (Some(12), Some("Cache"), None));
    assert!(!it.fork && !it.trusted_with_secrets);
    assert_eq!(it.summary, Some(PathBuf::from("/tmp/summary")));
    assert!(github(&event("them/it", HEAD), "pull_request").fork);
    assert!(github(&event("them/it", HEAD), "pull_request_target").trusted_with_secrets);
}

#[test]
fn what_is_no_commit_is_not_taken_for_one() {
    for odd in ["--output=x", "main", "$(id)", "", "0123"] {
        assert_eq!(github(&event("us/it", odd), "pull_request").range, None, "{odd}");
    }
    for broken in ["", "[]", "{", "{\"pull_request\": 3}"] {
        let it = github(broken, "pull_request");
        assert_eq!((it.range, it.number, it.fork), (None, None, false), "{broken}");
    }
}

#[test]
fn a_merge_request_is_told_by_variables() {
    let said = [
        ("GITLAB_CI", "true"),
        ("CI_MERGE_REQUEST_IID", "7"),
        ("CI_MERGE_REQUEST_TITLE", "Cache"),
        ("CI_MERGE_REQUEST_DESCRIPTION", "Because."),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", BASE),
        ("CI_COMMIT_SHA", HEAD),
        ("CI_MERGE_REQUEST_PROJECT_ID", "1"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "2"),
    ];
    let config = config(&said);
    assert_eq!(config.host(), Some(Host::Gitlab));
    let it = config.pipeline();
    assert_eq!(it.range, Some((BASE.into(), HEAD.into())));
    assert_eq!((it.number, it.body.as_deref(), it.fork), (Some(7), Some("Because."), true));
}

#[test]
fn nobody_is_no_pipeline() {
    let config = config(&[("GITHUB_ACTIONS", ""), ("CI_COMMIT_SHA", HEAD)]);
    assert_eq!((config.host(), config.pipeline()), (None, Pipeline::default()));
}
