//! Where a tool runs: in a copy of the repository, or, where there is none, in an empty folder; with
//! settings of its own beside it, and, for a tool that takes orders from its home, a home of its own in
//! which only its login is left.
use super::cli::Surroundings;
use super::row::{Home, Row, bare};
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
    own: TempDir,
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
        let own = tempfile::Builder::new().prefix("debate-own-").tempdir()?;
        for (name, text) in row.files(ask.web) {
            write(&own.path().join(name), &text)?;
        }
        let home = row.home.as_ref().map(|home| furnished(home, around)).transpose()?;
        let ground = match copy(ask, snapshots).await {
            Some(Ok(copy)) => Ground::Copy(copy),
            other => {
                let why = other.and_then(Result::err).map(|BadContext(why)| why);
                Ground::Empty(tempfile::Builder::new().prefix("debate-seat-").tempdir()?, why)
            }
        };
        Ok(Place { ground, own, home })
    }

    /// Where the tool is started.
    pub(super) fn folder(&self) -> &Path {
        match &self.ground {
            Ground::Copy(copy) => &copy.folder,
            Ground::Empty(folder, _) => folder.path(),
        }
    }

    /// Puts into the environment where the tool's own things are: `{own}` stands for the folder its
    /// settings are in.
    pub(super) fn settle(&self, environment: &mut Vec<(OsString, OsString)>) {
        let own = self.own.path().display().to_string();
        for (_, value) in environment.iter_mut() {
            if let Some(text) = value.to_str().filter(|text| text.contains("{own}")) {
                *value = text.replace("{own}", &own).into();
            }
        }
        if let Some((name, home)) = &self.home {
            environment.retain(|(known, _)| known != name);
            environment.push((name.clone(), home.path().into()));
        }
    }

    /// What a reader of the turn should know about what the tool could read.
    pub(super) fn caveat(&self) -> Option<String> {
        match &self.ground {
            Ground::Copy(copy) if copy.left_out.is_empty() => None,
            Ground::Copy(copy) => Some(format!("not in the copy it reads: {}", copy.left_out)),
            Ground::Empty(_, why) => why.as_ref().map(|why| format!("it read no files: {why}")),
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

fn furnished(home: &Home, around: &Surroundings) -> io::Result<(OsString, TempDir)> {
    let own = tempfile::Builder::new().prefix("debate-home-").tempdir()?;
    let usual = around.variable(&home.variable).map(PathBuf::from);
    let usual = usual.unwrap_or_else(|| around.at(&home.usual).into());
    for name in &home.keep {
        match fs::copy(usual.join(name), own.path().join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    for (name, ours) in &home.over {
        let theirs = fs::read_to_string(usual.join(name)).unwrap_or_default();
        let theirs: Value = serde_json::from_str(&bare(&theirs)).unwrap_or(Value::Null);
        let mut whole = theirs.as_object().cloned().unwrap_or_default();
        whole.extend(ours.clone());
        write(&own.path().join(name), &Value::from(whole).to_string())?;
    }
    Ok((home.variable.clone().into(), own))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}
