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
    fn new(path: &Path, label: &str, action: FileAction) -> InstallStep {
        let (path, item) = (path.to_owned(), label.to_owned());
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

    fn with_reason(self, reason: impl Into<String>) -> InstallStep {
        InstallStep { reason: Some(reason.into()), ..self }
    }

    /// Applies the step, after a backup of the old file. Returns the path of the backup.
    pub fn apply(&mut self, backups: &Path) -> Option<PathBuf> {
        if !matches!(self.action, FileAction::Added | FileAction::Updated | FileAction::Removed) {
            return None;
        }
        let backup =
            if self.unmodified { Ok(None) } else { user_files::back_up(&self.path, backups) };
        let result = backup.and_then(|backup| {
            match &self.new_text {
                Some(text) => user_files::write_atomic(&self.path, text)?,
                None => user_files::remove_file(&self.path, self.folder_to_remove.as_deref())?,
            }
            Ok(backup)
        });
        let backup_path = result.unwrap_or_else(|error| {
            (self.action, self.reason) = (FileAction::Failed, Some(error.to_string()));
            None
        });
        tracing::debug!(item = %self.item, action = self.action.as_str(), "client file changed");
        backup_path
    }
}

/// Plans the installation in a client: server entry first, then commands.
pub fn plan_install(
    client: &ClientSpec,
    scope: InstallScope,
    options: &InstallOptions,
    client_paths: &ClientPaths,
) -> Vec<InstallStep> {
    let mut steps = vec![plan_server_entry(client, scope, options, client_paths)];
    // Commands allow all tools of the server named `debate`, so that entry must be ours.
    if matches!(steps[0].action, FileAction::Kept | FileAction::Failed) {
        return steps;
    }
    for command in &COMMANDS {
        let Some(name) = command.command_name else { continue };
        let path = client.command_path(name, scope, client_paths);
        let other_path = client.command_path(name, scope.other(), client_paths);
        if client.single_scope_only && other_path != path && other_path.exists() {
            let reason = format!("`{}` exists, and with both neither works", other_path.display());
            steps.push(
                InstallStep::new(&path, &client.invocation(name), FileAction::Kept)
                    .with_reason(reason),
            );
            continue;
        }
        let text = commands::render_signed_file(client, command, name);
        steps.push(plan_command_file(
            &path,
            &client.invocation(name),
            text,
            scope,
            options,
            client_paths,
        ));
    }
    steps
}

/// Plans the removal from a client.
pub fn plan_uninstall(
    client: &ClientSpec,
    scope: InstallScope,
    client_paths: &ClientPaths,
) -> Vec<InstallStep> {
    let mut steps: Vec<InstallStep> =
        plan_server_removal(client, scope, client_paths).into_iter().collect();
    for name in COMMANDS.iter().filter_map(|command| command.command_name) {
        let path = client.command_path(name, scope, client_paths);
        let invocation = client.invocation(name);
        if path.exists()
            && let Err(reason) = check_inside_root(scope, client_paths, &path)
        {
            steps
                .push(InstallStep::new(&path, &invocation, FileAction::Failed).with_reason(reason));
            continue;
        }
        match user_files::read_optional(&path) {
            Ok(None) => {}
            Ok(Some(text)) if commands::detect_owner(&text) == FileOwner::Ours => {
                let folder_to_remove = Some(name.to_owned());
                steps.push(InstallStep {
                    folder_to_remove,
                    unmodified: true,
                    ..InstallStep::new(&path, &invocation, FileAction::Removed)
                });
            }
            Ok(Some(_)) => {
                let step = InstallStep::new(&path, &invocation, FileAction::Kept);
                steps.push(step.with_reason("you have changed it, or it is your own"));
            }
            Err(reason) => steps
                .push(InstallStep::new(&path, &invocation, FileAction::Failed).with_reason(reason)),
        }
    }
    steps
}

/// Plans a repair of the server entry: removes its timeout and the flag that disables it.
pub fn plan_repair(
    client: &ClientSpec,
    scope: InstallScope,
    client_paths: &ClientPaths,
) -> Option<InstallStep> {
    let path = client.settings_path(scope, client_paths);
    check_inside_root(scope, client_paths, &path).ok()?;
    let text = user_files::read_optional(&path).ok()??;
    let entry = client.syntax.get(&text, &client.entry_key_path()).ok()??;
    let mut blockers = vec![];
    blockers.extend(client.timeout.as_ref().map(|timeout| timeout.field.as_str()));
    blockers.extend((entry["enabled"] == false).then_some("enabled"));
    blockers.extend((entry["disabled"] == true).then_some("disabled"));
    let new_text = blockers.into_iter().try_fold(text.clone(), |text, field| {
        let key_path: Vec<&str> = client.entry_key_path().into_iter().chain([field]).collect();
        client.syntax.remove(&text, &key_path)
    });
    let new_text = new_text.ok().filter(|new_text| *new_text != text)?;
    Some(InstallStep {
        new_text: Some(new_text),
        ..InstallStep::new(&path, "server", FileAction::Updated)
    })
}

/// Rejects project files outside the repository, because a symlink in a repository could point
/// anywhere.
fn check_inside_root(
    scope: InstallScope,
    client_paths: &ClientPaths,
    path: &Path,
) -> Result<(), String> {
    match scope {
        InstallScope::User => Ok(()),
        InstallScope::Project => {
            check_within(&client_paths.root, path).map_err(|error| error.to_string())
        }
    }
}

fn plan_server_entry(
    client: &ClientSpec,
    scope: InstallScope,
    options: &InstallOptions,
    client_paths: &ClientPaths,
) -> InstallStep {
    let path = client.settings_path(scope, client_paths);
    let failed =
        |reason: String| InstallStep::new(&path, "server", FileAction::Failed).with_reason(reason);
    if let Err(reason) = check_inside_root(scope, client_paths, &path) {
        return failed(reason);
    }
    let old_text = match user_files::read_optional(&path) {
        Ok(old_text) => old_text,
        Err(reason) => return failed(reason),
    };
    let text = old_text.clone().unwrap_or_default();
    let key_path = client.entry_key_path();
    let existing = match client.syntax.get(&text, &key_path) {
        Ok(existing) => existing,
        Err(reason) => return failed(reason),
    };
    if existing.as_ref().is_some_and(|entry| !is_own_entry(entry)) {
        let reason = format!("`{}` is another server there; rename it first", super::SERVER_NAME);
        return InstallStep::new(&path, "server", FileAction::Kept).with_reason(reason);
    }
    let edited = match &existing {
        None => {
            let entry = build_entry(client, scope, options, client_paths, &Map::new());
            client.syntax.set(&text, &key_path, &Value::Object(entry))
        }
        // Keep the user's changes. Only update the command, and what the options ask for.
        Some(old) => {
            let none = Map::new();
            let old = old.as_object().unwrap_or(&none);
            let mut fields = build_entry(client, scope, options, client_paths, old);
            let is_requested =
                |name: &String| options.approve_calls && client.approval_fields.contains_key(name);
            let forwarding_field = client.env_forwarding.as_ref().map(|keys| &keys.field);
            fields.retain(|name, _| {
                name == "command"
                    || !old.contains_key(name)
                    || is_requested(name)
                    || Some(name) == forwarding_field
            });
            if let (Some(Value::Array(words)), Some(Value::Array(new_words))) =
                (old.get("command"), fields.get_mut("command"))
            {
                new_words.truncate(1);
                new_words.extend(words.iter().skip(1).cloned());
            }
            fields.iter().try_fold(text.clone(), |text, (name, value)| {
                let key_path: Vec<&str> = key_path.iter().copied().chain([name.as_str()]).collect();
                client.syntax.set(&text, &key_path, value)
            })
        }
    };
    match edited {
        Err(reason) => failed(reason),
        Ok(new_text) if old_text.as_ref() == Some(&new_text) => {
            InstallStep::new(&path, "server", FileAction::Unchanged)
        }
        Ok(new_text) => {
            let action = if existing.is_some() { FileAction::Updated } else { FileAction::Added };
            InstallStep { new_text: Some(new_text), ..InstallStep::new(&path, "server", action) }
        }
    }
}

/// Builds the fields of the server entry, merged with the variables it already passes on.
fn build_entry(
    client: &ClientSpec,
    scope: InstallScope,
    options: &InstallOptions,
    client_paths: &ClientPaths,
    old: &Map<String, Value>,
) -> Map<String, Value> {
    // A shared file has the bare program name, because paths differ by machine.
    let command = match scope {
        InstallScope::User => client_paths.program.display().to_string(),
        InstallScope::Project => super::SERVER_NAME.to_owned(),
    };
    let mut fields: Map<String, Value> = client
        .entry
        .iter()
        .map(|(name, value)| (name.clone(), fill_command(value, &command)))
        .collect();
    if options.approve_calls {
        fields.extend(client.approval_fields.clone());
    }
    if let Some(keys) = client.env_forwarding.as_ref().filter(|_| !options.env_vars.is_empty()) {
        let old_value = old.get(&keys.field);
        let forwarded = options.env_vars.iter().filter(|(_, from)| !client.strips_variable(from));
        let value = if let Some(value) = &keys.value {
            let mut merged = old_value.and_then(Value::as_object).cloned().unwrap_or_default();
            merged.extend(
                forwarded.map(|(key, from)| (key.clone(), value.replace("{key}", from).into())),
            );
            Value::Object(merged)
        } else {
            // A list of names cannot rename variables.
            let mut merged = old_value.and_then(Value::as_array).cloned().unwrap_or_default();
            let same_name = forwarded.filter(|(key, from)| key == from);
            merged.extend(same_name.map(|(key, _)| Value::from(key.as_str())));
            merged.sort_by_key(ToString::to_string);
            merged.dedup();
            Value::Array(merged)
        };
        let is_empty = value.as_object().is_some_and(Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
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
    let starts_server = words.is_some_and(|words| words.iter().any(|word| word == "mcp"));
    starts_server
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
    client_paths: &ClientPaths,
) -> Option<InstallStep> {
    let path = client.settings_path(scope, client_paths);
    let failed = |reason: String| {
        Some(InstallStep::new(&path, "server", FileAction::Failed).with_reason(reason))
    };
    let text = match user_files::read_optional(&path) {
        Ok(text) => text?,
        Err(reason) => return failed(reason),
    };
    let key_path = client.entry_key_path();
    let existing = match client.syntax.get(&text, &key_path) {
        Ok(existing) => existing?,
        Err(reason) => return failed(reason),
    };
    if !is_own_entry(&existing) {
        let step = InstallStep::new(&path, "server", FileAction::Kept);
        return Some(step.with_reason(format!("`{}` is another server there", super::SERVER_NAME)));
    }
    if let Err(reason) = check_inside_root(scope, client_paths, &path) {
        return failed(reason);
    }
    // Two clients may share one settings file.
    let shares_file = |other_client: &&ClientSpec| {
        let is_installed = |name| other_client.command_path(name, scope, client_paths).exists();
        other_client.name != client.name
            && other_client.settings_path(scope, client_paths) == path
            && COMMANDS.iter().filter_map(|command| command.command_name).any(is_installed)
    };
    if let Some(other_client) = clients().iter().find(shares_file) {
        let step = InstallStep::new(&path, "server", FileAction::Kept);
        return Some(step.with_reason(format!("{} uses it, too", other_client.title)));
    }
    match client.syntax.remove(&text, &key_path) {
        Err(reason) => failed(reason),
        Ok(new_text) => {
            // Delete a file that has nothing else in it, unless it is a symlink.
            let delete_file = client.syntax.is_empty(&new_text) && !path.is_symlink();
            let new_text = (!delete_file).then_some(new_text);
            Some(InstallStep { new_text, ..InstallStep::new(&path, "server", FileAction::Removed) })
        }
    }
}

fn plan_command_file(
    path: &Path,
    invocation: &str,
    text: String,
    scope: InstallScope,
    options: &InstallOptions,
    client_paths: &ClientPaths,
) -> InstallStep {
    if let Err(reason) = check_inside_root(scope, client_paths, path) {
        return InstallStep::new(path, invocation, FileAction::Failed).with_reason(reason);
    }
    let existing = match user_files::read_optional(path) {
        Ok(existing) => existing,
        Err(reason) => {
            return InstallStep::new(path, invocation, FileAction::Failed).with_reason(reason);
        }
    };
    let unmodified =
        existing.as_ref().is_some_and(|old| commands::detect_owner(old) == FileOwner::Ours);
    let action = match &existing {
        None => FileAction::Added,
        Some(old) if *old == text => {
            return InstallStep::new(path, invocation, FileAction::Unchanged);
        }
        Some(_) if options.force || unmodified => FileAction::Updated,
        Some(old) => {
            let reason = match commands::detect_owner(old) {
                FileOwner::Edited => "you have changed it; `--force` replaces it and keeps a copy",
                _ => "it is your own; `--force` replaces it and keeps a copy",
            };
            return InstallStep::new(path, invocation, FileAction::Kept).with_reason(reason);
        }
    };
    InstallStep { new_text: Some(text), unmodified, ..InstallStep::new(path, invocation, action) }
}
