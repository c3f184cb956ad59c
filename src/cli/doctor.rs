//! What is wrong here, and how to mend it.
use super::args::Json;
use super::exit::{Exit, Failed};
use super::output::{Check, Examined};
use super::place;
use super::screen::{BOLD, Screen};
use crate::config::Config;
use crate::debate::Status;
use crate::engine::{Desk, Health, Query};
use std::path::Path;

/// `debate doctor`
pub(super) fn doctor(
    json: Json,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let (archive, mut checks) = archive(desk, config);
    checks.push(private(&config.home));
    checks.push(repository(config));
    checks.push(unfinished(config, desk));
    let ok = checks.iter().all(|check| check.ok);
    let exit = if ok { Exit::Ok } else { Exit::Failure };
    if json.json {
        screen.json(&Examined { v: 1, ok, archive, checks })?;
        return Ok(exit);
    }
    for check in &checks {
        let mark = if check.ok { "ok " } else { "BAD" };
        screen.print(&format!("{mark}  {BOLD}{}{BOLD:#}: {}\n", check.name, check.says))?;
        if let Some(hint) = &check.hint {
            screen.print(&format!("     hint: {hint}\n"))?;
        }
    }
    Ok(exit)
}

fn good(name: &str, says: String) -> Check {
    Check { name: name.into(), ok: true, says, hint: None }
}

fn bad(name: &str, says: String, hint: &str) -> Check {
    Check { name: name.into(), ok: false, says, hint: Some(hint.into()) }
}

fn archive(desk: &Desk, config: &Config) -> (Option<Health>, Vec<Check>) {
    match desk.archive().health() {
        Ok(health) if health.problems.is_empty() => {
            let says = format!(
                "{} debates in `{}` (schema {})",
                health.debates, health.path, health.version
            );
            (Some(health), vec![good("archive", says)])
        }
        Ok(health) => {
            let says = health.problems.join("; ");
            let hint = "copy `archive.db` away first; what a state file still holds whole comes back \
                        with `debate import .claude/debate/last-debate.json`";
            (Some(health), vec![bad("archive", says, hint)])
        }
        Err(error) => {
            let hint = format!("look at `{}`, or set DEBATE_HOME", config.home.display());
            (None, vec![bad("archive", error.to_string(), &hint)])
        }
    }
}

/// What is private must not be readable by others.
fn private(home: &Path) -> Check {
    let open: Vec<String> = ["", "archive.db", "key"]
        .iter()
        .map(|name| home.join(name))
        .filter(|path| others_can_read(path))
        .map(|path| path.display().to_string())
        .collect();
    if open.is_empty() {
        return good("privacy", format!("`{}` is readable by you alone", home.display()));
    }
    let hint = format!("chmod -R go= '{}'", home.display());
    bad("privacy", format!("others can read {}", open.join(", ")), &hint)
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

fn repository(config: &Config) -> Check {
    let place = place::here(config);
    let root = place.root.display();
    if place.root.join(".git").exists() {
        let state = place.state_file.unwrap_or_default();
        return good("repository", format!("`{root}`, state in `{}`", state.display()));
    }
    good("repository", format!("none here; debates belong to the folder `{root}`"))
}

fn unfinished(config: &Config, desk: &Desk) -> Check {
    let root = Some(place::here(config).root);
    let query = Query { root, unfinished: true, ..Query::default() };
    let open = desk.archive().list(&query).unwrap_or_default();
    let paused = open.iter().filter(|card| card.status == Status::Paused).count();
    let mut check =
        good("debates", format!("{} unfinished here, {paused} of them paused", open.len()));
    if let Some(card) = open.first() {
        check.hint = Some(format!("debate resume {}", card.id));
    }
    check
}
