//! Checks of MCP clients: is the server registered, are the slash commands installed, is the
//! timeout of a tool call long enough?
use super::{Diagnosis, DoctorFix};
use crate::clients::{
    ClientInspection, ClientPaths, ClientSpec, InstallScope, RegistrationProblem,
    ServerRegistration, clients as all, inspect,
};
use crate::engine::{App, ProviderInfo};

pub(super) fn check_clients(
    listed: &[ProviderInfo],
    desk: &App,
    ground: &ClientPaths,
) -> Vec<Diagnosis> {
    let (here, away): (Vec<&ClientSpec>, Vec<&ClientSpec>) =
        all().iter().partition(|client| client.is_in_use(ground));
    let keys = desk.api_key_variables();
    let mut looked: Vec<Diagnosis> =
        here.into_iter().flat_map(|client| check_client(client, listed, &keys, ground)).collect();
    if !away.is_empty() {
        let names: Vec<&str> = away.iter().map(|client| client.title.as_str()).collect();
        looked.push(Diagnosis::ok("clients", format!("not found here: {}", names.join(", "))));
    }
    looked
}

fn check_client(
    client: &'static ClientSpec,
    listed: &[ProviderInfo],
    keys: &[String],
    ground: &ClientPaths,
) -> Vec<Diagnosis> {
    let seen = inspect(client, ground);
    let version =
        listed.iter().find(|it| it.seat == client.name).and_then(|it| it.version.as_ref());
    let version = version.map(|version| format!("version {version}, ")).unwrap_or_default();
    let unreadable = seen.unreadable.iter().map(|(path, why)| {
        let says = format!("`{}` cannot be read: {why}", path.display());
        let hint = format!("mend that file, then `debate init {}`", client.name);
        Diagnosis::problem(&client.title, says, &hint)
    });
    let mut looked: Vec<Diagnosis> = unreadable.collect();
    if seen.registrations.is_empty() && looked.is_empty() {
        let hint = format!("debate init {}", client.name);
        let says = format!("{version}found, and the server is not registered");
        looked.push(
            Diagnosis::ok(&client.title, says)
                .with_hint(&hint)
                .with_fix(DoctorFix::InstallClient(client, InstallScope::User)),
        );
        return looked;
    }
    looked.extend(seen.registrations.iter().map(|it| check_server(client, &version, it, keys)));
    looked.extend(check_commands(client, &seen));
    looked
}

fn check_server(
    client: &'static ClientSpec,
    version: &str,
    it: &ServerRegistration,
    keys: &[String],
) -> Diagnosis {
    let title = &client.title;
    let (name, file) = (&client.name, it.path.display());
    let project = if it.scope == InstallScope::Project { " --project" } else { "" };
    let init = format!("debate init {name}{project}");
    let wire = || DoctorFix::InstallClient(client, it.scope);
    let mut says = format!("{version}registered in `{file}` ({})", it.scope.as_str());
    match &it.problem {
        None => {}
        Some(RegistrationProblem::OtherProgram) => {
            let says = format!("`debate` in `{file}` is another server");
            return Diagnosis::problem(title, says, &format!("rename it there, then `{init}`"));
        }
        Some(RegistrationProblem::ProgramMissing(program)) => {
            let says = format!("registered in `{file}`, but `{program}` is not there");
            // A project's config has the program name without a path, so it must be on PATH.
            if it.scope == InstallScope::Project && !program.contains(['/', '\\']) {
                let hint = "put the folder of `debate` on your PATH, or run `./install.sh`";
                return Diagnosis::problem(title, says, hint);
            }
            return Diagnosis::problem(title, says, &init).with_fix(wire());
        }
        Some(RegistrationProblem::Disabled) => {
            let says = format!("registered in `{file}`, and switched off");
            let hint = format!("take `enabled` or `disabled` of `debate` out of `{file}`");
            return Diagnosis::problem(title, says, &hint)
                .with_fix(DoctorFix::RemoveBlocker(client, it.scope));
        }
        Some(RegistrationProblem::TimeoutTooShort(seconds)) => {
            let says =
                format!("calls are cut after {seconds} s by `{file}`, and a round may need 55");
            let hint = format!("take the timeout of `debate` out of `{file}`, or set it to 60 s");
            return Diagnosis::problem(title, says, &hint)
                .with_fix(DoctorFix::RemoveBlocker(client, it.scope));
        }
        Some(RegistrationProblem::GlobalTimeoutTooShort(variable, seconds)) => {
            let says =
                format!("calls are cut after {seconds} s by {variable}, and a round may need 55");
            let hint = if variable.contains('`') {
                format!("take {variable} out, or set it to 60 s")
            } else {
                format!("unset {variable}")
            };
            return Diagnosis::problem(title, says, &hint);
        }
    }
    let mut hints = vec![];
    if it.asks_approval {
        says.push_str(", asks before every call");
        if client.can_approve() {
            hints.push(format!("{init} --approve"));
        }
    }
    let withheld =
        keys.iter().filter(|key| client.needs_forwarding(key) && !it.forwarded_keys.contains(key));
    let withheld: Vec<String> = withheld.cloned().collect();
    if !withheld.is_empty() {
        says = format!("{says}, does not hand on {}", withheld.join(", "));
        hints.push(format!("{init} {}", client.forwarding_flags(&withheld)));
    }
    if let (InstallScope::Project, Some(pending)) = (it.scope, &client.pending) {
        says = format!("{says}; {pending}");
    }
    let looked = Diagnosis::ok(title, says);
    if hints.is_empty() { looked } else { looked.with_hint(&hints.join("; ")) }
}

fn check_commands(client: &'static ClientSpec, seen: &ClientInspection) -> Option<Diagnosis> {
    let name = format!("{} commands", client.title);
    let fix = format!("debate init {}", client.name);
    if seen.registrations.is_empty() {
        return None;
    }
    let mut says = vec![];
    for (what, list) in [
        ("there", &seen.commands),
        ("of another version", &seen.outdated),
        ("missing", &seen.missing),
    ] {
        if !list.is_empty() {
            says.push(format!("{what}: {}", list.join(", ")));
        }
    }
    if !seen.duplicated.is_empty() {
        let twice = seen.duplicated.join(", ");
        let says = format!("there for you and for the repository, so neither works: {twice}");
        return Some(Diagnosis::problem(
            &name,
            says,
            &format!("debate uninit {} --project", client.name),
        ));
    }
    let looked = Diagnosis::ok(&name, says.join("; "));
    if seen.missing.is_empty() && seen.outdated.is_empty() {
        return Some(looked);
    }
    let scope = seen.registrations.first().map_or(InstallScope::User, |it| it.scope);
    let theirs =
        seen.registrations.iter().any(|it| it.problem == Some(RegistrationProblem::OtherProgram));
    if theirs {
        return None;
    }
    let project = if scope == InstallScope::Project { " --project" } else { "" };
    Some(
        looked
            .with_hint(&format!("{fix}{project}"))
            .with_fix(DoctorFix::InstallClient(client, scope)),
    )
}
