//! Config of one model CLI: program, arguments, environment, output format. The built-in specs are
//! in `clis.toml`; the user's config overrides single fields or adds specs. A repository's config
//! cannot.
use super::per_effort::PerEffort;
use super::system_environment::SystemEnvironment;
use crate::debate::Effort;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// How a model CLI is called. The comment at the top of `clis.toml` documents the fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CliSpec {
    pub(super) program: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    #[serde(rename = "extra")]
    pub(super) extra_args: Vec<String>,
    #[serde(default)]
    #[serde(rename = "last")]
    pub(super) trailing_args: Vec<String>,
    #[serde(default)]
    pub(super) tools: Vec<String>,
    #[serde(default)]
    pub(super) web_tools: Vec<String>,
    #[serde(default)]
    pub(super) web_on: Vec<String>,
    #[serde(default)]
    pub(super) web_off: Vec<String>,
    #[serde(default)]
    pub(super) web: Option<WebAccess>,
    #[serde(default)]
    #[serde(rename = "model")]
    pub(super) model_args: Vec<String>,
    #[serde(default)]
    #[serde(rename = "effort")]
    pub(super) effort_args: BTreeMap<String, Vec<String>>,
    #[serde(rename = "reads")]
    pub(super) output_format: CliOutputFormat,
    #[serde(default)]
    #[serde(rename = "set")]
    pub(super) set_env: BTreeMap<String, String>,
    #[serde(default)]
    #[serde(rename = "pass")]
    pub(super) pass_env: Vec<String>,
    #[serde(default)]
    pub(super) home: Option<CliHome>,
    #[serde(default)]
    #[serde(rename = "servers")]
    pub(super) mcp_config_files: Vec<String>,
    #[serde(default)]
    #[serde(rename = "longest")]
    pub(super) max_prompt_chars: Option<usize>,
    #[serde(default)]
    #[serde(rename = "usual")]
    pub(super) default_model: PerEffort<String>,
    #[serde(default)]
    #[serde(rename = "seconds")]
    pub(super) timeout_seconds: PerEffort<u32>,
    #[serde(default)]
    pub(super) family: Option<String>,
    #[serde(default)]
    #[serde(rename = "tells_cost")]
    pub(super) reports_cost: bool,
    #[serde(default)]
    #[serde(rename = "keys")]
    pub(super) key_variables: Vec<String>,
    #[serde(default)]
    #[serde(rename = "logins")]
    pub(super) login_files: Vec<String>,
    #[serde(default)]
    pub(super) caveats: Vec<String>,
    #[serde(default)]
    pub(super) install: String,
    #[serde(default)]
    pub(super) login: String,
}

/// Output format of a model CLI, which selects its parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CliOutputFormat {
    /// Claude Code's `stream-json`.
    Claude,
    /// Codex JSON Lines: threads, turns and items.
    Codex,
    /// Gemini CLI's `stream-json`.
    Gemini,
    /// opencode JSON Lines: steps and parts.
    Opencode,
    /// Copilot JSON Lines with dotted event types.
    Copilot,
    /// Plain text: all of stdout is the answer.
    Text,
}

/// Web access of a CLI that has no arguments to control it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WebAccess {
    /// It has no web access.
    None,
    /// It cannot be kept from the web.
    Open,
}

/// How the temporary home of a CLI is set up.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CliHome {
    pub(super) variable: String,
    #[serde(rename = "usual")]
    pub(super) default_path: String,
    #[serde(default)]
    #[serde(rename = "keep")]
    pub(super) copied_files: Vec<String>,
    #[serde(default)]
    #[serde(rename = "over")]
    pub(super) settings_overlay: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

const BUILTIN_CLI_SPECS: &str = include_str!("clis.toml");

/// Parses the built-in CLI specs merged with the `tools` table of the user's config.
pub(super) fn load_cli_specs(
    user_table: &toml::Table,
) -> Result<BTreeMap<String, CliSpec>, String> {
    merge_specs(BUILTIN_CLI_SPECS, user_table, "tools")
}

/// Merges built-in specs (TOML text) with the user's table and deserializes them. A user's field
/// replaces the built-in one; `table` is the name for error messages.
pub(super) fn merge_specs<T: DeserializeOwned>(
    builtin: &str,
    user_table: &toml::Table,
    table: &str,
) -> Result<BTreeMap<String, T>, String> {
    let mut specs: toml::Table = toml::from_str(builtin).map_err(|error| error.to_string())?;
    for (name, fields) in user_table {
        let toml::Value::Table(fields) = fields else {
            return Err(format!("`{table}.{name}` must be a table"));
        };
        let spec = specs.entry(name.clone()).or_insert_with(|| toml::Table::new().into());
        if let toml::Value::Table(spec) = spec {
            for (field, value) in fields {
                match (spec.get_mut(field), value) {
                    // Nested tables are merged, so that adding a variable keeps the restrictive
                    // built-in ones.
                    (Some(toml::Value::Table(builtin)), toml::Value::Table(overrides)) => {
                        builtin.extend(overrides.clone());
                    }
                    _ => drop(spec.insert(field.clone(), value.clone())),
                }
            }
        }
    }
    let parse = |(name, spec): (String, toml::Value)| {
        let spec = spec
            .try_into()
            .map_err(|error: toml::de::Error| format!("`{table}.{name}`: {}", error.message()))?;
        Ok((name, spec))
    };
    specs.into_iter().map(parse).collect()
}

impl CliSpec {
    /// The command-line arguments of a turn. The prompt goes to stdin.
    pub(super) fn arguments(
        &self,
        model: Option<&str>,
        effort: Option<Effort>,
        web_allowed: bool,
    ) -> Vec<String> {
        let tools = self.allowed_tools(web_allowed).join(",");
        let mut arguments: Vec<String> =
            self.args.iter().map(|part| part.replace("{tools}", &tools)).collect();
        arguments.extend(if web_allowed { self.web_on.clone() } else { self.web_off.clone() });
        arguments.extend(self.extra_args.iter().cloned());
        if let Some(model) = model {
            arguments.extend(self.model_args.iter().map(|part| part.replace("{model}", model)));
        }
        let effort_args = effort.and_then(|effort| self.effort_args.get(effort.as_str()));
        arguments.extend(effort_args.into_iter().flatten().cloned());
        arguments.extend(self.trailing_args.iter().cloned());
        arguments
    }

    /// Error message: the program is not installed, and how to install it.
    pub(super) fn not_installed_message(&self) -> String {
        let hint =
            if self.install.is_empty() { String::new() } else { format!(" ({})", self.install) };
        format!("`{}` is not installed{hint}", self.program)
    }

    /// The tools the model may use, with the web tools if the turn has web access.
    pub(super) fn allowed_tools(&self, web_allowed: bool) -> Vec<&str> {
        let web_tools = if web_allowed { self.web_tools.as_slice() } else { &[] };
        self.tools.iter().chain(web_tools).map(String::as_str).collect()
    }

    /// Caveat if the CLI's web access does not match what the turn allows.
    pub(super) fn web_caveat(&self, web_allowed: bool) -> Option<&'static str> {
        let is_controlled =
            [&self.web_tools, &self.web_on, &self.web_off].iter().any(|it| !it.is_empty());
        match (self.web, web_allowed) {
            (Some(WebAccess::None), true) => Some("web access: none"),
            (Some(WebAccess::Open), false) => Some("web access: not enforced"),
            // A spec that says nothing about the web is assumed to have access.
            (None, false) if !is_controlled => Some("web access: not enforced"),
            _ => None,
        }
    }

    /// Login status for the list, from key variables and login files. The CLI is not started.
    pub(super) fn login_status(&self, env: &SystemEnvironment) -> String {
        if let Some(name) = self.key_variables.iter().find(|name| env.variable(name).is_some()) {
            return format!("{name} is set");
        }
        let exists = |file: &String| std::path::Path::new(&env.expand_path(file)).is_file();
        if self.login_files.iter().any(exists) {
            return "seems to be logged in".into();
        }
        let hint = if self.login.is_empty() { String::new() } else { format!(" ({})", self.login) };
        format!("no login found, but it may be logged in{hint}")
    }

    /// Whether the allow-list `pass_env` contains this variable; `NAME*` is a prefix.
    pub(super) fn passes_variable(&self, name: &str) -> bool {
        self.pass_env.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => pattern == name,
        })
    }

    /// Names of the MCP servers in the user's config files, which are disabled for a turn.
    pub(super) fn mcp_server_names(&self, env: &SystemEnvironment) -> Vec<String> {
        let mut names = vec![];
        for file in self
            .mcp_config_files
            .iter()
            .map(|file| env.expand_path(file))
            .filter(|file| !file.is_empty())
        {
            // The file may also exist as `.jsonc`.
            for path in [file.clone(), format!("{file}c")] {
                let text = std::fs::read_to_string(path).unwrap_or_default();
                if let Some(servers) = parse_jsonc(&text)["mcp"].as_object() {
                    names.extend(servers.keys().cloned());
                }
            }
        }
        names
    }

    /// The variables set for the CLI. For opencode this includes a config that disables the given
    /// MCP servers and denies every tool that is not allowed.
    pub(super) fn build_variables(
        &self,
        disabled_servers: &[String],
        web_allowed: bool,
    ) -> BTreeMap<String, String> {
        let mut variables = self.set_env.clone();
        if self.output_format == CliOutputFormat::Opencode {
            let disabled_servers: serde_json::Map<String, serde_json::Value> = disabled_servers
                .iter()
                .map(|name| (name.clone(), serde_json::json!({"enabled": false})))
                .collect();
            let mut permissions = serde_json::json!({"*": "deny"});
            for tool in self.allowed_tools(web_allowed) {
                permissions[tool] = "allow".into();
            }
            let agent =
                serde_json::json!({"debater": {"mode": "primary", "permission": permissions}});
            let existing_config =
                variables.get("OPENCODE_CONFIG_CONTENT").cloned().unwrap_or_default();
            let mut config: serde_json::Value =
                serde_json::from_str(&existing_config).unwrap_or_else(|_| serde_json::json!({}));
            config["agent"] = agent;
            config["mcp"] = disabled_servers.into();
            variables.insert("OPENCODE_CONFIG_CONTENT".into(), config.to_string());
        }
        variables
    }
}

/// Parses JSON with comments and trailing commas; null if it is invalid.
pub(super) fn parse_jsonc(text: &str) -> serde_json::Value {
    jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default())
        .unwrap_or_default()
}
