//! How a client is set up, for somebody who wants to know what is wrong.
use super::commands::{self, COMMANDS, Whose};
use super::files;
use super::ground::Ground;
use super::row::{Client, Scope};
use super::wiring::{is_ours, starts};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Seconds a call of ours may take, with room for the answer.
const CALL: u64 = 60;

/// What there is of us in a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Where it is registered, for whom, and what is wrong with it.
    pub servers: Vec<Registered>,
    /// Settings that cannot be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Commands that are there, as they are typed.
    pub commands: Vec<String>,
    /// Those that are not.
    pub missing: Vec<String>,
    /// Those of an older version of this program.
    pub old: Vec<String>,
    /// Those that are there twice, and so work in neither place.
    pub twice: Vec<String>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// For whom.
    pub scope: Scope,
    /// In which file.
    pub path: PathBuf,
    /// What is wrong with it, if anything is.
    pub wrong: Option<Wrong>,
    /// Whether it asks before every call.
    pub asks: bool,
    /// Keys it is handed by name.
    pub keys: Vec<String>,
}

/// What can be wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Another program.
    NotOurs,
    /// The program it starts is not there.
    Gone(String),
    /// It is switched off.
    Off,
    /// Calls are cut after this many seconds.
    Cut(u64),
    /// Calls are cut after this many seconds, by this variable or setting.
    CutBy(String, u64),
}

/// How a client is set up here.
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
        // What was registered for this repository alone counts as the user's.
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

/// Prompts of the server that a client does not need, because it has them as commands: those of the
/// same name would get in each other's way, and others in the way of commands it has by itself.
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

/// Names in a list, or the names of a table.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields.keys().cloned().collect(),
        Value::Array(items) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => vec![],
    }
}
