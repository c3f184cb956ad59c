//! `ClientSpec`: an MCP client as data. The fields are documented in `clients.toml`.
use super::ground::Ground;
use crate::config::Config;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A table of `clients.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Name of the table, and of the client in CLI arguments.
    #[serde(skip)]
    pub name: String,
    /// Display name.
    pub title: String,
    /// Executable.
    pub program: String,
    /// Its folder in a repository, which also holds the state file of the last debate.
    #[serde(rename = "state")]
    pub state: String,
    pub(super) homes: Vec<String>,
    #[serde(rename = "calls")]
    pub(super) calls: Vec<String>,
    pub(super) syntax: Syntax,
    pub(super) servers: Servers,
    #[serde(rename = "at")]
    pub(super) at: Vec<String>,
    pub(super) entry: Map<String, Value>,
    #[serde(default)]
    #[serde(rename = "local")]
    pub(super) local: Vec<String>,
    #[serde(default)]
    #[serde(rename = "approve")]
    pub(super) approve: Map<String, Value>,
    #[serde(default)]
    #[serde(rename = "asks")]
    pub(super) asks: bool,
    #[serde(default)]
    #[serde(rename = "keys")]
    pub(super) keys: Option<Keys>,
    #[serde(default)]
    pub(super) timeout: Option<Timeout>,
    #[serde(default)]
    #[serde(rename = "variable")]
    pub(super) variable: Option<String>,
    #[serde(default)]
    #[serde(rename = "limits")]
    pub(super) limits: Vec<Limit>,
    pub(super) commands: Commands,
    #[serde(rename = "form")]
    pub(super) form: Form,
    #[serde(rename = "words")]
    pub(super) words: String,
    #[serde(default)]
    #[serde(rename = "head")]
    pub(super) head: BTreeMap<String, String>,
    #[serde(rename = "typed")]
    pub(super) typed: String,
    #[serde(default)]
    #[serde(rename = "once")]
    pub(super) once: bool,
    #[serde(default)]
    #[serde(rename = "hides")]
    pub(super) hides: bool,
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
pub(super) enum Syntax {
    Json,
    Toml,
}

/// Format of command files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
    Markdown,
    Toml,
    Skill,
}

/// Settings files with the server list, by scope.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Servers {
    pub(super) user: Vec<String>,
    pub(super) project: Vec<String>,
}

/// Path templates of command files, by scope.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Commands {
    pub(super) user: String,
    pub(super) project: String,
}

/// How an environment variable is passed on to the server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    pub(super) field: String,
    #[serde(default)]
    pub(super) value: Option<String>,
    #[serde(default)]
    pub(super) strips: Vec<String>,
}

/// Timeout field of a server entry. `second` is one second in its unit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Timeout {
    pub(super) field: String,
    #[serde(rename = "second")]
    pub(super) second: u64,
}

/// Setting with a timeout for all servers. `second` is one second in its unit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limit {
    pub(super) file: String,
    #[serde(rename = "at")]
    pub(super) at: Vec<String>,
    #[serde(rename = "second")]
    pub(super) second: u64,
}

/// Scope of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All repositories of this user.
    User,
    /// All users of one repository.
    Project,
}

impl Scope {
    pub(super) fn other(self) -> Scope {
        match self {
            Scope::User => Scope::Project,
            Scope::Project => Scope::User,
        }
    }

    /// `user` or `project`.
    pub fn word(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
        }
    }
}

static CLIENTS: LazyLock<Vec<Client>> = LazyLock::new(|| {
    let table: Result<BTreeMap<String, Client>, _> = toml::from_str(include_str!("clients.toml"));
    // The file is embedded, and a test parses it.
    let rows = table.unwrap_or_default();
    rows.into_iter().map(|(name, row)| Client { name, ..row }).collect()
});

/// All known clients.
pub fn clients() -> &'static [Client] {
    &CLIENTS
}

/// Finds a client by the name it sends in the MCP handshake.
pub fn calling_itself(name: &str) -> Option<&'static Client> {
    let name = name.to_lowercase();
    clients().iter().find(|client| client.calls.iter().any(|word| name.contains(word)))
}

/// Possible state files of the last debate in the repository: in the configured folder, and in the
/// folder of every client.
pub fn state_files(config: &Config) -> Vec<PathBuf> {
    let mut files = vec![];
    for client in clients() {
        for folder in
            config.state_dir.iter().map(PathBuf::from).chain([client.state.clone().into()])
        {
            let file = config.repo_root.join(folder).join("debate").join("last-debate.json");
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

impl Client {
    /// Settings file to edit: the one with our entry, or else the first that exists, or else the
    /// first.
    pub(super) fn settings(&self, scope: Scope, ground: &Ground) -> PathBuf {
        let all = match scope {
            Scope::User => &self.servers.user,
            Scope::Project => &self.servers.project,
        };
        let all: Vec<PathBuf> = all.iter().map(|path| ground.path(path)).collect();
        let lists = |path: &&PathBuf| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            matches!(self.syntax.get(&text, &self.way()), Ok(Some(_)))
        };
        let found = all.iter().find(lists).or_else(|| all.iter().find(|path| path.exists()));
        found.or(all.first()).cloned().unwrap_or_default()
    }

    /// Key path of our server entry.
    pub(super) fn way(&self) -> Vec<&str> {
        self.at.iter().map(String::as_str).chain([super::SERVER]).collect()
    }

    /// Path of a command file.
    pub(super) fn command(&self, name: &str, scope: Scope, ground: &Ground) -> PathBuf {
        let path = match scope {
            Scope::User => &self.commands.user,
            Scope::Project => &self.commands.project,
        };
        ground.path(&path.replace("{name}", name))
    }

    /// What the user types to run a command, such as `/debate`.
    pub fn types(&self, name: &str) -> String {
        self.typed.replace("{name}", name)
    }

    /// Whether the client is in use: its program or one of its folders exists.
    pub fn found(&self, ground: &Ground) -> bool {
        self.installed(ground).is_some() || self.homes.iter().any(|home| ground.path(home).is_dir())
    }

    /// Path of its program, if it is on `PATH`.
    pub fn installed(&self, ground: &Ground) -> Option<PathBuf> {
        ground.program(&self.program)
    }

    /// Whether it asks for approval of every tool call by default.
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Whether an entry can approve tool calls in advance.
    pub fn can_approve(&self) -> bool {
        !self.approve.is_empty()
    }

    /// Whether an environment variable reaches the server only if the entry names it.
    pub fn withholds(&self, variable: &str) -> bool {
        let strips = self.keys.as_ref().map(|keys| &keys.strips);
        strips.is_some_and(|strips| strips.is_empty() || self.strips(variable))
    }

    /// Whether the client removes a variable from its own environment.
    pub fn strips(&self, variable: &str) -> bool {
        let strips = self.keys.as_ref().map(|keys| keys.strips.as_slice());
        strips.unwrap_or_default().iter().any(|name| name == variable)
    }

    /// Whether it can pass a variable on under another name.
    pub fn renames(&self) -> bool {
        self.keys.as_ref().is_none_or(|keys| keys.value.is_some())
    }

    /// The `--env` flags of `debate init` that pass variables on. A variable the client removes
    /// must come from one with another name.
    pub fn hands_on(&self, variables: &[String]) -> String {
        let flag = |name: &String| {
            let from = if self.strips(name) { format!("=MY_{name}") } else { String::new() };
            format!("--env {name}{from}")
        };
        variables.iter().map(flag).collect::<Vec<_>>().join(" ")
    }
}

/// Splits off a byte order mark.
fn bare(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

impl Syntax {
    pub(super) fn get(self, text: &str, path: &[&str]) -> Result<Option<Value>, String> {
        let (_, text) = bare(text);
        match self {
            Syntax::Json => super::jsonc::get(text, path),
            Syntax::Toml => super::tables::get(text, path),
        }
    }

    pub(super) fn set(self, text: &str, path: &[&str], value: &Value) -> Result<String, String> {
        let (mark, text) = bare(text);
        let text = match self {
            Syntax::Json => super::jsonc::set(text, path, value),
            Syntax::Toml => super::tables::set(text, path, value),
        };
        text.map(|text| format!("{mark}{text}"))
    }

    /// Removes the value at a key path, and parent tables that become empty.
    pub(super) fn remove(self, text: &str, path: &[&str]) -> Result<String, String> {
        let (mark, text) = bare(text);
        let text = match self {
            Syntax::Json => super::jsonc::remove(text, path)?,
            Syntax::Toml => super::tables::remove(text, path)?,
        };
        let mut text = format!("{mark}{text}");
        if let Some((_, above)) = path.split_last()
            && !above.is_empty()
            && let Some(Value::Object(left)) = self.get(&text, above)?
            && left.is_empty()
        {
            text = self.remove(&text, above)?;
        }
        Ok(text)
    }

    pub(super) fn is_empty(self, text: &str) -> bool {
        match self {
            Syntax::Json => super::jsonc::is_empty(text),
            Syntax::Toml => super::tables::is_empty(text),
        }
    }
}
