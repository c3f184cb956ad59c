//! `debate doctor`: checks the binary, archive, permissions, config, repository, clients and
//! models, and applies safe fixes with `--fix`. Each check returns a `Diagnosis`.
mod clients;
mod models;

use super::exit::{CliError, Exit};
use super::output::{DoctorCheck, DoctorOutput};
use super::screen::{BOLD, Screen};
use super::workspace;
use crate::clients::{
    ClientPaths, ClientSpec, FileAction, InstallOptions, InstallScope, InstallStep, plan_install,
    plan_repair,
};
use crate::config::Config;
use crate::debate::Status;
use crate::engine::{App, ArchiveHealth, DebateQuery};
use std::path::{Path, PathBuf};

/// Arguments of `debate doctor`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct DoctorArgs {
    /// Apply safe fixes
    #[arg(long)]
    pub fix: bool,
    /// Send each model a short test prompt
    #[arg(long)]
    pub probe: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Result of one check, with an optional automatic fix.
pub(super) struct Diagnosis {
    check: DoctorCheck,
    fix: Option<DoctorFix>,
}

/// Fix that needs no question to the user.
pub(super) enum DoctorFix {
    /// Writes the client's config again.
    InstallClient(&'static ClientSpec, InstallScope),
    /// Removes a setting that disables the server or its calls in the client's config.
    RemoveBlocker(&'static ClientSpec, InstallScope),
    /// Removes the permissions of other users on these paths.
    RestrictPermissions(Vec<PathBuf>),
}

impl Diagnosis {
    pub(super) fn ok(name: &str, says: String) -> Diagnosis {
        let check = DoctorCheck { name: name.into(), ok: true, says, hint: None, mended: None };
        Diagnosis { check, fix: None }
    }

    pub(super) fn problem(name: &str, says: String, hint: &str) -> Diagnosis {
        let looked = Diagnosis::ok(name, says).with_hint(hint);
        Diagnosis { check: DoctorCheck { ok: false, ..looked.check }, ..looked }
    }

    pub(super) fn with_hint(self, hint: &str) -> Diagnosis {
        Diagnosis { check: DoctorCheck { hint: Some(hint.into()), ..self.check }, ..self }
    }

    pub(super) fn with_fix(self, mend: DoctorFix) -> Diagnosis {
        Diagnosis { fix: Some(mend), ..self }
    }
}

/// Handler of `debate doctor`: runs all checks, applies fixes if asked, and prints the result.
pub(super) async fn doctor(
    doctor: &DoctorArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let ground = ClientPaths::from_config(config);
    let (mut archive, mut looked) = run_checks(doctor, config, desk, &ground).await;
    if doctor.fix {
        let done: Vec<(String, String)> = looked
            .iter()
            .filter_map(|it| Some((it.check.name.clone(), apply_fix(it.fix.as_ref()?, &ground))))
            .collect();
        (archive, looked) = run_checks(doctor, config, desk, &ground).await;
        for it in &mut looked {
            let own = done.iter().filter(|(name, said)| *name == it.check.name && !said.is_empty());
            let said: Vec<&str> = own.map(|(_, said)| said.as_str()).collect();
            it.check.mended = (!said.is_empty()).then(|| said.join("; "));
        }
    }
    let ok = looked.iter().all(|it| it.check.ok);
    let mends = looked.iter().any(|it| it.fix.is_some());
    let checks: Vec<DoctorCheck> = looked.into_iter().map(|it| it.check).collect();
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
    if mends && !doctor.fix {
        screen.note("`debate doctor --fix` does what can be done without asking you.");
    }
    Ok(exit)
}

async fn run_checks(
    doctor: &DoctorArgs,
    config: &Config,
    desk: &App,
    ground: &ClientPaths,
) -> (Option<ArchiveHealth>, Vec<Diagnosis>) {
    let mut looked = vec![check_program(config, ground)];
    let (health, archive) = check_archive(desk, config);
    looked.push(archive);
    looked.push(check_permissions(&config.data_dir));
    looked.push(check_config(config, desk));
    looked.push(check_repository(config));
    looked.push(check_unfinished(config, desk));
    // An invalid config has its own check, so the error is dropped here.
    let listed = desk.list_providers(doctor.probe).await.unwrap_or_default();
    looked.extend(clients::check_clients(&listed, desk, ground));
    looked.extend(models::check_models(&listed));
    (health, looked)
}

/// Applies a fix and returns what was done, or the error.
fn apply_fix(mend: &DoctorFix, ground: &ClientPaths) -> String {
    let told = |mut steps: Vec<InstallStep>| {
        for step in &mut steps {
            step.apply(&ground.backup_dir);
        }
        let done = |step: &&InstallStep| {
            matches!(step.action, FileAction::Added | FileAction::Updated | FileAction::Failed)
        };
        let done = steps.iter().filter(done);
        let line = |step: &InstallStep| {
            let why = step.reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("{} {} in `{}`{why}", step.action.as_str(), step.item, step.path.display())
        };
        done.map(line).collect::<Vec<_>>().join("; ")
    };
    match mend {
        DoctorFix::InstallClient(client, scope) => {
            told(plan_install(client, *scope, &InstallOptions::default(), ground))
        }
        DoctorFix::RemoveBlocker(client, scope) => {
            told(plan_repair(client, *scope, ground).into_iter().collect())
        }
        DoctorFix::RestrictPermissions(paths) => {
            let done: Vec<String> = paths.iter().map(|path| restrict_to_owner(path)).collect();
            done.join("; ")
        }
    }
}

/// Checks the version, and whether `debate` on `PATH` is this binary.
fn check_program(config: &Config, ground: &ClientPaths) -> Diagnosis {
    let says = format!("{} at `{}`", env!("CARGO_PKG_VERSION"), ground.program.display());
    let real = |path: &Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = format!("debate{}", std::env::consts::EXE_SUFFIX);
    let found =
        config.search_path.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
    match found {
        Some(found) if real(&found) == real(&config.program) => Diagnosis::ok("debate", says),
        Some(found) => Diagnosis::ok("debate", format!("{says}; `{}` is another", found.display()))
            .with_hint("put the folder of the one you want first in your PATH"),
        None => {
            let folder = config.program.parent().unwrap_or(Path::new(".")).display().to_string();
            Diagnosis::ok("debate", format!("{says}, which is not on your PATH"))
                .with_hint(&format!("export PATH=\"{folder}:$PATH\""))
        }
    }
}

fn check_archive(desk: &App, config: &Config) -> (Option<ArchiveHealth>, Diagnosis) {
    match desk.archive().health() {
        Ok(health) if health.problems.is_empty() => {
            let says = format!(
                "{} debates in `{}` (schema {})",
                health.debates, health.path, health.version
            );
            (Some(health), Diagnosis::ok("archive", says))
        }
        Ok(health) => {
            let says = health.problems.join("; ");
            let hint = "copy `archive.db` away first; what a state file still holds whole comes back \
                        with `debate import .claude/debate/last-debate.json`";
            (Some(health), Diagnosis::problem("archive", says, hint))
        }
        Err(error) => {
            let hint = format!("look at `{}`, or set DEBATE_HOME", config.data_dir.display());
            (None, Diagnosis::problem("archive", error.to_string(), &hint))
        }
    }
}

/// Checks that other users cannot read the data directory.
fn check_permissions(home: &Path) -> Diagnosis {
    let open: Vec<PathBuf> = ["", "archive.db", "key", "backups"]
        .iter()
        .map(|name| home.join(name))
        .filter(|path| others_can_read(path))
        .collect();
    if open.is_empty() {
        return Diagnosis::ok("privacy", format!("`{}` is readable by you alone", home.display()));
    }
    let hint = format!("chmod -R go= '{}'", home.display());
    let names: Vec<String> = open.iter().map(|path| path.display().to_string()).collect();
    let says = format!("others can read {}", names.join(", "));
    Diagnosis::problem("privacy", says, &hint).with_fix(DoctorFix::RestrictPermissions(open))
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
    let done = path.metadata().and_then(|meta| {
        let mode = meta.permissions().mode() & 0o700;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
    });
    match done {
        Ok(()) => format!("`{}` is yours alone now", path.display()),
        Err(error) => format!("`{}`: {error}", path.display()),
    }
}

#[cfg(not(unix))]
fn close(path: &Path) -> String {
    format!("`{}` is left as it is", path.display())
}

/// Checks config and custom formats. An unreadable `config.toml` ends the process before this.
fn check_config(config: &Config, desk: &App) -> Diagnosis {
    let folder = config.formats_dir.parent().unwrap_or(&config.formats_dir).display().to_string();
    if let Err(error) = desk.check_config() {
        return Diagnosis::problem(
            "configuration",
            error.to_string(),
            &format!("mend `{folder}/config.toml`"),
        );
    }
    let broken = &desk.catalog().invalid_files;
    if let Some(first) = broken.first() {
        let says = format!("the format `{}` cannot be played: {}", first.name, first.why);
        return Diagnosis::problem("configuration", says, &format!("mend `{}`", first.file));
    }
    Diagnosis::ok("configuration", format!("`{folder}` is understood"))
}

fn check_repository(config: &Config) -> Diagnosis {
    let place = workspace::current_workspace(config);
    let root = place.root.display();
    if place.root.join(".git").exists() {
        let state = place.state_file.unwrap_or_default();
        return Diagnosis::ok("repository", format!("`{root}`, state in `{}`", state.display()));
    }
    Diagnosis::ok("repository", format!("none here; debates belong to the folder `{root}`"))
}

fn check_unfinished(config: &Config, desk: &App) -> Diagnosis {
    let root = Some(workspace::current_workspace(config).root);
    let query = DebateQuery { root, unfinished: true, ..DebateQuery::default() };
    let open = desk.archive().list(&query).unwrap_or_default();
    let paused = open.iter().filter(|card| card.status == Status::Paused).count();
    let says = format!("{} unfinished here, {paused} of them paused", open.len());
    let looked = Diagnosis::ok("debates", says);
    match open.first() {
        Some(card) => looked.with_hint(&format!("debate resume {}", card.id)),
        None => looked,
    }
}
