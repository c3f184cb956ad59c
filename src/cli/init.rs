//! `debate init` and `debate uninit`: adds or removes the MCP server and slash commands in the
//! config files of clients. The edits themselves are in `clients`.
use super::args::{InitArgs, InitScopeArgs, UninitArgs};
use super::exit::{CliError, Exit};
use super::output::{InitFileChange, InitOutput};
use super::screen::{BOLD, Screen};
use crate::app::App;
use crate::clients::{self, ClientPaths, ClientSpec, FileAction, InstallOptions, InstallStep};
use crate::config::Config;
use std::path::Path;

/// Maximum length of an environment variable name in bytes.
const MAX_VARIABLE_BYTES: usize = 64;

/// Parses `--env` as variable names. Text that may be a secret value is rejected, not echoed.
fn parse_env_names(flags: &[String], app: &App) -> Result<Vec<(String, String)>, CliError> {
    let is_allowed = |name: &str| is_variable_name(name) && app.redact(name) == name;
    let parse_pair = |value: &String| {
        let (name, from) = value.split_once('=').unwrap_or((value, value));
        (is_allowed(name) && is_allowed(from)).then(|| (name.to_owned(), from.to_owned()))
    };
    let pairs: Option<Vec<_>> = flags.iter().map(parse_pair).collect();
    pairs.ok_or_else(|| {
        CliError::Usage(
            "`--env` takes the name of a variable, and never its value".into(),
            "as in `--env OPENAI_API_KEY` or `--env OPENAI_API_KEY=MY_OPENAI_KEY`".into(),
        )
    })
}

/// Whether this can be the name of an environment variable: uppercase, and not too long.
fn is_variable_name(name: &str) -> bool {
    let is_name_char = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let has_valid_start = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    has_valid_start && name.len() <= MAX_VARIABLE_BYTES && name.chars().all(is_name_char)
}

/// Handler of `debate init`.
pub(super) fn init(
    init: &InitArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let client_paths = ClientPaths::from_config(config);
    let chosen = select_clients(&init.clients, |client| client.is_in_use(&client_paths))?;
    let env_vars = parse_env_names(&init.env_vars, app)?;
    let options = InstallOptions { approve_calls: init.approve, env_vars, force: init.force };
    let scope = init.scope.scope();
    let mut changes = vec![];
    let mut ready = vec![];
    for client in &chosen {
        let steps = clients::plan_install(client, scope, &options, &client_paths);
        let applied = apply_steps(client, steps, init.scope, &client_paths, screen)?;
        if !applied.iter().any(is_not_set_up) {
            ready.push(*client);
        }
        changes.extend(applied);
    }
    let ok = !changes.iter().any(is_not_set_up);
    if init.scope.json {
        return finish(changes, ok, init.scope, screen);
    }
    if chosen.is_empty() {
        let names: Vec<&str> = clients::clients().iter().map(|it| it.program.as_str()).collect();
        screen.note(&format!(
            "No client was found here ({}). Install one and run `debate init` again, or name one.",
            names.join(", ")
        ));
    }
    for client in ready {
        print_advice(client, init, &options, app, &client_paths, screen);
    }
    finish(changes, ok, init.scope, screen)
}

/// Handler of `debate uninit`.
pub(super) fn uninit(
    uninit: &UninitArgs,
    config: &Config,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let client_paths = ClientPaths::from_config(config);
    let mut changes = vec![];
    for client in select_clients(&uninit.clients, |_| true)? {
        let steps = clients::plan_uninstall(client, uninit.scope.scope(), &client_paths);
        changes.extend(apply_steps(client, steps, uninit.scope, &client_paths, screen)?);
    }
    if changes.is_empty() && !uninit.scope.json {
        screen.note("Nothing to remove: no client has an entry or command of debate.");
    }
    // Entries of other programs are kept, and that is no error.
    let ok = !changes.iter().any(|step| step.deed == FileAction::Failed.as_str());
    finish(changes, ok, uninit.scope, screen)
}

/// Resolves client names, or selects the default clients if none are named.
fn select_clients(
    names: &[String],
    is_default: impl Fn(&ClientSpec) -> bool,
) -> Result<Vec<&'static ClientSpec>, CliError> {
    let all = clients::clients();
    if names.is_empty() {
        return Ok(all.iter().filter(|client| is_default(client)).collect());
    }
    let mut chosen: Vec<&ClientSpec> = vec![];
    for name in names {
        let name = name.to_lowercase();
        let matching: Vec<&ClientSpec> =
            all.iter().filter(|client| name == "all" || client.name == name).collect();
        if matching.is_empty() {
            let known: Vec<&str> = all.iter().map(|client| client.name.as_str()).collect();
            let hint = format!("known are {}, and all", known.join(", "));
            return Err(CliError::Usage(format!("there is no client `{name}`"), hint));
        }
        chosen.extend(matching);
    }
    chosen.dedup_by_key(|client| &client.name);
    Ok(chosen)
}

/// Applies the steps of a client, or only prints them with `--dry-run`.
fn apply_steps(
    client: &ClientSpec,
    steps: Vec<InstallStep>,
    options: InitScopeArgs,
    client_paths: &ClientPaths,
    screen: &mut Screen,
) -> Result<Vec<InitFileChange>, CliError> {
    let mut changes = vec![];
    for mut step in steps {
        let backup = if options.dry_run { None } else { step.apply(&client_paths.backup_dir) };
        changes.push(InitFileChange {
            client: client.name.clone(),
            what: step.item,
            deed: step.action.as_str().into(),
            path: step.path.display().to_string(),
            why: step.reason,
            backup: backup.map(|path| path.display().to_string()),
        });
    }
    if options.json || changes.is_empty() {
        return Ok(changes);
    }
    let suffix = if options.dry_run { " (dry run)" } else { "" };
    screen.print(&format!("{BOLD}{}{BOLD:#}{suffix}\n", client.title))?;
    for step in &changes {
        let reason = step.why.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let path = shorten_home(&step.path, &client_paths.home_dir);
        screen.print(&format!("  {:9}  {:16}  {path}{reason}\n", step.deed, step.what))?;
        if let Some(backup) = &step.backup {
            let backup_path = shorten_home(backup, &client_paths.home_dir);
            screen.print(&format!("  {:9}  {:16}  backup: {backup_path}\n", "", ""))?;
        }
    }
    Ok(changes)
}

fn shorten_home(path: &str, home: &Path) -> String {
    match Path::new(path).strip_prefix(home) {
        Ok(rest) if home.components().count() > 1 => {
            Path::new("~").join(rest).display().to_string()
        }
        _ => path.to_owned(),
    }
}

/// Prints hints: tool-call approval, environment variables, and the command to type.
fn print_advice(
    client: &ClientSpec,
    init: &InitArgs,
    options: &InstallOptions,
    app: &App,
    client_paths: &ClientPaths,
    screen: &mut Screen,
) {
    let (name, title) = (&client.name, &client.title);
    let project = if init.scope.project { " --project" } else { "" };
    if client.asks_approval() && !init.approve {
        let advice = if client.can_approve() {
            format!("`debate init {name}{project} --approve` tells it not to")
        } else {
            "say yes for the session when it asks, or start it with `--allow-tool debate`".into()
        };
        screen.note(&format!("{title} asks before every call of a tool that plays; {advice}."));
    }
    let is_named = |key: &String| options.env_vars.iter().any(|(name, _)| name == key);
    let keys: Vec<String> = app
        .api_key_variables()
        .into_iter()
        .filter(|key| client.needs_forwarding(key) && !is_named(key))
        .collect();
    if !keys.is_empty() {
        screen.warn(&format!(
            "[WARN] {title} does not hand {} on to servers. To hand on the name, never the value: \
             debate init {name}{project} {}",
            keys.join(", "),
            client.forwarding_flags(&keys)
        ));
    }
    let stripped = options.env_vars.iter().filter(|(_, from)| client.strips_variable(from));
    for (key, from) in stripped {
        screen.warn(&format!(
            "[WARN] {title} takes {from} out of its own environment, so it cannot be handed on \
             under that name: export MY_{key}=\"${from}\", and use --env {key}=MY_{key}"
        ));
    }
    let renamed =
        options.env_vars.iter().filter(|(key, from)| key != from && !client.can_rename_variables());
    for (key, _) in renamed {
        screen.warn(&format!(
            "[WARN] {title} hands variables on under their own names only: use --env {key}"
        ));
    }
    let pending = client.pending.as_ref().filter(|_| init.scope.project);
    for note in pending.into_iter().chain(&client.note) {
        screen.note(&format!("{title}: {note}."));
    }
    if client.program_path(client_paths).is_none() {
        screen.note(&format!("{title} itself was not found on your PATH."));
    }
    let invocation = client.invocation("debate");
    screen.note(&format!("In {title}, type: {invocation} should we use sqlx or rusqlite here?"));
}

/// Whether the client is not usable after this step.
fn is_not_set_up(step: &InitFileChange) -> bool {
    let server_kept = step.deed == FileAction::Kept.as_str() && step.what == "server";
    step.deed == FileAction::Failed.as_str() || server_kept
}

fn finish(
    changes: Vec<InitFileChange>,
    ok: bool,
    options: InitScopeArgs,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    if options.json {
        screen.print_json(&InitOutput { v: 1, ok, dry_run: options.dry_run, steps: changes })?;
    }
    Ok(if ok { Exit::Ok } else { Exit::Failure })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_variable_is_limited() {
        assert_eq!(MAX_VARIABLE_BYTES, 64);
        assert!(is_variable_name(&"A".repeat(MAX_VARIABLE_BYTES)));
        assert!(!is_variable_name(&"A".repeat(MAX_VARIABLE_BYTES + 1)));
    }
}
