//! Checks of MCP clients: is the server registered, are the slash commands installed, is the
//! timeout of a tool call long enough?
use super::{Diagnosis, DoctorFix};
use crate::clients::{Client, Ground, Look, Registered, Scope, Wrong, clients as all, look};
use crate::engine::{App, ProviderInfo};

pub(super) fn check_clients(
    listed: &[ProviderInfo],
    desk: &App,
    ground: &Ground,
) -> Vec<Diagnosis> {
    let (here, away): (Vec<&Client>, Vec<&Client>) =
        all().iter().partition(|client| client.found(ground));
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
    client: &'static Client,
    listed: &[ProviderInfo],
    keys: &[String],
    ground: &Ground,
) -> Vec<Diagnosis> {
    let seen = look(client, ground);
    let version =
        listed.iter().find(|it| it.seat == client.name).and_then(|it| it.version.as_ref());
    let version = version.map(|version| format!("version {version}, ")).unwrap_or_default();
    let unreadable = seen.unreadable.iter().map(|(path, why)| {
        let says = format!("`{}` cannot be read: {why}", path.display());
        let hint = format!("mend that file, then `debate init {}`", client.name);
        Diagnosis::problem(&client.title, says, &hint)
    });
    let mut looked: Vec<Diagnosis> = unreadable.collect();
    if seen.servers.is_empty() && looked.is_empty() {
        let hint = format!("debate init {}", client.name);
        let says = format!("{version}found, and the server is not registered");
        looked.push(
            Diagnosis::ok(&client.title, says)
                .with_hint(&hint)
                .with_fix(DoctorFix::InstallClient(client, Scope::User)),
        );
        return looked;
    }
    looked.extend(seen.servers.iter().map(|it| check_server(client, &version, it, keys)));
    looked.extend(check_commands(client, &seen));
    looked
}

fn check_server(
    client: &'static Client,
    version: &str,
    it: &Registered,
    keys: &[String],
) -> Diagnosis {
    let title = &client.title;
    let (name, file) = (&client.name, it.path.display());
    let project = if it.scope == Scope::Project { " --project" } else { "" };
    let init = format!("debate init {name}{project}");
    let wire = || DoctorFix::InstallClient(client, it.scope);
    let mut says = format!("{version}registered in `{file}` ({})", it.scope.word());
    match &it.wrong {
        None => {}
        Some(Wrong::NotOurs) => {
            let says = format!("`debate` in `{file}` is another server");
            return Diagnosis::problem(title, says, &format!("rename it there, then `{init}`"));
        }
        Some(Wrong::Gone(program)) => {
            let says = format!("registered in `{file}`, but `{program}` is not there");
            // A project's config has the program name without a path, so it must be on PATH.
            if it.scope == Scope::Project && !program.contains(['/', '\\']) {
                let hint = "put the folder of `debate` on your PATH, or run `./install.sh`";
                return Diagnosis::problem(title, says, hint);
            }
            return Diagnosis::problem(title, says, &init).with_fix(wire());
        }
        Some(Wrong::Off) => {
            let says = format!("registered in `{file}`, and switched off");
            let hint = format!("take `enabled` or `disabled` of `debate` out of `{file}`");
            return Diagnosis::problem(title, says, &hint)
                .with_fix(DoctorFix::RemoveBlocker(client, it.scope));
        }
        Some(Wrong::Cut(seconds)) => {
            let says =
                format!("calls are cut after {seconds} s by `{file}`, and a round may need 55");
            let hint = format!("take the timeout of `debate` out of `{file}`, or set it to 60 s");
            return Diagnosis::problem(title, says, &hint)
                .with_fix(DoctorFix::RemoveBlocker(client, it.scope));
        }
        Some(Wrong::CutBy(variable, seconds)) => {
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
    if it.asks {
        says.push_str(", asks before every call");
        if client.can_approve() {
            hints.push(format!("{init} --approve"));
        }
    }
    let withheld = keys.iter().filter(|key| client.withholds(key) && !it.keys.contains(key));
    let withheld: Vec<String> = withheld.cloned().collect();
    if !withheld.is_empty() {
        says = format!("{says}, does not hand on {}", withheld.join(", "));
        hints.push(format!("{init} {}", client.hands_on(&withheld)));
    }
    if let (Scope::Project, Some(pending)) = (it.scope, &client.pending) {
        says = format!("{says}; {pending}");
    }
    let looked = Diagnosis::ok(title, says);
    if hints.is_empty() { looked } else { looked.with_hint(&hints.join("; ")) }
}

fn check_commands(client: &'static Client, seen: &Look) -> Option<Diagnosis> {
    let name = format!("{} commands", client.title);
    let fix = format!("debate init {}", client.name);
    if seen.servers.is_empty() {
        return None;
    }
    let mut says = vec![];
    for (what, list) in
        [("there", &seen.commands), ("of another version", &seen.old), ("missing", &seen.missing)]
    {
        if !list.is_empty() {
            says.push(format!("{what}: {}", list.join(", ")));
        }
    }
    if !seen.twice.is_empty() {
        let twice = seen.twice.join(", ");
        let says = format!("there for you and for the repository, so neither works: {twice}");
        return Some(Diagnosis::problem(
            &name,
            says,
            &format!("debate uninit {} --project", client.name),
        ));
    }
    let looked = Diagnosis::ok(&name, says.join("; "));
    if seen.missing.is_empty() && seen.old.is_empty() {
        return Some(looked);
    }
    let scope = seen.servers.first().map_or(Scope::User, |it| it.scope);
    let theirs = seen.servers.iter().any(|it| it.wrong == Some(Wrong::NotOurs));
    if theirs {
        return None;
    }
    let project = if scope == Scope::Project { " --project" } else { "" };
    Some(
        looked
            .with_hint(&format!("{fix}{project}"))
            .with_fix(DoctorFix::InstallClient(client, scope)),
    )
}
