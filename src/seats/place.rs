//! Where a tool runs: in a copy of the repository, or, where there is none, in an empty folder; and, for
//! a tool that takes orders from its home, a home of its own in which only its login is left.
use super::cli::Surroundings;
use super::row::{Home, Row, loose};
use crate::debate::standing::UNREAD;
use crate::engine::{Ask, BadContext, Snapshot, Snapshots};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// It is gone when this is; a copy stays, for the next turn.
pub(super) struct Place {
    ground: Ground,
    /// Beside the folder, not in it: what is in there is not for the model.
    home: Option<(OsString, TempDir)>,
}

/// What the tool can read.
enum Ground {
    Copy(Snapshot),
    /// Nothing, and why, if that has to be said.
    Empty(TempDir, Option<String>),
}

impl Place {
    /// A new one.
    pub(super) async fn new(
        row: &Row,
        around: &Surroundings,
        ask: &Ask,
        snapshots: Option<&Arc<dyn Snapshots>>,
    ) -> io::Result<Place> {
        let home = row.home.as_ref().map(|home| {
            let tools = row.tools(ask.web);
            furnished(home, around, &tools)
        });
        let home = home.transpose()?;
        let ground = match copy(ask, snapshots).await {
            Some(Ok(copy)) => Ground::Copy(copy),
            other => {
                let why = other.and_then(Result::err).map(|BadContext(why)| why);
                Ground::Empty(tempfile::Builder::new().prefix("debate-seat-").tempdir()?, why)
            }
        };
        Ok(Place { ground, home })
    }

    /// Where the tool is started.
    pub(super) fn folder(&self) -> &Path {
        match &self.ground {
            Ground::Copy(copy) => &copy.folder,
            Ground::Empty(folder, _) => folder.path(),
        }
    }

    /// Puts into the environment where the tool's home is, if it has one of its own.
    pub(super) fn settle(&self, environment: &mut Vec<(OsString, OsString)>) {
        if let Some((name, home)) = &self.home {
            environment.retain(|(known, _)| known != name);
            environment.push((name.clone(), home.path().into()));
        }
    }

    /// Folders that are gone when this is.
    pub(super) fn leaves(&self) -> Vec<&Path> {
        let home = self.home.iter().map(|(_, home)| home.path());
        let empty = match &self.ground {
            Ground::Copy(_) => None,
            Ground::Empty(folder, _) => Some(folder.path()),
        };
        home.chain(empty).collect()
    }

    /// What a reader of the turn should know about what the tool could read.
    pub(super) fn caveat(&self) -> Option<String> {
        match &self.ground {
            Ground::Copy(copy) if copy.left_out.is_empty() => None,
            Ground::Copy(copy) => Some(format!("not in the copy it reads: {}", copy.left_out)),
            Ground::Empty(_, why) => why.as_ref().map(|why| format!("{UNREAD}{why}")),
        }
    }
}

/// Writing a copy takes as long as there are files, so it is done where nobody waits for it.
async fn copy(
    ask: &Ask,
    snapshots: Option<&Arc<dyn Snapshots>>,
) -> Option<Result<Snapshot, BadContext>> {
    let (snapshots, pin, root) = (snapshots?.clone(), ask.pin.clone()?, ask.root.clone());
    let copied = tokio::task::spawn_blocking(move || snapshots.snapshot(&root, &pin)).await;
    Some(copied.unwrap_or_else(|_| Err(BadContext("no copy could be made".into()))))
}

/// A home with the tool's login in it, and settings that are the user's except where they would make
/// the tool do more than argue.
fn furnished(
    home: &Home,
    around: &Surroundings,
    tools: &[&str],
) -> io::Result<(OsString, TempDir)> {
    let own = tempfile::Builder::new().prefix("debate-home-").tempdir()?;
    let usual = around.variable(&home.variable).map(PathBuf::from);
    let usual = usual.unwrap_or_else(|| around.at(&home.usual).into());
    for name in &home.keep {
        let place = own.path().join(name);
        make_room(&place)?;
        match fs::copy(usual.join(name), place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let tools = Value::from(tools.to_vec()).to_string();
    for (name, ours) in &home.over {
        let theirs = fs::read_to_string(usual.join(name)).unwrap_or_default();
        let theirs = loose(&theirs);
        let mut whole = theirs.as_object().cloned().unwrap_or_default();
        whole.extend(ours.clone());
        let place = own.path().join(name);
        make_room(&place)?;
        fs::write(place, Value::from(whole).to_string().replace("\"{tools}\"", &tools))?;
    }
    Ok((home.variable.clone().into(), own))
}

fn make_room(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}
