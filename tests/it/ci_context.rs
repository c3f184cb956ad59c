//! The CI context of a review (pull or merge request, commit range, fork), parsed from the event
//! file and environment variables of GitHub and GitLab.
use debate_mcp::config::{CiContext, CiHost, Config, Environment, UserSettings};
use serde_json::json;
use std::path::PathBuf;

fn config_with_env(said: &[(&str, &str)]) -> Config {
    let said = said.iter().map(|(name, value)| ((*name).into(), (*value).into()));
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
        environment: Environment(said.collect()),
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

fn pull_request_event(from: &str, head: &str) -> String {
    let side = |sha: &str, repo: &str| json!({"sha": sha, "repo": {"full_name": repo}});
    json!({"pull_request": {
        "number": 12, "title": "Cache", "body": null,
        "base": side(BASE, "us/it"), "head": side(head, from),
    }})
    .to_string()
}

#[test]
fn github_pull_request_is_read_from_its_event() {
    let it = github_context(&pull_request_event("us/it", HEAD), "pull_request");
    assert_eq!(it.range, Some((BASE.into(), HEAD.into())));
    assert_eq!((it.number, it.title.as_deref(), it.body), (Some(12), Some("Cache"), None));
    assert!(!it.from_fork && !it.exposes_secrets);
    assert_eq!(it.summary_file, Some(PathBuf::from("/tmp/summary")));
    assert!(github_context(&pull_request_event("them/it", HEAD), "pull_request").from_fork);
    assert!(
        github_context(&pull_request_event("them/it", HEAD), "pull_request_target").exposes_secrets
    );
}

#[test]
fn invalid_event_data_is_ignored() {
    for odd in ["--output=x", "main", "$(id)", "", "0123"] {
        assert_eq!(
            github_context(&pull_request_event("us/it", odd), "pull_request").range,
            None,
            "{odd}"
        );
    }
    for broken in ["", "[]", "{", "{\"pull_request\": 3}"] {
        let it = github_context(broken, "pull_request");
        assert_eq!((it.range, it.number, it.from_fork), (None, None, false), "{broken}");
    }
}

#[test]
fn gitlab_merge_request_is_read_from_variables() {
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
    let config = config_with_env(&said);
    assert_eq!(config.ci_host(), Some(CiHost::Gitlab));
    let it = config.ci_context();
    assert_eq!(it.range, Some((BASE.into(), HEAD.into())));
    assert_eq!((it.number, it.body.as_deref(), it.from_fork), (Some(7), Some("Because."), true));
}

#[test]
fn no_ci_variables_give_an_empty_context() {
    let config = config_with_env(&[("GITHUB_ACTIONS", ""), ("CI_COMMIT_SHA", HEAD)]);
    assert_eq!((config.ci_host(), config.ci_context()), (None, CiContext::default()));
}
