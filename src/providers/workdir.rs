//! Working directory of a model CLI: a snapshot of the repository, or an empty temporary directory.
//! A CLI that reads settings from its home gets a temporary home with only its login and a config
//! that disables hooks, plugins and MCP servers.
use super::cli_spec::{CliHome, CliSpec, parse_jsonc};
use super::system_environment::SystemEnvironment;
use crate::debate::status::UNREAD_CAVEAT_PREFIX;
use crate::engine::{ContextError, SnapshotHandle, SnapshotProvider, TurnRequest};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Working directory and optional home of one turn. Temporary directories are deleted on drop; a
/// snapshot stays in its cache for the next turn.
pub(super) struct Workdir {
    contents: WorkdirContents,
    /// The environment variable that names the home, and the home itself. It lies outside the
    /// working directory, because the model must not read the login in it.
    home: Option<(OsString, TempDir)>,
}

/// What the CLI can read in its working directory.
enum WorkdirContents {
    Snapshot(SnapshotHandle),
    /// No files, and the reason if there should have been a snapshot.
    Empty(TempDir, Option<String>),
}

impl Workdir {
    /// Creates the directories for one turn.
    pub(super) async fn new(
        spec: &CliSpec,
        env: &SystemEnvironment,
        turn: &TurnRequest,
        snapshots: Option<&Arc<dyn SnapshotProvider>>,
    ) -> io::Result<Workdir> {
        let home = spec.home.as_ref().map(|home| {
            let tools = spec.allowed_tools(turn.web_allowed);
            create_home(home, env, &tools)
        });
        let home = home.transpose()?;
        let contents = match create_snapshot(turn, snapshots).await {
            Some(Ok(snapshot)) => WorkdirContents::Snapshot(snapshot),
            result => {
                let reason = result.and_then(Result::err).map(|ContextError(reason)| reason);
                WorkdirContents::Empty(
                    tempfile::Builder::new().prefix("debate-seat-").tempdir()?,
                    reason,
                )
            }
        };
        Ok(Workdir { contents, home })
    }

    pub(super) fn path(&self) -> &Path {
        match &self.contents {
            WorkdirContents::Snapshot(snapshot) => &snapshot.folder,
            WorkdirContents::Empty(folder, _) => folder.path(),
        }
    }

    /// Sets the home variable in the environment, if the CLI has a temporary home.
    pub(super) fn set_home_variable(&self, environment: &mut Vec<(OsString, OsString)>) {
        if let Some((name, home)) = &self.home {
            environment.retain(|(known, _)| known != name);
            environment.push((name.clone(), home.path().into()));
        }
    }

    /// The directories that are deleted on drop.
    pub(super) fn temporary_dirs(&self) -> Vec<&Path> {
        let home = self.home.iter().map(|(_, home)| home.path());
        let empty = match &self.contents {
            WorkdirContents::Snapshot(_) => None,
            WorkdirContents::Empty(folder, _) => Some(folder.path()),
        };
        home.chain(empty).collect()
    }

    /// Caveat for the turn: which files the snapshot lacks, or why there is none.
    pub(super) fn caveat(&self) -> Option<String> {
        match &self.contents {
            WorkdirContents::Snapshot(snapshot) if snapshot.left_out.is_empty() => None,
            WorkdirContents::Snapshot(snapshot) => {
                Some(format!("not in the copy it reads: {}", snapshot.left_out))
            }
            WorkdirContents::Empty(_, reason) => {
                reason.as_ref().map(|reason| format!("{UNREAD_CAVEAT_PREFIX}{reason}"))
            }
        }
    }
}

/// Creates the repository snapshot on a blocking thread. `None` if the debate has no pin.
async fn create_snapshot(
    turn: &TurnRequest,
    snapshots: Option<&Arc<dyn SnapshotProvider>>,
) -> Option<Result<SnapshotHandle, ContextError>> {
    let (snapshots, pin, root) = (snapshots?.clone(), turn.pin.clone()?, turn.root.clone());
    let result = tokio::task::spawn_blocking(move || snapshots.snapshot(&root, &pin)).await;
    Some(result.unwrap_or_else(|_| Err(ContextError("the snapshot could not be created".into()))))
}

/// Creates a temporary home: copies the login files and writes the user's settings with the spec's
/// `settings_overlay` merged on top. Returns the variable that names the home, and the directory.
fn create_home(
    home: &CliHome,
    env: &SystemEnvironment,
    tools: &[&str],
) -> io::Result<(OsString, TempDir)> {
    let temp_home = tempfile::Builder::new().prefix("debate-home-").tempdir()?;
    let user_home = env.variable(&home.variable).map(PathBuf::from);
    let user_home = user_home.unwrap_or_else(|| env.expand_path(&home.default_path).into());
    for name in &home.copied_files {
        let target = temp_home.path().join(name);
        create_parent_dir(&target)?;
        match fs::copy(user_home.join(name), target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let tools = Value::from(tools.to_vec()).to_string();
    for (name, overlay) in &home.settings_overlay {
        let user_settings = fs::read_to_string(user_home.join(name)).unwrap_or_default();
        let user_settings = parse_jsonc(&user_settings);
        let mut settings = user_settings.as_object().cloned().unwrap_or_default();
        settings.extend(overlay.clone());
        let target = temp_home.path().join(name);
        create_parent_dir(&target)?;
        fs::write(target, Value::from(settings).to_string().replace("\"{tools}\"", &tools))?;
    }
    Ok((home.variable.clone().into(), temp_home))
}

fn create_parent_dir(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}
