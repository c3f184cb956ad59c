//! Installs and removes the server entry and the commands of a client. Each function plans steps,
//! and the caller applies them or prints them (dry run).
use super::client_spec::{ClientSpec, InstallScope, clients};
use super::commands::{self, COMMANDS, FileOwner};
use super::paths::ClientPaths;
use super::user_files;
use crate::secure_fs::check_within;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Options of an installation.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// Approve tool calls in advance.
    pub approve_calls: bool,
    /// Variables to pass to the server by name, each with the variable it is taken from.
    pub env_vars: Vec<(String, String)>,
    /// Overwrite commands that the user has edited.
    pub force: bool,
}

/// A planned change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallStep {
    pub path: PathBuf,
    /// `server`, or the command as the user types it.
    pub item: String,
    pub action: FileAction,
    /// Explanation, if the action needs one.
    pub reason: Option<String>,
    /// New text of the file. `None` removes it.
    new_text: Option<String>,
    /// Whether the file is unchanged since this program wrote it, so that it needs no backup.
    unmodified: bool,
    /// Name of the parent folder to remove with the file.
    folder_to_remove: Option<String>,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
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

impl FileAction {
    /// The serialized name.
    pub fn as_str(self) -> &'static str {
        match self {
            FileAction::Added => "added",
            FileAction::Updated => "updated",
            FileAction::Unchanged => "unchanged",
            FileAction::Kept => "kept",
            FileAction::Removed => "removed",
            FileAction::Failed => "failed",
        }
    }
}

impl InstallStep {
    fn new(path: &Path, what: &str, action: FileAction) -> InstallStep {
        let (path, item) = (path.to_owned(), what.to_owned());
        InstallStep {
            path,
            item,
            action,
            reason: None,
            new_text: None,
            unmodified: false,
            folder_to_remove: None,
        }
    }

    fn with_reason(self, why: impl Into<String>) -> InstallStep {
        InstallStep { reason: Some(why.into()), ..self }
    }

    /// Applies the step, after a backup of the old file. Returns the path of the backup.
    pub fn apply(&mut self, backups: &Path) -> Option<PathBuf> {
        if !matches!(self.action, FileAction::Added | FileAction::Updated | FileAction::Removed) {
            return None;
        }
        let kept =
            if self.unmodified { Ok(None) } else { user_files::back_up(&self.path, backups) };
        let done = kept.and_then(|kept| {
            match &self.new_text {
                Some(text) => user_files::write_atomic(&self.path, text)?,
                None => user_files::remove_file(&self.path, self.folder_to_remove.as_deref())?,
            }
            Ok(kept)
        });
        done.unwrap_or_else(|error| {
            (self.action, self.reason) = (FileAction::Failed, Some(error.to_string()));
            None
        })
    }
}

/// Plans the installation in a client: server entry first, then commands.
pub fn plan_install(
    client: &ClientSpec,
    scope: InstallScope,
    wish: &InstallOptions,
    ground: &ClientPaths,
) -> Vec<InstallStep> {
    let mut steps = vec![plan_server_entry(client, scope, wish, ground)];
    // Commands allow all tools of the server named `debate`, so that entry must be ours.
    if matches!(steps[0].action, FileAction::Kept | FileAction::Failed) {
        return steps;
    }
    for command in &COMMANDS {
        let Some(name) = command.command_name else { continue };
        let path = client.command_path(name, scope, ground);
        let elsewhere = client.command_path(name, scope.other(), ground);
        if client.single_scope_only && elsewhere != path && elsewhere.exists() {
            let why = format!("`{}` is there, and with both neither works", elsewhere.display());
            steps.push(
                InstallStep::new(&path, &client.invocation(name), FileAction::Kept)
                    .with_reason(why),
            );
            continue;
        }
        let text = commands::render_signed_file(client, command, name);
        steps.push(plan_command_file(&path, &client.invocation(name), text, scope, wish, ground));
    }
    steps
}

/// Plans the removal from a client.
pub fn plan_uninstall(
    client: &ClientSpec,
    scope: InstallScope,
    ground: &ClientPaths,
) -> Vec<InstallStep> {
    let mut steps: Vec<InstallStep> =
        plan_server_removal(client, scope, ground).into_iter().collect();
    for name in COMMANDS.iter().filter_map(|command| command.command_name) {
        let path = client.command_path(name, scope, ground);
        let typed = client.invocation(name);
        if path.exists()
            && let Err(why) = check_inside_root(scope, ground, &path)
        {
            steps.push(InstallStep::new(&path, &typed, FileAction::Failed).with_reason(why));
            continue;
        }
        match user_files::read_optional(&path) {
            Ok(None) => {}
            Ok(Some(text)) if commands::detect_owner(&text) == FileOwner::Ours => {
                let folder = Some(name.to_owned());
                steps.push(InstallStep {
                    folder_to_remove: folder,
                    unmodified: true,
                    ..InstallStep::new(&path, &typed, FileAction::Removed)
                });
            }
            Ok(Some(_)) => {
                let step = InstallStep::new(&path, &typed, FileAction::Kept);
                steps.push(step.with_reason("you have changed it, or it is your own"));
            }
            Err(why) => {
                steps.push(InstallStep::new(&path, &typed, FileAction::Failed).with_reason(why))
            }
        }
    }
    steps
}

/// Plans a repair of the server entry: removes its timeout and the flag that disables it.
pub fn plan_repair(
    client: &ClientSpec,
    scope: InstallScope,
    ground: &ClientPaths,
) -> Option<InstallStep> {
    let path = client.settings_path(scope, ground);
    check_inside_root(scope, ground, &path).ok()?;
    let text = user_files::read_optional(&path).ok()??;
    let entry = client.syntax.get(&text, &client.entry_key_path()).ok()??;
    let mut hinders = vec![];
    hinders.extend(client.timeout.as_ref().map(|timeout| timeout.field.as_str()));
    hinders.extend((entry["enabled"] == false).then_some("enabled"));
    hinders.extend((entry["disabled"] == true).then_some("disabled"));
    let after = hinders.into_iter().try_fold(text.clone(), |text, field| {
        let way: Vec<&str> = client.entry_key_path().into_iter().chain([field]).collect();
        client.syntax.remove(&text, &way)
    });
    let after = after.ok().filter(|after| *after != text)?;
    Some(InstallStep {
        new_text: Some(after),
        ..InstallStep::new(&path, "server", FileAction::Updated)
    })
}

/// Rejects project files outside the repository, because a symlink in a repository could point
/// anywhere.
fn check_inside_root(scope: InstallScope, ground: &ClientPaths, path: &Path) -> Result<(), String> {
    match scope {
        InstallScope::User => Ok(()),
        InstallScope::Project => {
            check_within(&ground.root, path).map_err(|error| error.to_string())
        }
    }
}

fn plan_server_entry(
    client: &ClientSpec,
    scope: InstallScope,
    wish: &InstallOptions,
    ground: &ClientPaths,
) -> InstallStep {
    let path = client.settings_path(scope, ground);
    let failed =
        |why: String| InstallStep::new(&path, "server", FileAction::Failed).with_reason(why);
    if let Err(why) = check_inside_root(scope, ground, &path) {
        return failed(why);
    }
    let before = match user_files::read_optional(&path) {
        Ok(before) => before,
        Err(why) => return failed(why),
    };
    let text = before.clone().unwrap_or_default();
    let way = client.entry_key_path();
    let there = match client.syntax.get(&text, &way) {
        Ok(there) => there,
        Err(why) => return failed(why),
    };
    if there.as_ref().is_some_and(|entry| !is_own_entry(entry)) {
        let why = format!("`{}` is another server there; rename it first", super::SERVER_NAME);
        return InstallStep::new(&path, "server", FileAction::Kept).with_reason(why);
    }
    let edited = match &there {
        None => {
            let entry = build_entry(client, scope, wish, ground, &Map::new());
            client.syntax.set(&text, &way, &Value::Object(entry))
        }
        // Keep the user's changes. Only update the command, and what the options ask for.
        Some(old) => {
            let none = Map::new();
            let old = old.as_object().unwrap_or(&none);
            let mut fields = build_entry(client, scope, wish, ground, old);
            let asked =
                |name: &String| wish.approve_calls && client.approval_fields.contains_key(name);
            let named = client.env_forwarding.as_ref().map(|keys| &keys.field);
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
        Ok(after) if before.as_ref() == Some(&after) => {
            InstallStep::new(&path, "server", FileAction::Unchanged)
        }
        Ok(after) => {
            let deed = if there.is_some() { FileAction::Updated } else { FileAction::Added };
            InstallStep { new_text: Some(after), ..InstallStep::new(&path, "server", deed) }
        }
    }
}

/// Builds the fields of the server entry, merged with the variables it already passes on.
fn build_entry(
    client: &ClientSpec,
    scope: InstallScope,
    wish: &InstallOptions,
    ground: &ClientPaths,
    old: &Map<String, Value>,
) -> Map<String, Value> {
    // A shared file has the bare program name, because paths differ by machine.
    let command = match scope {
        InstallScope::User => ground.program.display().to_string(),
        InstallScope::Project => super::SERVER_NAME.to_owned(),
    };
    let mut fields: Map<String, Value> = client
        .entry
        .iter()
        .map(|(name, value)| (name.clone(), fill_command(value, &command)))
        .collect();
    if wish.approve_calls {
        fields.extend(client.approval_fields.clone());
    }
    if let Some(keys) = client.env_forwarding.as_ref().filter(|_| !wish.env_vars.is_empty()) {
        let before = old.get(&keys.field);
        let named = wish.env_vars.iter().filter(|(_, from)| !client.strips_variable(from));
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

fn fill_command(value: &Value, command: &str) -> Value {
    match value {
        Value::String(text) => text.replace("{command}", command).into(),
        Value::Array(items) => items.iter().map(|item| fill_command(item, command)).collect(),
        other => other.clone(),
    }
}

/// Whether an entry starts this program, at any path.
pub(super) fn is_own_entry(entry: &Value) -> bool {
    let command = &entry["command"];
    let words = command.as_array().or_else(|| entry["args"].as_array());
    let serves = words.is_some_and(|words| words.iter().any(|word| word == "mcp"));
    serves
        && entry_program(entry).is_some_and(|program| {
            let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
            name.strip_suffix(".exe").unwrap_or(name) == super::SERVER_NAME
        })
}

/// The program an entry starts.
pub(super) fn entry_program(entry: &Value) -> Option<&str> {
    let command = &entry["command"];
    command.as_str().or_else(|| command.as_array()?.first()?.as_str())
}

fn plan_server_removal(
    client: &ClientSpec,
    scope: InstallScope,
    ground: &ClientPaths,
) -> Option<InstallStep> {
    let path = client.settings_path(scope, ground);
    let failed =
        |why: String| Some(InstallStep::new(&path, "server", FileAction::Failed).with_reason(why));
    let text = match user_files::read_optional(&path) {
        Ok(text) => text?,
        Err(why) => return failed(why),
    };
    let way = client.entry_key_path();
    let there = match client.syntax.get(&text, &way) {
        Ok(there) => there?,
        Err(why) => return failed(why),
    };
    if !is_own_entry(&there) {
        let step = InstallStep::new(&path, "server", FileAction::Kept);
        return Some(step.with_reason(format!("`{}` is another server there", super::SERVER_NAME)));
    }
    if let Err(why) = check_inside_root(scope, ground, &path) {
        return failed(why);
    }
    // Two clients may share one settings file.
    let uses = |other: &&ClientSpec| {
        let set_up = |name| other.command_path(name, scope, ground).exists();
        other.name != client.name
            && other.settings_path(scope, ground) == path
            && COMMANDS.iter().filter_map(|command| command.command_name).any(set_up)
    };
    if let Some(other) = clients().iter().find(uses) {
        let step = InstallStep::new(&path, "server", FileAction::Kept);
        return Some(step.with_reason(format!("{} uses it, too", other.title)));
    }
    match client.syntax.remove(&text, &way) {
        Err(why) => failed(why),
        Ok(after) => {
            // Delete a file that has nothing else in it, unless it is a symlink.
            let gone = client.syntax.is_empty(&after) && !path.is_symlink();
            let after = (!gone).then_some(after);
            Some(InstallStep {
                new_text: after,
                ..InstallStep::new(&path, "server", FileAction::Removed)
            })
        }
    }
}

fn plan_command_file(
    path: &Path,
    typed: &str,
    text: String,
    scope: InstallScope,
    wish: &InstallOptions,
    ground: &ClientPaths,
) -> InstallStep {
    if let Err(why) = check_inside_root(scope, ground, path) {
        return InstallStep::new(path, typed, FileAction::Failed).with_reason(why);
    }
    let there = match user_files::read_optional(path) {
        Ok(there) => there,
        Err(why) => return InstallStep::new(path, typed, FileAction::Failed).with_reason(why),
    };
    let ours = there.as_ref().is_some_and(|old| commands::detect_owner(old) == FileOwner::Ours);
    let deed = match &there {
        None => FileAction::Added,
        Some(old) if *old == text => return InstallStep::new(path, typed, FileAction::Unchanged),
        Some(_) if wish.force || ours => FileAction::Updated,
        Some(old) => {
            let why = match commands::detect_owner(old) {
                FileOwner::Edited => "you have changed it; `--force` replaces it and keeps a copy",
                _ => "it is your own; `--force` replaces it and keeps a copy",
            };
            return InstallStep::new(path, typed, FileAction::Kept).with_reason(why);
        }
    };
    InstallStep { new_text: Some(text), unmodified: ours, ..InstallStep::new(path, typed, deed) }
}
