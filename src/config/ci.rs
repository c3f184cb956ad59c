//! CI context: which pull or merge request this process runs for, from the environment of GitHub
//! Actions or GitLab CI. Title and description are untrusted text by the author of the change.
//! Commit ids are validated as hex.
use super::Config;
use serde_json::Value;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Maximum size of the GitHub event file in bytes.
const MAX_EVENT_BYTES: u64 = 16 * 1024 * 1024;
/// Number of hex digits of a commit id, abbreviated or full.
const COMMIT_ID_DIGITS: RangeInclusive<usize> = 7..=64;

/// CI job and the change it runs for. Empty outside of CI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CiContext {
    /// Base and head commit of the change.
    pub range: Option<(String, String)>,
    /// Title of the pull or merge request.
    pub title: Option<String>,
    /// Description of the pull or merge request.
    pub body: Option<String>,
    /// Number of the pull or merge request.
    pub number: Option<u64>,
    /// Whether the change comes from a fork. Such jobs usually get no secrets.
    pub from_fork: bool,
    /// Whether the job has the repository's secrets although the change may be untrusted
    /// (`pull_request_target`).
    pub exposes_secrets: bool,
    /// File for the job summary (`GITHUB_STEP_SUMMARY`).
    pub summary_file: Option<PathBuf>,
}

/// CI system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CiHost {
    /// GitHub Actions.
    Github,
    /// GitLab CI/CD.
    Gitlab,
}

impl Config {
    /// CI system this process runs in, if any.
    pub fn ci_host(&self) -> Option<CiHost> {
        if self.env_var("GITHUB_ACTIONS").is_some() {
            Some(CiHost::Github)
        } else {
            self.env_var("GITLAB_CI").map(|_| CiHost::Gitlab)
        }
    }

    fn env_var(&self, name: &str) -> Option<String> {
        let found = self.environment.0.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).filter(|it| !it.is_empty()).map(str::to_owned)
    }

    /// Reads the CI context from the environment.
    pub fn ci_context(&self) -> CiContext {
        let var = |name: &str| self.env_var(name);
        let summary_file = var("GITHUB_STEP_SUMMARY").map(PathBuf::from);
        match self.ci_host() {
            Some(CiHost::Github) => {
                let event = var("GITHUB_EVENT_PATH").and_then(|path| read_event(&path));
                let exposes_secrets =
                    var("GITHUB_EVENT_NAME").as_deref() == Some("pull_request_target");
                let context = from_github_event(&event.unwrap_or_default());
                CiContext { exposes_secrets, summary_file, ..context }
            }
            Some(CiHost::Gitlab) => CiContext { summary_file, ..from_gitlab_env(var) },
            None => CiContext { summary_file, ..CiContext::default() },
        }
    }
}

fn read_event(path: &str) -> Option<Value> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MAX_EVENT_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Validates a commit id, which consists of hex digits. Names of refs are rejected.
fn parse_commit_id(id: &str) -> Option<String> {
    let is_hex = id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hex && COMMIT_ID_DIGITS.contains(&id.len())).then(|| id.to_owned())
}

fn from_github_event(event: &Value) -> CiContext {
    let change = &event["pull_request"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let commit_id = |side: &str| change[side]["sha"].as_str().and_then(parse_commit_id);
    let repo_name = |side: &str| change[side]["repo"]["full_name"].as_str();
    CiContext {
        range: commit_id("base").zip(commit_id("head")),
        title: text(&change["title"]),
        body: text(&change["body"]),
        number: change["number"].as_u64(),
        from_fork: change.is_object() && repo_name("base") != repo_name("head"),
        ..CiContext::default()
    }
}

fn from_gitlab_env(var: impl Fn(&str) -> Option<String>) -> CiContext {
    let commit_id = |name: &str| var(name).as_deref().and_then(parse_commit_id);
    let head =
        commit_id("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").or_else(|| commit_id("CI_COMMIT_SHA"));
    let (project, source_project) =
        (var("CI_MERGE_REQUEST_PROJECT_ID"), var("CI_MERGE_REQUEST_SOURCE_PROJECT_ID"));
    CiContext {
        range: commit_id("CI_MERGE_REQUEST_DIFF_BASE_SHA").zip(head),
        title: var("CI_MERGE_REQUEST_TITLE"),
        body: var("CI_MERGE_REQUEST_DESCRIPTION"),
        number: var("CI_MERGE_REQUEST_IID").and_then(|it| it.parse().ok()),
        from_fork: source_project.is_some() && project != source_project,
        ..CiContext::default()
    }
}

#[cfg(test)]
mod tests;
