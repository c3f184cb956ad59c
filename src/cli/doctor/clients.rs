//! Checks of MCP clients: is the server registered, are the slash commands installed, is the
//! timeout of a tool call long enough?
use super::diagnosis::{Diagnosis, DoctorFix};
use crate::app::App;
use crate::clients::{
    ClientInspection, ClientPaths, ClientSpec, InstallScope, LONGEST_CALL_SECS,
    MIN_CALL_TIMEOUT_SECS, RegistrationProblem, ServerRegistration, clients, inspect,
};
use crate::engine::ProviderInfo;

pub(super) fn check_clients(
    providers: &[ProviderInfo],
    app: &App,
    client_paths: &ClientPaths,
) -> Vec<Diagnosis> {
    let (installed, absent): (Vec<&ClientSpec>, Vec<&ClientSpec>) =
        clients().iter().partition(|client| client.is_in_use(client_paths));
    let keys = app.api_key_variables();
    let mut diagnoses: Vec<Diagnosis> = installed
        .into_iter()
        .flat_map(|client| check_client(client, providers, &keys, client_paths))
        .collect();
    if !absent.is_empty() {
        let names: Vec<&str> = absent.iter().map(|client| client.title.as_str()).collect();
        diagnoses.push(Diagnosis::ok("clients", format!("not found here: {}", names.join(", "))));
    }
    diagnoses
}

fn check_client(
    client: &'static ClientSpec,
    providers: &[ProviderInfo],
    keys: &[String],
    client_paths: &ClientPaths,
) -> Vec<Diagnosis> {
    let inspection = inspect(client, client_paths);
    let version =
        providers.iter().find(|it| it.seat == client.name).and_then(|it| it.version.as_ref());
    let version = version.map(|version| format!("version {version}, ")).unwrap_or_default();
    let unreadable = inspection.unreadable.iter().map(|(path, error)| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        let hint = format!("fix that file, then `debate init {}`", client.name);
        Diagnosis::problem(&client.title, message, &hint)
    });
    let mut diagnoses: Vec<Diagnosis> = unreadable.collect();
    if inspection.registrations.is_empty() && diagnoses.is_empty() {
        let hint = format!("debate init {}", client.name);
        let message = format!("{version}found, and the server is not registered");
        diagnoses.push(
            Diagnosis::ok(&client.title, message)
                .with_hint(&hint)
                .with_fix(DoctorFix::InstallClient(client, InstallScope::User)),
        );
        return diagnoses;
    }
    diagnoses
        .extend(inspection.registrations.iter().map(|it| check_server(client, &version, it, keys)));
    diagnoses.extend(check_commands(client, &inspection));
    diagnoses
}

fn check_server(
    client: &'static ClientSpec,
    version: &str,
    registration: &ServerRegistration,
    keys: &[String],
) -> Diagnosis {
    let title = &client.title;
    let (name, file) = (&client.name, registration.path.display());
    let project = if registration.scope == InstallScope::Project { " --project" } else { "" };
    let init = format!("debate init {name}{project}");
    let install_fix = || DoctorFix::InstallClient(client, registration.scope);
    let mut message = format!("{version}registered in `{file}` ({})", registration.scope.as_str());
    match &registration.problem {
        None => {}
        Some(RegistrationProblem::OtherProgram) => {
            let message = format!("`debate` in `{file}` is another server");
            return Diagnosis::problem(title, message, &format!("rename it there, then `{init}`"));
        }
        Some(RegistrationProblem::ProgramMissing(program)) => {
            let message = format!("registered in `{file}`, but `{program}` is not there");
            // A project's config has the program name without a path, so it must be on PATH.
            if registration.scope == InstallScope::Project && !program.contains(['/', '\\']) {
                let hint = "put the folder of `debate` on your PATH, or run `./install.sh`";
                return Diagnosis::problem(title, message, hint);
            }
            return Diagnosis::problem(title, message, &init).with_fix(install_fix());
        }
        Some(RegistrationProblem::Disabled) => {
            let message = format!("registered in `{file}`, and switched off");
            let hint = format!("remove `enabled` or `disabled` of `debate` from `{file}`");
            return Diagnosis::problem(title, message, &hint)
                .with_fix(DoctorFix::RemoveBlocker(client, registration.scope));
        }
        Some(RegistrationProblem::TimeoutTooShort(seconds)) => {
            let message = format!(
                "calls are cut after {seconds} s by `{file}`, and a round may need \
                 {LONGEST_CALL_SECS} s"
            );
            let hint = format!(
                "remove the timeout of `debate` from `{file}`, or set it to \
                 {MIN_CALL_TIMEOUT_SECS} s"
            );
            return Diagnosis::problem(title, message, &hint)
                .with_fix(DoctorFix::RemoveBlocker(client, registration.scope));
        }
        Some(RegistrationProblem::GlobalTimeoutTooShort(variable, seconds)) => {
            let message = format!(
                "calls are cut after {seconds} s by {variable}, and a round may need \
                 {LONGEST_CALL_SECS} s"
            );
            let hint = if variable.contains('`') {
                format!("remove {variable}, or set it to {MIN_CALL_TIMEOUT_SECS} s")
            } else {
                format!("unset {variable}")
            };
            return Diagnosis::problem(title, message, &hint);
        }
    }
    let mut hints = vec![];
    if registration.asks_approval {
        message.push_str(", asks before every call");
        if client.can_approve() {
            hints.push(format!("{init} --approve"));
        }
    }
    let missing_keys = keys
        .iter()
        .filter(|key| client.needs_forwarding(key) && !registration.forwarded_keys.contains(key));
    let missing_keys: Vec<String> = missing_keys.cloned().collect();
    if !missing_keys.is_empty() {
        message = format!("{message}, does not hand on {}", missing_keys.join(", "));
        hints.push(format!("{init} {}", client.forwarding_flags(&missing_keys)));
    }
    if let (InstallScope::Project, Some(pending)) = (registration.scope, &client.pending) {
        message = format!("{message}; {pending}");
    }
    let diagnosis = Diagnosis::ok(title, message);
    if hints.is_empty() { diagnosis } else { diagnosis.with_hint(&hints.join("; ")) }
}

fn check_commands(client: &'static ClientSpec, inspection: &ClientInspection) -> Option<Diagnosis> {
    let name = format!("{} commands", client.title);
    let init_command = format!("debate init {}", client.name);
    if inspection.registrations.is_empty() {
        return None;
    }
    let mut summary = vec![];
    for (label, list) in [
        ("installed", &inspection.commands),
        ("of another version", &inspection.outdated),
        ("missing", &inspection.missing),
    ] {
        if !list.is_empty() {
            summary.push(format!("{label}: {}", list.join(", ")));
        }
    }
    if !inspection.duplicated.is_empty() {
        let duplicates = inspection.duplicated.join(", ");
        let summary =
            format!("installed for you and for the repository, so neither works: {duplicates}");
        return Some(Diagnosis::problem(
            &name,
            summary,
            &format!("debate uninit {} --project", client.name),
        ));
    }
    let diagnosis = Diagnosis::ok(&name, summary.join("; "));
    if inspection.missing.is_empty() && inspection.outdated.is_empty() {
        return Some(diagnosis);
    }
    let scope = inspection.registrations.first().map_or(InstallScope::User, |it| it.scope);
    let is_other_program = inspection
        .registrations
        .iter()
        .any(|it| it.problem == Some(RegistrationProblem::OtherProgram));
    if is_other_program {
        return None;
    }
    let project = if scope == InstallScope::Project { " --project" } else { "" };
    Some(
        diagnosis
            .with_hint(&format!("{init_command}{project}"))
            .with_fix(DoctorFix::InstallClient(client, scope)),
    )
}
