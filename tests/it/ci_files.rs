//! Files that users copy for reviews in CI: the GitHub action, a GitHub workflow and a GitLab job.
//! Has a minimal YAML parser (by indentation), and checks for shell injection, pinned versions and
//! permissions.
use crate::prerequisites::repo_path;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

const ACTION: &str = "action.yml";
const WORKFLOW: &str = "examples/ci/github-review.yml";
const JOB: &str = "examples/ci/gitlab-review.yml";

/// One `key: value` line of YAML, as far as these files use it.
pub(crate) struct YamlEntry {
    indent: usize,
    /// Whether the line starts a list item.
    starts_item: bool,
    pub(crate) key: String,
    pub(crate) value: String,
}

fn indent_width(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

pub(crate) fn parse_yaml(text: &str) -> Vec<YamlEntry> {
    let mut entries = vec![];
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let content = line.trim_start();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let (content, starts_item) =
            content.strip_prefix("- ").map_or((content, false), |rest| (rest, true));
        let indent = indent_width(line) + if starts_item { 2 } else { 0 };
        let pair = content.split_once(": ").or_else(|| Some((content.strip_suffix(':')?, "")));
        let (key, value) = pair.unwrap_or(("", content));
        let mut value = value.trim_matches(['\'', '"']).to_owned();
        if value == "|" {
            // A block scalar without a key belongs to its dash.
            let parent_indent = if key.is_empty() { indent_width(line) } else { indent };
            let is_in_block =
                |next: &&str| next.trim().is_empty() || indent_width(next) > parent_indent;
            let mut block = vec![];
            while let Some(next) = lines.next_if(is_in_block) {
                block.push(next);
            }
            let block_indent = block.first().map_or(0, |first| indent_width(first));
            let block: Vec<&str> =
                block.iter().map(|it| it.get(block_indent..).unwrap_or("")).collect();
            value = block.join("\n");
        }
        entries.push(YamlEntry { indent, starts_item, key: key.to_owned(), value });
    }
    entries
}

/// One step of an action or workflow.
#[derive(Default)]
pub(crate) struct WorkflowStep {
    pub(crate) id: String,
    pub(crate) run: String,
    pub(crate) env: Vec<(String, String)>,
}

pub(crate) fn parse_steps(text: &str) -> Vec<WorkflowStep> {
    let entries = parse_yaml(text);
    let start = entries.iter().position(|entry| entry.key == "steps").unwrap() + 1;
    let step_indent = entries[start].indent;
    let mut steps: Vec<WorkflowStep> = vec![];
    let mut section = "";
    for entry in entries[start..].iter().take_while(|entry| entry.indent >= step_indent) {
        if entry.indent == step_indent {
            section = &entry.key;
            if entry.starts_item {
                steps.push(WorkflowStep::default());
            }
        }
        let step = steps.last_mut().unwrap();
        match (entry.indent == step_indent, section) {
            (true, "id") => step.id.clone_from(&entry.value),
            (true, "run") => step.run.clone_from(&entry.value),
            (false, "env") => step.env.push((entry.key.clone(), entry.value.clone())),
            _ => {}
        }
    }
    steps
}

/// The value of `property` in each entry under a top-level heading, for example every input's
/// default.
pub(crate) fn properties_under(
    text: &str,
    heading: &str,
    property: &str,
) -> BTreeMap<String, String> {
    let mut properties = BTreeMap::new();
    let (mut in_section, mut name) = (false, String::new());
    for entry in parse_yaml(text) {
        match entry.indent {
            0 => in_section = entry.key == heading,
            2 => name = entry.key,
            _ if in_section && entry.key == property => {
                properties.insert(name.clone(), entry.value);
            }
            _ => {}
        }
    }
    properties
}

/// Replaces a `${{ }}` expression by its value. An output that no step has set is empty.
pub(crate) fn evaluate_expression(value: &str, values: &BTreeMap<String, String>) -> String {
    let name = value.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}"));
    let Some(name) = name else { return value.to_owned() };
    let known_value = values.get(name).cloned();
    known_value.or_else(|| name.starts_with("steps.").then(String::new)).unwrap_or_else(|| {
        panic!("no value for `{name}`");
    })
}

pub(crate) fn read_project_file(path: &str) -> String {
    fs::read_to_string(repo_path(path)).unwrap()
}

/// An expression in a script would allow shell injection through a branch name or title.
#[test]
fn workflow_scripts_contain_no_expressions() {
    for path in [ACTION, WORKFLOW] {
        let text = read_project_file(path);
        let scripts: Vec<String> = parse_yaml(&text)
            .into_iter()
            .filter_map(|entry| (entry.key == "run").then_some(entry.value))
            .collect();
        assert!(!scripts.is_empty());
        for script in scripts {
            assert!(!script.contains("${{"), "{path}: {script}");
        }
    }
    let steps = parse_steps(&read_project_file(ACTION));
    for step in steps.iter().filter(|step| !step.run.is_empty()) {
        assert!(step.run.starts_with("set -euo pipefail\n"), "{}", step.run);
        for (name, _) in &step.env {
            let is_used = ["${NAME", "$NAME", "${!NAME"].iter().any(|form| {
                let form = form.replace("NAME", name);
                step.run.contains(&form)
            });
            assert!(is_used || name == "GH_TOKEN", "the script does not use `{name}`");
        }
    }
}

/// Actions are pinned by commit hash, because a tag can be moved.
#[test]
fn action_uses_only_pinned_commits() {
    let text = read_project_file(ACTION);
    let uses: Vec<String> = parse_yaml(&text)
        .into_iter()
        .filter_map(|entry| (entry.key == "uses").then_some(entry.value))
        .collect();
    assert_eq!(uses.len(), 2);
    for action_ref in uses {
        let (action, version) = action_ref.split_once('@').unwrap();
        let commit = version.split(' ').next().unwrap();
        assert!(action.starts_with("actions/"), "{action_ref}");
        assert!(
            commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()),
            "{action_ref}"
        );
    }
}

#[test]
fn fork_pull_requests_get_no_secrets() {
    let text = read_project_file(WORKFLOW);
    let entries = parse_yaml(&text);
    let value = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key);
        entry.unwrap_or_else(|| panic!("no `{key}`")).value.clone()
    };
    assert!(!entries.iter().any(|entry| entry.key == "pull_request_target"));
    assert_eq!(value("persist-credentials"), "false");
    assert_eq!(value("fetch-depth"), "0");
    assert_eq!(value("cancel-in-progress"), "true");
    assert_eq!(value("contents"), "read");
    assert!(value("types").contains("ready_for_review") && value("if").contains("draft"));
}

/// Versions and the repository URL occur in several files and must agree.
#[test]
fn copied_files_name_tested_and_released_versions() {
    let read = |path: &str| -> Value { serde_json::from_str(&read_project_file(path)).unwrap() };
    let (clis, server) = (read("tests/clis/package.json"), read("server.json"));
    let repo_url = server["repository"]["url"].as_str().unwrap();
    let repo_name = repo_url.strip_prefix("https://github.com/").unwrap();
    for path in [WORKFLOW, JOB] {
        let text = read_project_file(path);
        for tool in ["@anthropic-ai/claude-code", "@openai/codex"] {
            let pinned = format!("{tool}@{}", clis["dependencies"][tool].as_str().unwrap());
            assert!(text.contains(&pinned), "{path} does not install {pinned}");
        }
    }
    assert!(read_project_file(WORKFLOW).contains(&format!("uses: {repo_name}@v0")));
    for path in [ACTION, JOB] {
        assert!(
            read_project_file(path).contains(&format!("\"{repo_url}/releases/download/v")),
            "{path}"
        );
    }
    let job = read_project_file(JOB);
    let version = format!("DEBATE_VERSION: \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(job.contains(&version), "{JOB} does not install this version");
}
