//! One client, as data. What the fields mean stands at the top of `clients.toml`.
use super::ground::Ground;
use crate::config::Config;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A row of `clients.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// By which it is called in commands; the name of its table.
    #[serde(skip)]
    pub name: String,
    /// As people call it.
    pub title: String,
    /// Its executable.
    pub program: String,
    /// Its folder in a repository.
    pub state: String,
    pub(super) homes: Vec<String>,
    pub(super) calls: Vec<String>,
    pub(super) syntax: Syntax,
    pub(super) servers: Servers,
    pub(super) at: Vec<String>,
    pub(super) entry: Map<String, Value>,
    #[serde(default)]
    pub(super) local: Vec<String>,
    #[serde(default)]
    pub(super) approve: Map<String, Value>,
    #[serde(default)]
    pub(super) asks: bool,
    #[serde(default)]
    pub(super) keys: Option<Keys>,
    #[serde(default)]
    pub(super) timeout: Option<Timeout>,
    #[serde(default)]
    pub(super) variable: Option<String>,
    #[serde(default)]
    pub(super) limits: Vec<Limit>,
    pub(super) commands: Commands,
    pub(super) form: Form,
    pub(super) words: String,
    #[serde(default)]
    pub(super) head: BTreeMap<String, String>,
    pub(super) typed: String,
    #[serde(default)]
    pub(super) once: bool,
    #[serde(default)]
    pub(super) hides: bool,
    /// What has to happen before it starts a server of a repository.
    #[serde(default)]
    pub pending: Option<String>,
    /// What else a user should know.
    #[serde(default)]
    pub note: Option<String>,
}

/// How settings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Syntax {
    Json,
    Toml,
}

/// How a command is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
    Markdown,
    Toml,
    Skill,
}

/// Where servers are listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Servers {
    pub(super) user: Vec<String>,
    pub(super) project: Vec<String>,
}

/// Where commands lie.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Commands {
    pub(super) user: String,
    pub(super) project: String,
}

/// How a key is handed on by its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    pub(super) field: String,
    #[serde(default)]
    pub(super) value: Option<String>,
    #[serde(default)]
    pub(super) strips: Vec<String>,
}

/// How long a call may take.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Timeout {
    pub(super) field: String,
    pub(super) second: u64,
}

/// Another place that says how long a call may take.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limit {
    pub(super) file: String,
    pub(super) at: Vec<String>,
    pub(super) second: u64,
}

/// For whom something is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// For everything this user does.
    User,
    /// For everyone in a repository.
    Project,
}

impl Scope {
    /// The one that is not meant.
    pub(super) fn other(self) -> Scope {
        match self {
            Scope::User => Scope::Project,
            Scope::Project => Scope::User,
        }
    }

    /// `user`, `project`
    pub fn word(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
        }
    }
}

static CLIENTS: LazyLock<Vec<Client>> = LazyLock::new(|| {
    let table: Result<BTreeMap<String, Client>, _> = toml::from_str(include_str!("clients.toml"));
    // The table comes with the program, and a test reads it.
    let rows = table.unwrap_or_default();
    rows.into_iter().map(|(name, row)| Client { name, ..row }).collect()
});

/// Every client there is a row for.
pub fn clients() -> &'static [Client] {
    &CLIENTS
}

/// The client that calls itself so when it connects.
pub fn calling_itself(name: &str) -> Option<&'static Client> {
    let name = name.to_lowercase();
    clients().iter().find(|client| client.calls.iter().any(|word| name.contains(word)))
}

/// Where a repository may keep its last debate: in the folder the user named, and in the folder of
/// every client.
pub fn state_files(config: &Config) -> Vec<PathBuf> {
    let mut files = vec![];
    for client in clients() {
        for folder in
            config.state_dir.iter().map(PathBuf::from).chain([client.state.clone().into()])
        {
            let file = config.root.join(folder).join("debate").join("last-debate.json");
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

impl Client {
    /// The file its servers are listed in: the one that lists ours, the first that is there, or the
    /// first there may be.
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

    /// The path to our entry.
    pub(super) fn way(&self) -> Vec<&str> {
        self.at.iter().map(String::as_str).chain([super::SERVER]).collect()
    }

    /// Where a command of this name lies.
    pub(super) fn command(&self, name: &str, scope: Scope, ground: &Ground) -> PathBuf {
        let path = match scope {
            Scope::User => &self.commands.user,
            Scope::Project => &self.commands.project,
        };
        ground.path(&path.replace("{name}", name))
    }

    /// How a command is typed.
    pub fn types(&self, name: &str) -> String {
        self.typed.replace("{name}", name)
    }

    /// Whether somebody uses it here: its program is there, or what it keeps.
    pub fn found(&self, ground: &Ground) -> bool {
        self.installed(ground).is_some() || self.homes.iter().any(|home| ground.path(home).is_dir())
    }

    /// Where its program is.
    pub fn installed(&self, ground: &Ground) -> Option<PathBuf> {
        ground.program(&self.program)
    }

    /// Whether it asks before every call of a tool that plays, unless it is told not to.
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Whether it can be told in its settings not to ask.
    pub fn can_approve(&self) -> bool {
        !self.approve.is_empty()
    }

    /// Whether a variable of this name reaches the server only if it is named.
    pub fn withholds(&self, variable: &str) -> bool {
        let strips = self.keys.as_ref().map(|keys| &keys.strips);
        strips.is_some_and(|strips| strips.is_empty() || self.strips(variable))
    }

    /// Whether a variable is gone before anything could be handed on.
    pub fn strips(&self, variable: &str) -> bool {
        let strips = self.keys.as_ref().map(|keys| keys.strips.as_slice());
        strips.unwrap_or_default().iter().any(|name| name == variable)
    }

    /// Whether it can hand a variable on under another name.
    pub fn renames(&self) -> bool {
        self.keys.as_ref().is_none_or(|keys| keys.value.is_some())
    }

    /// What tells it to hand these on, as they would be typed: where a variable is gone before, by
    /// another that holds the same.
    pub fn hands_on(&self, variables: &[String]) -> String {
        let flag = |name: &String| {
            let from = if self.strips(name) { format!("=MY_{name}") } else { String::new() };
            format!("--env {name}{from}")
        };
        variables.iter().map(flag).collect::<Vec<_>>().join(" ")
    }
}

/// A mark some editors put before a text, and the text.
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

    /// Without what stands at a path, and without the tables that held nothing else.
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
