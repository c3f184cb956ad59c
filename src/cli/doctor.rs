//! `debate doctor`: checks the binary, archive, permissions, config, repository, clients and
//! models, and applies safe fixes with `--fix`. Each check returns a `Diagnosis`.
mod clients;
mod diagnosis;
mod models;

use super::args::DoctorArgs;
use super::exit::{CliError, Exit};
use super::output::{DoctorCheck, DoctorOutput};
use super::screen::{BOLD, Screen};
use super::workspace;
use crate::app::App;
use crate::clients::{
    ClientPaths, FileAction, InstallOptions, InstallStep, plan_install, plan_repair,
};
use crate::config::Config;
use crate::debate::Status;
use crate::engine::{ArchiveHealth, DebateQuery};
use diagnosis::{Diagnosis, DoctorFix};
use std::path::{Path, PathBuf};

/// Handler of `debate doctor`: runs all checks, applies fixes if asked, and prints the result.
pub(super) async fn doctor(
    doctor: &DoctorArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let client_paths = ClientPaths::from_config(config);
    let (mut archive, mut diagnoses) = run_checks(doctor, config, app, &client_paths).await;
    if doctor.fix {
        let fixes: Vec<(String, String)> = diagnoses
            .iter()
            .filter_map(|diagnosis| {
                Some((
                    diagnosis.check.name.clone(),
                    apply_fix(diagnosis.fix.as_ref()?, &client_paths),
                ))
            })
            .collect();
        (archive, diagnoses) = run_checks(doctor, config, app, &client_paths).await;
        for diagnosis in &mut diagnoses {
            let matching = fixes
                .iter()
                .filter(|(name, applied)| *name == diagnosis.check.name && !applied.is_empty());
            let applied: Vec<&str> = matching.map(|(_, applied)| applied.as_str()).collect();
            diagnosis.check.mended = (!applied.is_empty()).then(|| applied.join("; "));
        }
    }
    let ok = diagnoses.iter().all(|diagnosis| diagnosis.check.ok);
    let fixable = diagnoses.iter().any(|diagnosis| diagnosis.fix.is_some());
    let checks: Vec<DoctorCheck> = diagnoses.into_iter().map(|diagnosis| diagnosis.check).collect();
    let exit = if ok { Exit::Ok } else { Exit::Failure };
    if doctor.json {
        screen.print_json(&DoctorOutput { v: 1, ok, archive, checks })?;
        return Ok(exit);
    }
    for check in &checks {
        let mark = match (check.ok, &check.hint) {
            (false, _) => "BAD",
            (true, Some(_)) => "-- ",
            (true, None) => "ok ",
        };
        screen.print(&format!("{mark}  {BOLD}{}{BOLD:#}: {}\n", check.name, check.says))?;
        if let Some(mended) = &check.mended {
            screen.print(&format!("     mended: {mended}\n"))?;
        }
        if let Some(hint) = &check.hint {
            screen.print(&format!("     hint: {hint}\n"))?;
        }
    }
    if fixable && !doctor.fix {
        screen.note("`debate doctor --fix` applies the fixes that need no decision of yours.");
    }
    Ok(exit)
}

async fn run_checks(
    doctor: &DoctorArgs,
    config: &Config,
    app: &App,
    client_paths: &ClientPaths,
) -> (Option<ArchiveHealth>, Vec<Diagnosis>) {
    let mut diagnoses = vec![check_program(config, client_paths)];
    let (health, archive) = check_archive(app, config).await;
    diagnoses.push(archive);
    diagnoses.push(check_permissions(&config.data_dir));
    diagnoses.push(check_config(config, app));
    diagnoses.push(check_repository(config));
    diagnoses.push(check_unfinished(config, app).await);
    // An invalid config has its own check, so the error is dropped here.
    let providers = app.list_providers(doctor.probe).await.unwrap_or_default();
    diagnoses.extend(clients::check_clients(&providers, app, client_paths));
    diagnoses.extend(models::check_models(&providers));
    (health, diagnoses)
}

/// Applies a fix and returns what was done, or the error.
fn apply_fix(fix: &DoctorFix, client_paths: &ClientPaths) -> String {
    let apply_steps = |mut steps: Vec<InstallStep>| {
        for step in &mut steps {
            step.apply(&client_paths.backup_dir);
        }
        let changed = |step: &&InstallStep| {
            matches!(step.action, FileAction::Added | FileAction::Updated | FileAction::Failed)
        };
        let changed = steps.iter().filter(changed);
        let line = |step: &InstallStep| {
            let reason =
                step.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("{} {} in `{}`{reason}", step.action.as_str(), step.item, step.path.display())
        };
        changed.map(line).collect::<Vec<_>>().join("; ")
    };
    match fix {
        DoctorFix::InstallClient(client, scope) => {
            apply_steps(plan_install(client, *scope, &InstallOptions::default(), client_paths))
        }
        DoctorFix::RemoveBlocker(client, scope) => {
            apply_steps(plan_repair(client, *scope, client_paths).into_iter().collect())
        }
        DoctorFix::RestrictPermissions(paths) => {
            let changed: Vec<String> = paths.iter().map(|path| restrict_to_owner(path)).collect();
            changed.join("; ")
        }
    }
}

/// Checks the version, and whether `debate` on `PATH` is this binary.
fn check_program(config: &Config, client_paths: &ClientPaths) -> Diagnosis {
    let message = format!("{} at `{}`", env!("CARGO_PKG_VERSION"), client_paths.program.display());
    let resolve = |path: &Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = format!("debate{}", std::env::consts::EXE_SUFFIX);
    let on_path =
        config.search_path.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
    match on_path {
        Some(on_path) if resolve(&on_path) == resolve(&config.program) => {
            Diagnosis::ok("debate", message)
        }
        Some(on_path) => {
            Diagnosis::ok("debate", format!("{message}; `{}` is another", on_path.display()))
                .with_hint("put the folder of the one you want first in your PATH")
        }
        None => {
            let folder = config.program.parent().unwrap_or(Path::new(".")).display().to_string();
            Diagnosis::ok("debate", format!("{message}, which is not on your PATH"))
                .with_hint(&format!("export PATH=\"{folder}:$PATH\""))
        }
    }
}

async fn check_archive(app: &App, config: &Config) -> (Option<ArchiveHealth>, Diagnosis) {
    match app.archive().maintenance.health().await {
        Ok(health) if health.problems.is_empty() => {
            let message = format!(
                "{} debates in `{}` (schema {})",
                health.debates, health.path, health.version
            );
            (Some(health), Diagnosis::ok("archive", message))
        }
        Ok(health) => {
            let message = health.problems.join("; ");
            let hint = "copy `archive.db` to a safe place first; `debate import \
                        .claude/debate/last-debate.json` restores a debate from its state file";
            (Some(health), Diagnosis::problem("archive", message, hint))
        }
        Err(error) => {
            let hint = format!("look at `{}`, or set DEBATE_HOME", config.data_dir.display());
            (None, Diagnosis::problem("archive", error.to_string(), &hint))
        }
    }
}

/// Checks that other users cannot read the data directory.
fn check_permissions(home: &Path) -> Diagnosis {
    let exposed: Vec<PathBuf> = ["", "archive.db", "key", "backups"]
        .iter()
        .map(|name| home.join(name))
        .filter(|path| others_can_read(path))
        .collect();
    if exposed.is_empty() {
        return Diagnosis::ok("privacy", format!("`{}` is readable by you alone", home.display()));
    }
    let hint = format!("chmod -R go= '{}'", home.display());
    let names: Vec<String> = exposed.iter().map(|path| path.display().to_string()).collect();
    let message = format!("others can read {}", names.join(", "));
    Diagnosis::problem("privacy", message, &hint).with_fix(DoctorFix::RestrictPermissions(exposed))
}

#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}

#[cfg(unix)]
fn restrict_to_owner(path: &Path) -> String {
    use std::os::unix::fs::PermissionsExt;
    let result = path.metadata().and_then(|meta| {
        let mode = meta.permissions().mode() & 0o700;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
    });
    match result {
        Ok(()) => format!("only you can read `{}` now", path.display()),
        Err(error) => format!("`{}`: {error}", path.display()),
    }
}

#[cfg(not(unix))]
fn restrict_to_owner(path: &Path) -> String {
    format!("`{}` was not changed", path.display())
}

/// Checks config and custom formats. An unreadable `config.toml` ends the process before this.
fn check_config(config: &Config, app: &App) -> Diagnosis {
    let folder = config.formats_dir.parent().unwrap_or(&config.formats_dir).display().to_string();
    if let Err(error) = app.check_config() {
        return Diagnosis::problem(
            "configuration",
            error.to_string(),
            &format!("fix `{folder}/config.toml`"),
        );
    }
    let invalid = &app.catalog().invalid_files;
    if let Some(first) = invalid.first() {
        let message = format!("the format `{}` cannot be played: {}", first.name, first.why);
        return Diagnosis::problem("configuration", message, &format!("fix `{}`", first.file));
    }
    Diagnosis::ok("configuration", format!("`{folder}` is valid"))
}

fn check_repository(config: &Config) -> Diagnosis {
    let workspace = workspace::current_workspace(config);
    let root = workspace.root.display();
    if workspace.root.join(".git").exists() {
        let state = workspace.state_file.unwrap_or_default();
        return Diagnosis::ok("repository", format!("`{root}`, state in `{}`", state.display()));
    }
    Diagnosis::ok("repository", format!("none here; debates belong to the folder `{root}`"))
}

async fn check_unfinished(config: &Config, app: &App) -> Diagnosis {
    let root = Some(workspace::current_workspace(config).root);
    let query = DebateQuery { root, unfinished: true, ..DebateQuery::default() };
    let debates = app.archive().queries.list(&query).await.unwrap_or_default();
    let paused = debates.iter().filter(|card| card.status == Status::Paused).count();
    let message = format!("{} unfinished here, {paused} of them paused", debates.len());
    let diagnosis = Diagnosis::ok("debates", message);
    match debates.first() {
        Some(card) => diagnosis.with_hint(&format!("debate resume {}", card.id)),
        None => diagnosis,
    }
}
