//! Installs and removes the server entry and the commands of a client. Each function plans steps,
//! and the caller applies them or prints them (dry run).
use super::commands::{self, COMMANDS, Whose};
use super::files;
use super::ground::Ground;
use super::row::{Client, Scope, clients};
use crate::private::check_within;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Options of an installation.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Approve tool calls in advance.
    pub approve: bool,
    /// Variables to pass to the server by name, each with the variable it is taken from.
    pub keys: Vec<(String, String)>,
    /// Overwrite commands that the user has edited.
    pub force: bool,
}

/// A planned change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub path: PathBuf,
    /// `server`, or the command as the user types it.
    pub what: String,
    pub deed: Deed,
    /// Explanation, if the action needs one.
    pub why: Option<String>,
    /// New text of the file. `None` removes it.
    after: Option<String>,
    /// Whether the file is unchanged since this program wrote it, so that it needs no backup.
    ours: bool,
    /// Name of the parent folder to remove with the file.
    folder: Option<String>,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Added,
    Updated,
    /// Already up to date.
    Unchanged,
    /// Skipped, because it belongs to the user.
    Kept,
    Removed,
    /// Cannot be read or written.
    Failed,
}

impl Deed {
    /// The serialized name.
    pub fn word(self) -> &'static str {
        match self {
            Deed::Added => "added",
            Deed::Updated => "updated",
            Deed::Unchanged => "unchanged",
            Deed::Kept => "kept",
            Deed::Removed => "removed",
            Deed::Failed => "failed",
        }
    }
}

impl Step {
    fn new(path: &Path, what: &str, deed: Deed) -> Step {
        let (path, what) = (path.to_owned(), what.to_owned());
        Step { path, what, deed, why: None, after: None, ours: false, folder: None }
    }

    fn because(self, why: impl Into<String>) -> Step {
        Step { why: Some(why.into()), ..self }
    }

    /// Applies the step, after a backup of the old file. Returns the path of the backup.
    pub fn take(&mut self, backups: &Path) -> Option<PathBuf> {
        if !matches!(self.deed, Deed::Added | Deed::Updated | Deed::Removed) {
            return None;
        }
        let kept = if self.ours { Ok(None) } else { files::keep(&self.path, backups) };
        let done = kept.and_then(|kept| {
            match &self.after {
                Some(text) => files::write(&self.path, text)?,
                None => files::remove(&self.path, self.folder.as_deref())?,
            }
            Ok(kept)
        });
        done.unwrap_or_else(|error| {
            (self.deed, self.why) = (Deed::Failed, Some(error.to_string()));
            None
        })
    }
}

/// Plans the installation in a client: server entry first, then commands.
pub fn wire(client: &Client, scope: Scope, wish: &Wish, ground: &Ground) -> Vec<Step> {
    let mut steps = vec![server(client, scope, wish, ground)];
    // Commands allow all tools of the server named `debate`, so that entry must be ours.
    if matches!(steps[0].deed, Deed::Kept | Deed::Failed) {
        return steps;
    }
    for command in &COMMANDS {
        let Some(name) = command.typed else { continue };
        let path = client.command(name, scope, ground);
        let elsewhere = client.command(name, scope.other(), ground);
        if client.once && elsewhere != path && elsewhere.exists() {
            let why = format!("`{}` is there, and with both neither works", elsewhere.display());
            steps.push(Step::new(&path, &client.types(name), Deed::Kept).because(why));
            continue;
        }
        let text = commands::file(client, command, name);
        steps.push(command_step(&path, &client.types(name), text, scope, wish, ground));
    }
    steps
}

/// Plans the removal from a client.
pub fn unwire(client: &Client, scope: Scope, ground: &Ground) -> Vec<Step> {
    let mut steps: Vec<Step> = without_server(client, scope, ground).into_iter().collect();
    for name in COMMANDS.iter().filter_map(|command| command.typed) {
        let path = client.command(name, scope, ground);
        let typed = client.types(name);
        if path.exists()
            && let Err(why) = lies_there(scope, ground, &path)
        {
            steps.push(Step::new(&path, &typed, Deed::Failed).because(why));
            continue;
        }
        match files::read(&path) {
            Ok(None) => {}
            Ok(Some(text)) if commands::whose(&text) == Whose::Ours => {
                let folder = Some(name.to_owned());
                steps.push(Step { folder, ours: true, ..Step::new(&path, &typed, Deed::Removed) });
            }
            Ok(Some(_)) => {
                let step = Step::new(&path, &typed, Deed::Kept);
                steps.push(step.because("you have changed it, or it is your own"));
            }
            Err(why) => steps.push(Step::new(&path, &typed, Deed::Failed).because(why)),
        }
    }
    steps
}

/// Plans a repair of the server entry: removes its timeout and the flag that disables it.
pub fn free(client: &Client, scope: Scope, ground: &Ground) -> Option<Step> {
    let path = client.settings(scope, ground);
    lies_there(scope, ground, &path).ok()?;
    let text = files::read(&path).ok()??;
    let entry = client.syntax.get(&text, &client.way()).ok()??;
    let mut hinders = vec![];
    hinders.extend(client.timeout.as_ref().map(|timeout| timeout.field.as_str()));
    hinders.extend((entry["enabled"] == false).then_some("enabled"));
    hinders.extend((entry["disabled"] == true).then_some("disabled"));
    let after = hinders.into_iter().try_fold(text.clone(), |text, field| {
        let way: Vec<&str> = client.way().into_iter().chain([field]).collect();
        client.syntax.remove(&text, &way)
    });
    let after = after.ok().filter(|after| *after != text)?;
    Some(Step { after: Some(after), ..Step::new(&path, "server", Deed::Updated) })
}

/// Rejects project files outside the repository, because a symlink in a repository could point
/// anywhere.
fn lies_there(scope: Scope, ground: &Ground, path: &Path) -> Result<(), String> {
    match scope {
        Scope::User => Ok(()),
        Scope::Project => check_within(&ground.root, path).map_err(|error| error.to_string()),
    }
}

fn server(client: &Client, scope: Scope, wish: &Wish, ground: &Ground) -> Step {
    let path = client.settings(scope, ground);
    let failed = |why: String| Step::new(&path, "server", Deed::Failed).because(why);
    if let Err(why) = lies_there(scope, ground, &path) {
        return failed(why);
    }
    let before = match files::read(&path) {
        Ok(before) => before,
        Err(why) => return failed(why),
    };
    let text = before.clone().unwrap_or_default();
    let way = client.way();
    let there = match client.syntax.get(&text, &way) {
        Ok(there) => there,
        Err(why) => return failed(why),
    };
    if there.as_ref().is_some_and(|entry| !is_ours(entry)) {
        let why = format!("`{}` is another server there; rename it first", super::SERVER);
        return Step::new(&path, "server", Deed::Kept).because(why);
    }
    let edited = match &there {
        None => {
            let entry = entry(client, scope, wish, ground, &Map::new());
            client.syntax.set(&text, &way, &Value::Object(entry))
        }
        // Keep the user's changes. Only update the command, and what the options ask for.
        Some(old) => {
            let none = Map::new();
            let old = old.as_object().unwrap_or(&none);
            let mut fields = entry(client, scope, wish, ground, old);
            let asked = |name: &String| wish.approve && client.approve.contains_key(name);
            let named = client.keys.as_ref().map(|keys| &keys.field);
            fields.retain(|name, _| {
                name == "command" || !old.contains_key(name) || asked(name) || Some(name) == named
            });
            if let (Some(Value::Array(words)), Some(Value::Array(ours))) =
                (old.get("command"), fields.get_mut("command"))
            {
                ours.truncate(1);
                ours.extend(words.iter().skip(1).cloned());
            }
            fields.iter().try_fold(text.clone(), |text, (name, value)| {
                let way: Vec<&str> = way.iter().copied().chain([name.as_str()]).collect();
                client.syntax.set(&text, &way, value)
            })
        }
    };
    match edited {
        Err(why) => failed(why),
        Ok(after) if before.as_ref() == Some(&after) => Step::new(&path, "server", Deed::Unchanged),
        Ok(after) => {
            let deed = if there.is_some() { Deed::Updated } else { Deed::Added };
            Step { after: Some(after), ..Step::new(&path, "server", deed) }
        }
    }
}

/// Builds the fields of the server entry, merged with the variables it already passes on.
fn entry(
    client: &Client,
    scope: Scope,
    wish: &Wish,
    ground: &Ground,
    old: &Map<String, Value>,
) -> Map<String, Value> {
    // A shared file has the bare program name, because paths differ by machine.
    let command = match scope {
        Scope::User => ground.program.display().to_string(),
        Scope::Project => super::SERVER.to_owned(),
    };
    let mut fields: Map<String, Value> =
        client.entry.iter().map(|(name, value)| (name.clone(), filled(value, &command))).collect();
    if wish.approve {
        fields.extend(client.approve.clone());
    }
    if let Some(keys) = client.keys.as_ref().filter(|_| !wish.keys.is_empty()) {
        let before = old.get(&keys.field);
        let named = wish.keys.iter().filter(|(_, from)| !client.strips(from));
        let value = if let Some(value) = &keys.value {
            let mut all = before.and_then(Value::as_object).cloned().unwrap_or_default();
            all.extend(named.map(|(key, from)| (key.clone(), value.replace("{key}", from).into())));
            Value::Object(all)
        } else {
            // A list of names cannot rename variables.
            let mut all = before.and_then(Value::as_array).cloned().unwrap_or_default();
            let same = named.filter(|(key, from)| key == from);
            all.extend(same.map(|(key, _)| Value::from(key.as_str())));
            all.sort_by_key(ToString::to_string);
            all.dedup();
            Value::Array(all)
        };
        let empty = value.as_object().is_some_and(Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty);
        if !empty {
            fields.insert(keys.field.clone(), value);
        }
    }
    fields
}

fn filled(value: &Value, command: &str) -> Value {
    match value {
        Value::String(text) => text.replace("{command}", command).into(),
        Value::Array(items) => items.iter().map(|item| filled(item, command)).collect(),
        other => other.clone(),
    }
}

/// Whether an entry starts this program, at any path.
pub(super) fn is_ours(entry: &Value) -> bool {
    let command = &entry["command"];
    let words = command.as_array().or_else(|| entry["args"].as_array());
    let serves = words.is_some_and(|words| words.iter().any(|word| word == "mcp"));
    serves
        && starts(entry).is_some_and(|program| {
            let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
            name.strip_suffix(".exe").unwrap_or(name) == super::SERVER
        })
}

/// The program an entry starts.
pub(super) fn starts(entry: &Value) -> Option<&str> {
    let command = &entry["command"];
    command.as_str().or_else(|| command.as_array()?.first()?.as_str())
}

fn without_server(client: &Client, scope: Scope, ground: &Ground) -> Option<Step> {
    let path = client.settings(scope, ground);
    let failed = |why: String| Some(Step::new(&path, "server", Deed::Failed).because(why));
    let text = match files::read(&path) {
        Ok(text) => text?,
        Err(why) => return failed(why),
    };
    let way = client.way();
    let there = match client.syntax.get(&text, &way) {
        Ok(there) => there?,
        Err(why) => return failed(why),
    };
    if !is_ours(&there) {
        let step = Step::new(&path, "server", Deed::Kept);
        return Some(step.because(format!("`{}` is another server there", super::SERVER)));
    }
    if let Err(why) = lies_there(scope, ground, &path) {
        return failed(why);
    }
    // Two clients may share one settings file.
    let uses = |other: &&Client| {
        let set_up = |name| other.command(name, scope, ground).exists();
        other.name != client.name
            && other.settings(scope, ground) == path
            && COMMANDS.iter().filter_map(|command| command.typed).any(set_up)
    };
    if let Some(other) = clients().iter().find(uses) {
        let step = Step::new(&path, "server", Deed::Kept);
        return Some(step.because(format!("{} uses it, too", other.title)));
    }
    match client.syntax.remove(&text, &way) {
        Err(why) => failed(why),
        Ok(after) => {
            // Delete a file that has nothing else in it, unless it is a symlink.
            let gone = client.syntax.is_empty(&after) && !path.is_symlink();
            let after = (!gone).then_some(after);
            Some(Step { after, ..Step::new(&path, "server", Deed::Removed) })
        }
    }
}

fn command_step(
    path: &Path,
    typed: &str,
    text: String,
    scope: Scope,
    wish: &Wish,
    ground: &Ground,
) -> Step {
    if let Err(why) = lies_there(scope, ground, path) {
        return Step::new(path, typed, Deed::Failed).because(why);
    }
    let there = match files::read(path) {
        Ok(there) => there,
        Err(why) => return Step::new(path, typed, Deed::Failed).because(why),
    };
    let ours = there.as_ref().is_some_and(|old| commands::whose(old) == Whose::Ours);
    let deed = match &there {
        None => Deed::Added,
        Some(old) if *old == text => return Step::new(path, typed, Deed::Unchanged),
        Some(_) if wish.force || ours => Deed::Updated,
        Some(old) => {
            let why = match commands::whose(old) {
                Whose::Edited => "you have changed it; `--force` replaces it and keeps a copy",
                _ => "it is your own; `--force` replaces it and keeps a copy",
            };
            return Step::new(path, typed, Deed::Kept).because(why);
        }
    };
    Step { after: Some(text), ours, ..Step::new(path, typed, deed) }
}
