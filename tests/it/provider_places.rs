//! Every place that must know a provider, checked against the built-in provider specs
//! (`src/providers/*.toml`): README, `action.yml`, `server.json`, the blind-judging masks and the
//! parser of one-line topics. A new provider fails here until it is in all of them.
use debate_mcp::app::topic_sides;
use debate_mcp::debate::mask::provider_aliases;
use debate_mcp::debate::setup::WORDING_VERSION;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Names of the providers in a spec file, with the environment variables that may hold their keys.
fn provider_keys(path: &str) -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let specs: toml::Table = text.parse().unwrap();
    let keys = |spec: &toml::Value| {
        let keys = spec.get("keys").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        keys.iter().map(|key| key.as_str().unwrap().to_owned()).collect()
    };
    let providers: BTreeMap<String, Vec<String>> =
        specs.iter().map(|(name, spec)| (name.clone(), keys(spec))).collect();
    assert!(providers.len() >= 5, "{path} has too few providers");
    providers
}

fn cli_keys() -> BTreeMap<String, Vec<String>> {
    provider_keys("src/providers/clis.toml")
}

fn api_keys() -> BTreeMap<String, Vec<String>> {
    provider_keys("src/providers/apis.toml")
}

fn provider_names() -> Vec<String> {
    cli_keys().into_keys().chain(api_keys().into_keys()).collect()
}

#[test]
fn readme_lists_every_provider_and_the_key_of_every_api() {
    let readme = fs::read_to_string("README.md").unwrap();
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    for name in provider_names() {
        let is_listed = |row: &&&str| {
            row.contains(&format!("`{name}`")) || row.contains(&format!("`{name}:MODEL`"))
        };
        assert!(rows.iter().any(|row| is_listed(&row)), "README.md has no row for `{name}`");
    }
    for (name, keys) in api_keys() {
        for key in keys {
            let is_listed = |row: &&str| row.contains(&name) && row.contains(&format!("`{key}`"));
            assert!(rows.iter().any(is_listed), "README.md: the row of `{name}` lacks `{key}`");
        }
    }
}

#[test]
fn action_unsets_every_empty_provider_key() {
    let action = fs::read_to_string("action.yml").unwrap();
    let (_, rest) = action.split_once("for key in ").unwrap();
    let (list, _) = rest.split_once("; do").unwrap();
    let listed: BTreeSet<&str> = list.split_whitespace().filter(|word| *word != "\\").collect();
    let keys: Vec<String> =
        cli_keys().into_values().chain(api_keys().into_values()).flatten().collect();
    let expected: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
    assert_eq!(listed, expected);
}

#[test]
fn server_manifest_declares_every_api_key() {
    let text = fs::read_to_string("server.json").unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let packages = manifest["packages"].as_array().unwrap();
    assert!(!packages.is_empty());
    for package in packages {
        let variables = package["environmentVariables"].as_array().unwrap();
        for key in api_keys().into_values().flatten() {
            let variable = variables.iter().find(|variable| variable["name"] == key.as_str());
            let variable = variable.unwrap_or_else(|| panic!("server.json lacks {key}"));
            assert_eq!(variable["isSecret"], true, "{key}");
        }
    }
}

#[test]
fn blind_judging_masks_every_provider() {
    for name in provider_names() {
        let aliases = provider_aliases(&name, WORDING_VERSION);
        let aliases = aliases.unwrap_or_else(|| panic!("mask.rs has no entry for `{name}`"));
        assert!(!aliases.is_empty(), "mask.rs: `{name}` has no aliases");
    }
}

#[test]
fn topic_line_accepts_every_provider_as_a_model() {
    for name in provider_names() {
        let line = topic_sides::parse(&format!("Tabs or spaces? ({name}, claude)"));
        assert_eq!(line.models, [name.as_str(), "claude"], "topic_sides.rs does not know `{name}`");
        assert_eq!(line.topic, "Tabs or spaces?");
    }
}
