//! Clients are set up, and the other way round: what there is to do is worked out first, step by step,
//! and then done or only told.
use super::commands::{self, COMMANDS, Whose};
use super::files;
use super::ground::Ground;
use super::row::{Client, Scope, clients};
use crate::private::within;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// What is wanted besides.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// That the client does not ask before every call.
    pub approve: bool,
    /// Variables that are handed on by name, and the ones they are taken from.
    pub keys: Vec<(String, String)>,
    /// That commands somebody has changed are replaced all the same.
    pub force: bool,
}

/// Something that is done to a file, or is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which file.
    pub path: PathBuf,
    /// What is in it: `server`, or how a command is typed.
    pub what: String,
    /// What becomes of it.
    pub deed: Deed,
    /// Why, where that does not go without saying.
    pub why: Option<String>,
    /// What stands in the file then; none, if it is gone.
    after: Option<String>,
    /// Whether the file was as we wrote it, so that nobody needs it as it was.
    ours: bool,
    /// The folder that goes with it, if it is ours.
    folder: Option<String>,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It was not there.
    Added,
    /// It was, and was not as it is now.
    Updated,
    /// It is as it should be.
    Unchanged,
    /// It is somebody's own.
    Kept,
    /// It is gone.
    Removed,
    /// It cannot be read or written.
    Failed,
}

impl Deed {
    /// In a word.
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

    /// Does it. The file as it was is kept; where, is the answer.
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

/// What it takes to set a client up.
pub fn wire(client: &Client, scope: Scope, wish: &Wish, ground: &Ground) -> Vec<Step> {
    let mut steps = vec![server(client, scope, wish, ground)];
    // Commands allow themselves the tools of a server of our name: it must be ours.
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

/// What it takes to undo that.
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

/// What it takes to let an entry work that is there: the client's own limit for calls is taken out, and
/// what switches it off.
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

/// A link in a repository must not choose what is written, or removed.
fn lies_there(scope: Scope, ground: &Ground, path: &Path) -> Result<(), String> {
    match scope {
        Scope::User => Ok(()),
        Scope::Project => within(&ground.root, path).map_err(|error| error.to_string()),
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
        // What somebody has made of the entry stays: only where the program lies is ours to say, and
        // what is wished for now.
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

/// What is to stand in the entry, given what stands there.
fn entry(
    client: &Client,
    scope: Scope,
    wish: &Wish,
    ground: &Ground,
    old: &Map<String, Value>,
) -> Map<String, Value> {
    // What is shared goes by name: it lies elsewhere on every machine.
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
            // A list of names: each is handed on as it is called.
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

/// Whether an entry starts this program, wherever it lies.
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
    // Two clients may read one file.
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
            // A file that holds nothing else was made for us; a link was made by its owner.
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
