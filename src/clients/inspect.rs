//! Diagnoses how this program is installed in a client, for `debate doctor`. Also decides which
//! server prompts to hide from a client.
use super::client_spec::{ClientSpec, InstallScope};
use super::commands::{self, COMMANDS, FileOwner};
use super::install::{entry_program, is_own_entry};
use super::paths::ClientPaths;
use super::user_files;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Longest tool call of the MCP server in seconds.
pub const LONGEST_CALL_SECS: u64 = 55;
/// Minimum timeout of the client for a tool call in seconds: the longest call plus a margin.
pub const MIN_CALL_TIMEOUT_SECS: u64 = 60;

/// Installation found in a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientInspection {
    /// Registrations of the server, one per scope.
    pub registrations: Vec<ServerRegistration>,
    /// Settings files that cannot be parsed, with the error.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Installed commands, as the user types them.
    pub commands: Vec<String>,
    /// Commands that are not installed.
    pub missing: Vec<String>,
    /// Commands written by an older version.
    pub outdated: Vec<String>,
    /// Commands installed in both scopes, in clients where they then fail.
    pub duplicated: Vec<String>,
}

/// A server entry in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRegistration {
    pub scope: InstallScope,
    /// The settings file.
    pub path: PathBuf,
    pub problem: Option<RegistrationProblem>,
    /// Whether the client asks for approval of every tool call.
    pub asks_approval: bool,
    /// API keys passed on by variable name.
    pub forwarded_keys: Vec<String>,
}

/// Why an entry does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistrationProblem {
    /// The entry starts another program.
    OtherProgram,
    /// The program at this path does not exist.
    ProgramMissing(String),
    /// The entry is disabled.
    Disabled,
    /// The entry has a timeout of this many seconds, which is too short.
    TimeoutTooShort(u64),
    /// This variable or setting has a timeout for all servers that is too short, in seconds.
    GlobalTimeoutTooShort(String, u64),
}

/// Inspects the installation in a client.
pub fn inspect(client: &ClientSpec, client_paths: &ClientPaths) -> ClientInspection {
    let mut inspection = ClientInspection::default();
    for scope in [InstallScope::User, InstallScope::Project] {
        let path = client.settings_path(scope, client_paths);
        if scope == InstallScope::Project
            && path == client.settings_path(InstallScope::User, client_paths)
        {
            continue;
        }
        let text = match user_files::read_optional(&path) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => {
                inspection.unreadable.push((path, error));
                continue;
            }
        };
        // An entry for this repository in the user's file counts as user scope.
        let root = client_paths.root.display().to_string();
        let key_path: Vec<&str> = client
            .local_server_table
            .iter()
            .map(|part| if part == "{root}" { &root } else { part.as_str() })
            .collect();
        let found = match client.syntax.get(&text, &client.entry_key_path()) {
            Ok(None) if scope == InstallScope::User && !key_path.is_empty() => {
                let key_path: Vec<&str> =
                    key_path.into_iter().chain([super::SERVER_NAME]).collect();
                client.syntax.get(&text, &key_path)
            }
            found => found,
        };
        match found {
            Ok(None) => {}
            Ok(Some(entry)) => inspection.registrations.push(inspect_entry(
                client,
                scope,
                path,
                &entry,
                client_paths,
            )),
            Err(error) => inspection.unreadable.push((path, error)),
        }
    }
    for command in &COMMANDS {
        let Some(name) = command.command_name else { continue };
        let invocation = client.invocation(name);
        let paths = [InstallScope::User, InstallScope::Project]
            .map(|scope| client.command_path(name, scope, client_paths));
        if client.single_scope_only
            && paths[0] != paths[1]
            && paths.iter().all(|path| path.exists())
        {
            inspection.duplicated.push(invocation.clone());
        }
        let installed = [InstallScope::User, InstallScope::Project].into_iter().find_map(|scope| {
            user_files::read_optional(&client.command_path(name, scope, client_paths))
                .ok()
                .flatten()
        });
        match installed {
            None => inspection.missing.push(invocation),
            Some(text) => {
                let is_outdated = commands::detect_owner(&text) == FileOwner::Ours
                    && text != commands::render_signed_file(client, command, name);
                let list =
                    if is_outdated { &mut inspection.outdated } else { &mut inspection.commands };
                list.push(invocation);
            }
        }
    }
    inspection
}

/// Server prompts to hide from a client that has them as commands. In some clients, prompts and
/// commands with the same name conflict.
pub fn hidden_prompts(client: &ClientSpec, client_paths: &ClientPaths) -> Vec<&'static str> {
    let is_installed = |name: &str| {
        let path = |scope| client.command_path(name, scope, client_paths);
        client.prompts_conflict
            && (path(InstallScope::User).exists() || path(InstallScope::Project).exists())
    };
    COMMANDS
        .iter()
        .filter(|it| it.command_name.is_some_and(is_installed))
        .map(|it| it.name)
        .collect()
}

fn inspect_entry(
    client: &ClientSpec,
    scope: InstallScope,
    path: PathBuf,
    entry: &Value,
    client_paths: &ClientPaths,
) -> ServerRegistration {
    let approved = !client.approval_fields.is_empty()
        && client.approval_fields.iter().all(|(name, value)| entry.get(name) == Some(value));
    let keys =
        client.env_forwarding.as_ref().and_then(|keys| entry.get(&keys.field)).map(list_names);
    ServerRegistration {
        scope,
        path,
        problem: find_problem(client, entry, client_paths),
        asks_approval: client.asks_approval && !approved,
        forwarded_keys: keys.unwrap_or_default(),
    }
}

fn find_problem(
    client: &ClientSpec,
    entry: &Value,
    client_paths: &ClientPaths,
) -> Option<RegistrationProblem> {
    if !is_own_entry(entry) {
        return Some(RegistrationProblem::OtherProgram);
    }
    let program = entry_program(entry).unwrap_or_default();
    let exists = if Path::new(program).components().count() > 1 {
        Path::new(program).is_file()
    } else {
        client_paths.find_program(program).is_some()
    };
    if !exists {
        return Some(RegistrationProblem::ProgramMissing(program.to_owned()));
    }
    if entry["enabled"] == false || entry["disabled"] == true {
        return Some(RegistrationProblem::Disabled);
    }
    if let Some(timeout) = &client.timeout
        && let Some(configured) = entry.get(&timeout.field).and_then(Value::as_f64)
        && configured < (MIN_CALL_TIMEOUT_SECS * timeout.units_per_second) as f64
    {
        #[expect(clippy::cast_sign_loss, reason = "negative values are raised to 0")]
        return Some(RegistrationProblem::TimeoutTooShort(
            configured.max(0.0) as u64 / timeout.units_per_second,
        ));
    }
    let from_env = client
        .timeout_variable
        .iter()
        .filter_map(|name| Some((name.clone(), client_paths.env_var(name)?)));
    let from_env = from_env.map(|(name, value)| (name, Value::from(value), 1000));
    let from_settings = client.global_timeouts.iter().filter_map(|limit| {
        let file = client_paths.expand_path(&limit.file);
        let key_path: Vec<&str> = limit.key_path.iter().map(String::as_str).collect();
        let value =
            client.syntax.get(&user_files::read_optional(&file).ok()??, &key_path).ok()??;
        Some((
            format!("{} in `{}`", key_path.join("."), file.display()),
            value,
            limit.units_per_second,
        ))
    });
    from_env.chain(from_settings).find_map(|(name, value, units_per_second)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let seconds = text.trim().parse::<u64>().ok()? / units_per_second;
        (seconds < MIN_CALL_TIMEOUT_SECS)
            .then_some(RegistrationProblem::GlobalTimeoutTooShort(name, seconds))
    })
}

/// Items of an array, or keys of an object.
fn list_names(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields.keys().cloned().collect(),
        Value::Array(items) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => vec![],
    }
}
