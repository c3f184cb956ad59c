//! The current workspace (repository and state file), and lookup of debate ids in it.
use super::exit::Failed;
use super::screen::Screen;
use crate::config::Config;
use crate::engine::{Desk, DeskError, Place};

/// Workspace of the working directory.
pub(super) fn here(config: &Config) -> Place {
    Place {
        root: config.root.clone(),
        state_file: Some(config.state_file(".claude")),
        record: true,
    }
}

/// Resolves a debate id, prefix or `last`. If the archive has no match, debates are recovered from
/// the user's signed state files, and a note says so.
pub(super) fn meant(
    id: Option<&str>,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<String, Failed> {
    Ok(found(id, false, config, desk, screen)?)
}

/// Like [`resolve_debate_id`], optionally limited to unfinished debates, with the application's
/// error.
pub(super) fn found(
    id: Option<&str>,
    unfinished: bool,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<String, DeskError> {
    let files = crate::clients::state_files(config);
    let (id, told) = desk.meant_or_left(id, unfinished, &here(config), &files)?;
    for line in told {
        screen.note(&format!("[INFO] {line}"));
    }
    Ok(id)
}
