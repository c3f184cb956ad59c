//! The current workspace (repository and state file), and lookup of debate ids in it.
use super::exit::CliError;
use super::screen::Screen;
use crate::app::{App, AppError};
use crate::config::Config;
use crate::engine::Workspace;

/// Workspace of the working directory.
pub(super) fn current_workspace(config: &Config) -> Workspace {
    Workspace {
        root: config.repo_root.clone(),
        state_file: Some(config.state_file(".claude")),
        write_record: true,
    }
}

/// Resolves a debate id, prefix or `last`. If the archive has no match, debates are recovered from
/// the user's signed state files, and a note says so.
pub(super) async fn resolve_debate_id(
    id: Option<&str>,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<String, CliError> {
    Ok(find_debate_id(id, false, config, app, screen).await?)
}

/// Like [`resolve_debate_id`], optionally limited to unfinished debates, with the application's
/// error.
pub(super) async fn find_debate_id(
    id: Option<&str>,
    unfinished: bool,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<String, AppError> {
    let files = crate::clients::state_file_paths(config);
    let (id, messages) =
        app.resolve_or_recover(id, unfinished, &current_workspace(config), &files).await?;
    for line in messages {
        screen.note(&format!("[INFO] {line}"));
    }
    Ok(id)
}
