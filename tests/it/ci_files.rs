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
        let bare = line.trim_start();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let (bare, item) = bare.strip_prefix("- ").map_or((bare, false), |rest| (rest, true));
        let indent = indent_width(line) + if item { 2 } else { 0 };
        let named = bare.split_once(": ").or_else(|| Some((bare.strip_suffix(':')?, "")));
        let (key, value) = named.unwrap_or(("", bare));
        let mut value = value.trim_matches(['\'', '"']).to_owned();
        if value == "|" {
            // A block scalar without a key belongs to its dash.
            let owner = if key.is_empty() { indent_width(line) } else { indent };
            let inside = |next: &&str| next.trim().is_empty() || indent_width(next) > owner;
            let mut block = vec![];
            while let Some(next) = lines.next_if(inside) {
                block.push(next);
            }
            let margin = block.first().map_or(0, |first| indent_width(first));
            let block: Vec<&str> = block.iter().map(|it| it.get(margin..).unwrap_or("")).collect();
            value = block.join("\n");
        }
        entries.push(YamlEntry { indent, starts_item: item, key: key.to_owned(), value });
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
    let all = parse_yaml(text);
    let start = all.iter().position(|entry| entry.key == "steps").unwrap() + 1;
    let own = all[start].indent;
    let mut steps: Vec<WorkflowStep> = vec![];
    let mut within = "";
    for entry in all[start..].iter().take_while(|entry| entry.indent >= own) {
        if entry.indent == own {
            within = &entry.key;
            if entry.starts_item {
                steps.push(WorkflowStep::default());
            }
        }
        let step = steps.last_mut().unwrap();
        match (entry.indent == own, within) {
            (true, "id") => step.id.clone_from(&entry.value),
            (true, "run") => step.run.clone_from(&entry.value),
            (false, "env") => step.env.push((entry.key.clone(), entry.value.clone())),
            _ => {}
        }
    }
    steps
}

/// Property `of` of each entry under a top-level heading, for example the default of every input.
pub(crate) fn properties_under(text: &str, heading: &str, of: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let (mut within, mut name) = (false, String::new());
    for entry in parse_yaml(text) {
        match entry.indent {
            0 => within = entry.key == heading,
            2 => name = entry.key,
            _ if within && entry.key == of => {
                found.insert(name.clone(), entry.value);
            }
            _ => {}
        }
    }
    found
}

/// Replaces a `${{ }}` expression by its value. An output that no step has set is empty.
pub(crate) fn evaluate_expression(value: &str, known: &BTreeMap<String, String>) -> String {
    let name = value.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}"));
    let Some(name) = name else { return value.to_owned() };
    let there = known.get(name).cloned();
    there.or_else(|| name.starts_with("steps.").then(String::new)).unwrap_or_else(|| {
        panic!("nobody knows `{name}`");
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
            let used = ["${NAME", "$NAME", "${!NAME"].iter().any(|form| {
                let form = form.replace("NAME", name);
                step.run.contains(&form)
            });
            assert!(used || name == "GH_TOKEN", "`{name}` is handed on and not used");
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
    for used in uses {
        let (action, at) = used.split_once('@').unwrap();
        let commit = at.split(' ').next().unwrap();
        assert!(action.starts_with("actions/"), "{used}");
        assert!(commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{used}");
    }
}

#[test]
fn fork_pull_requests_get_no_secrets() {
    let text = read_project_file(WORKFLOW);
    let all = parse_yaml(&text);
    let value = |key: &str| {
        let entry = all.iter().find(|entry| entry.key == key);
        entry.unwrap_or_else(|| panic!("no `{key}`")).value.clone()
    };
    assert!(!all.iter().any(|entry| entry.key == "pull_request_target"));
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
    let place = server["repository"]["url"].as_str().unwrap();
    let name = place.strip_prefix("https://github.com/").unwrap();
    for path in [WORKFLOW, JOB] {
        let text = read_project_file(path);
        for tool in ["@anthropic-ai/claude-code", "@openai/codex"] {
            let pinned = format!("{tool}@{}", clis["dependencies"][tool].as_str().unwrap());
            assert!(text.contains(&pinned), "{path} does not install {pinned}");
        }
    }
    assert!(read_project_file(WORKFLOW).contains(&format!("uses: {name}@v0")));
    for path in [ACTION, JOB] {
        assert!(
            read_project_file(path).contains(&format!("\"{place}/releases/download/v")),
            "{path}"
        );
    }
    let job = read_project_file(JOB);
    let version = format!("DEBATE_VERSION: \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(job.contains(&version), "{JOB} does not install this version");
}
