//! `ClientSpec`: an MCP client as data. The fields are documented in `clients.toml`. The entry
//! point is `clients`, the table of all known clients. `install`, `inspect` and `commands` use it
//! for `debate init` and `debate doctor`, and `mcp` looks up the client of a connection.
use super::paths::ClientPaths;
use crate::config::Config;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A table of `clients.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSpec {
    /// Name of the table, and of the client in CLI arguments.
    #[serde(skip)]
    pub name: String,
    /// Display name.
    pub title: String,
    /// Executable.
    pub program: String,
    /// Its folder in a repository, which also holds the state file of the last debate.
    #[serde(rename = "state")]
    pub state_folder: String,
    pub(super) homes: Vec<String>,
    #[serde(rename = "calls")]
    pub(super) handshake_names: Vec<String>,
    pub(super) syntax: ConfigSyntax,
    pub(super) servers: ServerFiles,
    #[serde(rename = "at")]
    pub(super) server_table: Vec<String>,
    pub(super) entry: Map<String, Value>,
    #[serde(default)]
    #[serde(rename = "local")]
    pub(super) local_server_table: Vec<String>,
    #[serde(default)]
    #[serde(rename = "approve")]
    pub(super) approval_fields: Map<String, Value>,
    #[serde(default)]
    #[serde(rename = "asks")]
    pub(super) asks_approval: bool,
    #[serde(default)]
    #[serde(rename = "keys")]
    pub(super) env_forwarding: Option<EnvForwarding>,
    #[serde(default)]
    pub(super) timeout: Option<TimeoutField>,
    #[serde(default)]
    #[serde(rename = "variable")]
    pub(super) timeout_variable: Option<String>,
    #[serde(default)]
    #[serde(rename = "limits")]
    pub(super) global_timeouts: Vec<GlobalTimeout>,
    pub(super) commands: CommandPaths,
    #[serde(rename = "form")]
    pub(super) command_format: CommandFileFormat,
    #[serde(rename = "words")]
    pub(super) arguments_placeholder: String,
    #[serde(default)]
    #[serde(rename = "head")]
    pub(super) header_fields: BTreeMap<String, String>,
    #[serde(rename = "typed")]
    pub(super) invocation_template: String,
    #[serde(default)]
    #[serde(rename = "once")]
    pub(super) single_scope_only: bool,
    #[serde(default)]
    #[serde(rename = "hides")]
    pub(super) prompts_conflict: bool,
    /// What the user must do before it starts a project server.
    #[serde(default)]
    pub pending: Option<String>,
    /// Other advice for the user.
    #[serde(default)]
    pub note: Option<String>,
}

/// Syntax of the settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ConfigSyntax {
    Json,
    Toml,
}

/// Format of command files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CommandFileFormat {
    Markdown,
    Toml,
    Skill,
}

/// Settings files with the server list, by scope.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerFiles {
    pub(super) user: Vec<String>,
    pub(super) project: Vec<String>,
}

/// Path templates of command files, by scope.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandPaths {
    pub(super) user: String,
    pub(super) project: String,
}

/// How an environment variable is passed on to the server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvForwarding {
    pub(super) field: String,
    #[serde(default)]
    pub(super) value: Option<String>,
    #[serde(default)]
    pub(super) strips: Vec<String>,
}

/// Timeout field of a server entry. `second` is one second in its unit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeoutField {
    pub(super) field: String,
    #[serde(rename = "second")]
    pub(super) units_per_second: u64,
}

/// Setting with a timeout for all servers. `second` is one second in its unit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GlobalTimeout {
    pub(super) file: String,
    #[serde(rename = "at")]
    pub(super) key_path: Vec<String>,
    #[serde(rename = "second")]
    pub(super) units_per_second: u64,
}

/// Scope of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstallScope {
    /// All repositories of this user.
    User,
    /// All users of one repository.
    Project,
}

impl InstallScope {
    pub(super) fn other(self) -> InstallScope {
        match self {
            InstallScope::User => InstallScope::Project,
            InstallScope::Project => InstallScope::User,
        }
    }

    /// `user` or `project`.
    pub fn as_str(self) -> &'static str {
        match self {
            InstallScope::User => "user",
            InstallScope::Project => "project",
        }
    }
}

static CLIENTS: LazyLock<Vec<ClientSpec>> = LazyLock::new(|| {
    let table: Result<BTreeMap<String, ClientSpec>, _> =
        toml::from_str(include_str!("clients.toml"));
    // The file is embedded, and a test parses it.
    let rows = table.unwrap_or_default();
    rows.into_iter().map(|(name, row)| ClientSpec { name, ..row }).collect()
});

/// All known clients.
pub fn clients() -> &'static [ClientSpec] {
    &CLIENTS
}

/// Finds a client by the name it sends in the MCP handshake.
pub fn find_by_handshake_name(name: &str) -> Option<&'static ClientSpec> {
    let name = name.to_lowercase();
    clients().iter().find(|client| client.handshake_names.iter().any(|word| name.contains(word)))
}

/// Possible state files of the last debate in the repository: in the configured folder, and in the
/// folder of every client.
pub fn state_file_paths(config: &Config) -> Vec<PathBuf> {
    let mut files = vec![];
    for client in clients() {
        for folder in
            config.state_dir.iter().map(PathBuf::from).chain([client.state_folder.clone().into()])
        {
            let file = config.repo_root.join(folder).join("debate").join("last-debate.json");
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

impl ClientSpec {
    /// Settings file to edit: the one with our entry, or else the first that exists, or else the
    /// first.
    pub(super) fn settings_path(&self, scope: InstallScope, client_paths: &ClientPaths) -> PathBuf {
        let candidates = match scope {
            InstallScope::User => &self.servers.user,
            InstallScope::Project => &self.servers.project,
        };
        let candidates: Vec<PathBuf> =
            candidates.iter().map(|path| client_paths.expand_path(path)).collect();
        let has_entry = |path: &&PathBuf| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            matches!(self.syntax.get(&text, &self.entry_key_path()), Ok(Some(_)))
        };
        let found = candidates
            .iter()
            .find(has_entry)
            .or_else(|| candidates.iter().find(|path| path.exists()));
        found.or(candidates.first()).cloned().unwrap_or_default()
    }

    /// Key path of our server entry.
    pub(super) fn entry_key_path(&self) -> Vec<&str> {
        self.server_table.iter().map(String::as_str).chain([super::SERVER_NAME]).collect()
    }

    /// Path of a command file.
    pub(super) fn command_path(
        &self,
        name: &str,
        scope: InstallScope,
        client_paths: &ClientPaths,
    ) -> PathBuf {
        let path = match scope {
            InstallScope::User => &self.commands.user,
            InstallScope::Project => &self.commands.project,
        };
        client_paths.expand_path(&path.replace("{name}", name))
    }

    /// What the user types to run a command, such as `/debate`.
    pub fn invocation(&self, name: &str) -> String {
        self.invocation_template.replace("{name}", name)
    }

    /// Whether the client is in use: its program or one of its folders exists.
    pub fn is_in_use(&self, client_paths: &ClientPaths) -> bool {
        self.program_path(client_paths).is_some()
            || self.homes.iter().any(|home| client_paths.expand_path(home).is_dir())
    }

    /// Path of its program, if it is on `PATH`.
    pub fn program_path(&self, client_paths: &ClientPaths) -> Option<PathBuf> {
        client_paths.find_program(&self.program)
    }

    /// Whether it asks for approval of every tool call by default.
    pub fn asks_approval(&self) -> bool {
        self.asks_approval
    }

    /// Whether an entry can approve tool calls in advance.
    pub fn can_approve(&self) -> bool {
        !self.approval_fields.is_empty()
    }

    /// Whether an environment variable reaches the server only if the entry names it.
    pub fn needs_forwarding(&self, variable: &str) -> bool {
        let strips = self.env_forwarding.as_ref().map(|keys| &keys.strips);
        strips.is_some_and(|strips| strips.is_empty() || self.strips_variable(variable))
    }

    /// Whether the client removes a variable from its own environment.
    pub fn strips_variable(&self, variable: &str) -> bool {
        let strips = self.env_forwarding.as_ref().map(|keys| keys.strips.as_slice());
        strips.unwrap_or_default().iter().any(|name| name == variable)
    }

    /// Whether it can pass a variable on under another name.
    pub fn can_rename_variables(&self) -> bool {
        self.env_forwarding.as_ref().is_none_or(|keys| keys.value.is_some())
    }

    /// The `--env` flags of `debate init` that pass variables on. A variable the client removes
    /// must come from one with another name.
    pub fn forwarding_flags(&self, variables: &[String]) -> String {
        let flag = |name: &String| {
            let from =
                if self.strips_variable(name) { format!("=MY_{name}") } else { String::new() };
            format!("--env {name}{from}")
        };
        variables.iter().map(flag).collect::<Vec<_>>().join(" ")
    }
}

/// Splits off a byte order mark.
fn split_bom(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

impl ConfigSyntax {
    pub(super) fn get(self, text: &str, path: &[&str]) -> Result<Option<Value>, String> {
        let (_, text) = split_bom(text);
        match self {
            ConfigSyntax::Json => super::jsonc_editor::get(text, path),
            ConfigSyntax::Toml => super::toml_editor::get(text, path),
        }
    }

    pub(super) fn set(self, text: &str, path: &[&str], value: &Value) -> Result<String, String> {
        let (bom, text) = split_bom(text);
        let text = match self {
            ConfigSyntax::Json => super::jsonc_editor::set(text, path, value),
            ConfigSyntax::Toml => super::toml_editor::set(text, path, value),
        };
        text.map(|text| format!("{bom}{text}"))
    }

    /// Removes the value at a key path, and parent tables that become empty.
    pub(super) fn remove(self, text: &str, path: &[&str]) -> Result<String, String> {
        let (bom, text) = split_bom(text);
        let text = match self {
            ConfigSyntax::Json => super::jsonc_editor::remove(text, path)?,
            ConfigSyntax::Toml => super::toml_editor::remove(text, path)?,
        };
        let mut text = format!("{bom}{text}");
        if let Some((_, parent)) = path.split_last()
            && !parent.is_empty()
            && let Some(Value::Object(remaining)) = self.get(&text, parent)?
            && remaining.is_empty()
        {
            text = self.remove(&text, parent)?;
        }
        Ok(text)
    }

    pub(super) fn is_empty(self, text: &str) -> bool {
        match self {
            ConfigSyntax::Json => super::jsonc_editor::is_empty(text),
            ConfigSyntax::Toml => super::toml_editor::is_empty(text),
        }
    }
}
