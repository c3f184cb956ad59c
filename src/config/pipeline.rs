//! CI context: which pull or merge request this process runs for, from the environment of GitHub
//! Actions or GitLab CI. Title and description are untrusted text by the author of the change.
//! Commit ids are validated as hex.
use super::Config;
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;

/// Maximum size of the GitHub event file in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// CI job and the change it runs for. Empty outside of CI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Base and head commit of the change.
    pub range: Option<(String, String)>,
    /// Title of the pull or merge request.
    pub title: Option<String>,
    /// Description of the pull or merge request.
    pub body: Option<String>,
    /// Number of the pull or merge request.
    pub number: Option<u64>,
    /// Whether the change comes from a fork. Such jobs usually get no secrets.
    pub fork: bool,
    /// Whether the job has the repository's secrets although the change may be untrusted
    /// (`pull_request_target`).
    pub trusted_with_secrets: bool,
    /// File for the job summary (`GITHUB_STEP_SUMMARY`).
    pub summary: Option<PathBuf>,
}

/// CI system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// GitHub Actions.
    Github,
    /// GitLab CI/CD.
    Gitlab,
}

impl Config {
    /// CI system this process runs in, if any.
    pub fn host(&self) -> Option<Host> {
        if self.said("GITHUB_ACTIONS").is_some() {
            Some(Host::Github)
        } else {
            self.said("GITLAB_CI").map(|_| Host::Gitlab)
        }
    }

    fn said(&self, name: &str) -> Option<String> {
        let found = self.environment.0.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).filter(|it| !it.is_empty()).map(str::to_owned)
    }

    /// Reads the CI context from the environment.
    pub fn pipeline(&self) -> Pipeline {
        let said = |name: &str| self.said(name);
        let summary = said("GITHUB_STEP_SUMMARY").map(PathBuf::from);
        match self.host() {
            Some(Host::Github) => {
                let event = said("GITHUB_EVENT_PATH").and_then(|path| read(&path));
                let target = said("GITHUB_EVENT_NAME").as_deref() == Some("pull_request_target");
                let told = github(&event.unwrap_or_default());
                Pipeline { summary, trusted_with_secrets: target, ..told }
            }
            Some(Host::Gitlab) => Pipeline { summary, ..gitlab(said) },
            None => Pipeline { summary, ..Pipeline::default() },
        }
    }
}

fn read(path: &str) -> Option<Value> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(LARGEST).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Validates a commit id: 7 to 64 hex digits. Names of refs are rejected.
fn commit(id: &str) -> Option<String> {
    let digits = id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (digits && (7..=64).contains(&id.len())).then(|| id.to_owned())
}

fn github(event: &Value) -> Pipeline {
    let change = &event["pull_request"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let id = |side: &str| change[side]["sha"].as_str().and_then(commit);
    let whose = |side: &str| change[side]["repo"]["full_name"].as_str();
    Pipeline {
        range: id("base").zip(id("head")),
        title: text(&change["title"]),
        body: text(&change["body"]),
        number: change["number"].as_u64(),
        fork: change.is_object() && whose("base") != whose("head"),
        ..Pipeline::default()
    }
}

fn gitlab(said: impl Fn(&str) -> Option<String>) -> Pipeline {
    let id = |name: &str| said(name).as_deref().and_then(commit);
    let head = id("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").or_else(|| id("CI_COMMIT_SHA"));
    let (here, there) =
        (said("CI_MERGE_REQUEST_PROJECT_ID"), said("CI_MERGE_REQUEST_SOURCE_PROJECT_ID"));
    Pipeline {
        range: id("CI_MERGE_REQUEST_DIFF_BASE_SHA").zip(head),
        title: said("CI_MERGE_REQUEST_TITLE"),
        body: said("CI_MERGE_REQUEST_DESCRIPTION"),
        number: said("CI_MERGE_REQUEST_IID").and_then(|it| it.parse().ok()),
        fork: there.is_some() && here != there,
        ..Pipeline::default()
    }
}
