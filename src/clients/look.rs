//! Diagnoses how this program is installed in a client, for `debate doctor`. Also decides which
//! server prompts to hide from a client.
use super::commands::{self, COMMANDS, Whose};
use super::files;
use super::ground::Ground;
use super::row::{Client, Scope};
use super::wiring::{is_ours, starts};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Minimum timeout of the client for a tool call: the longest call plus a margin.
const CALL: u64 = 60;

/// Installation found in a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Registrations of the server, one per scope.
    pub servers: Vec<Registered>,
    /// Settings files that cannot be parsed, with the error.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Installed commands, as the user types them.
    pub commands: Vec<String>,
    /// Commands that are not installed.
    pub missing: Vec<String>,
    /// Commands written by an older version.
    pub old: Vec<String>,
    /// Commands installed in both scopes, in clients where they then fail.
    pub twice: Vec<String>,
}

/// A server entry in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    pub scope: Scope,
    /// The settings file.
    pub path: PathBuf,
    pub wrong: Option<Wrong>,
    /// Whether the client asks for approval of every tool call.
    pub asks: bool,
    /// API keys passed on by variable name.
    pub keys: Vec<String>,
}

/// Why an entry does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The entry starts another program.
    NotOurs,
    /// The program at this path does not exist.
    Gone(String),
    /// The entry is disabled.
    Off,
    /// The entry has a timeout of this many seconds, which is too short.
    Cut(u64),
    /// This variable or setting has a timeout for all servers that is too short, in seconds.
    CutBy(String, u64),
}

/// Inspects the installation in a client.
pub fn look(client: &Client, ground: &Ground) -> Look {
    let mut look = Look::default();
    for scope in [Scope::User, Scope::Project] {
        let path = client.settings(scope, ground);
        if scope == Scope::Project && path == client.settings(Scope::User, ground) {
            continue;
        }
        let text = match files::read(&path) {
            Ok(text) => text.unwrap_or_default(),
            Err(why) => {
                look.unreadable.push((path, why));
                continue;
            }
        };
        // An entry for this repository in the user's file counts as user scope.
        let root = ground.root.display().to_string();
        let own: Vec<&str> = client
            .local
            .iter()
            .map(|part| if part == "{root}" { &root } else { part.as_str() })
            .collect();
        let found = match client.syntax.get(&text, &client.way()) {
            Ok(None) if scope == Scope::User && !own.is_empty() => {
                let own: Vec<&str> = own.into_iter().chain([super::SERVER]).collect();
                client.syntax.get(&text, &own)
            }
            found => found,
        };
        match found {
            Ok(None) => {}
            Ok(Some(entry)) => look.servers.push(registered(client, scope, path, &entry, ground)),
            Err(why) => look.unreadable.push((path, why)),
        }
    }
    for command in &COMMANDS {
        let Some(name) = command.typed else { continue };
        let typed = client.types(name);
        let paths = [Scope::User, Scope::Project].map(|scope| client.command(name, scope, ground));
        if client.once && paths[0] != paths[1] && paths.iter().all(|path| path.exists()) {
            look.twice.push(typed.clone());
        }
        let there = [Scope::User, Scope::Project]
            .into_iter()
            .find_map(|scope| files::read(&client.command(name, scope, ground)).ok().flatten());
        match there {
            None => look.missing.push(typed),
            Some(text) => {
                let old = commands::whose(&text) == Whose::Ours
                    && text != commands::file(client, command, name);
                let list = if old { &mut look.old } else { &mut look.commands };
                list.push(typed);
            }
        }
    }
    look
}

/// Server prompts to hide from a client that has them as commands. In some clients, prompts and
/// commands with the same name conflict.
pub fn hidden(client: &Client, ground: &Ground) -> Vec<&'static str> {
    let there = |name: &str| {
        let path = |scope| client.command(name, scope, ground);
        client.hides && (path(Scope::User).exists() || path(Scope::Project).exists())
    };
    COMMANDS.iter().filter(|it| it.typed.is_some_and(there)).map(|it| it.name).collect()
}

fn registered(
    client: &Client,
    scope: Scope,
    path: PathBuf,
    entry: &Value,
    ground: &Ground,
) -> Registered {
    let approved = !client.approve.is_empty()
        && client.approve.iter().all(|(name, value)| entry.get(name) == Some(value));
    let keys = client.keys.as_ref().and_then(|keys| entry.get(&keys.field)).map(names);
    Registered {
        scope,
        path,
        wrong: wrong(client, entry, ground),
        asks: client.asks && !approved,
        keys: keys.unwrap_or_default(),
    }
}

fn wrong(client: &Client, entry: &Value, ground: &Ground) -> Option<Wrong> {
    if !is_ours(entry) {
        return Some(Wrong::NotOurs);
    }
    let program = starts(entry).unwrap_or_default();
    let there = if Path::new(program).components().count() > 1 {
        Path::new(program).is_file()
    } else {
        ground.program(program).is_some()
    };
    if !there {
        return Some(Wrong::Gone(program.to_owned()));
    }
    if entry["enabled"] == false || entry["disabled"] == true {
        return Some(Wrong::Off);
    }
    if let Some(timeout) = &client.timeout
        && let Some(most) = entry.get(&timeout.field).and_then(Value::as_f64)
        && most < (CALL * timeout.second) as f64
    {
        #[expect(clippy::cast_sign_loss, reason = "nothing below nothing is written there")]
        return Some(Wrong::Cut(most.max(0.0) as u64 / timeout.second));
    }
    let said =
        client.variable.iter().filter_map(|name| Some((name.clone(), ground.variable(name)?)));
    let said = said.map(|(name, value)| (name, Value::from(value), 1000));
    let written = client.limits.iter().filter_map(|limit| {
        let file = ground.path(&limit.file);
        let at: Vec<&str> = limit.at.iter().map(String::as_str).collect();
        let value = client.syntax.get(&files::read(&file).ok()??, &at).ok()??;
        Some((format!("{} in `{}`", at.join("."), file.display()), value, limit.second))
    });
    said.chain(written).find_map(|(name, value, second)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let seconds = text.trim().parse::<u64>().ok()? / second;
        (seconds < CALL).then_some(Wrong::CutBy(name, seconds))
    })
}

/// Items of an array, or keys of an object.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields.keys().cloned().collect(),
        Value::Array(items) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => vec![],
    }
}
