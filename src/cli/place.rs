//! Which repository is meant, where its files go, and which of its debates.
use super::exit::Failed;
use super::screen::Screen;
use crate::config::Config;
use crate::engine::{Desk, DeskError, Place};

/// The repository the program stands in, or the folder if there is none.
pub(super) fn here(config: &Config) -> Place {
    Place {
        root: config.root.clone(),
        state_file: Some(config.state_file(".claude")),
        record: true,
    }
}

/// The debate that is meant. Where the archive knows none, the user's own state files bring theirs
/// back, and that is said.
pub(super) fn meant(
    id: Option<&str>,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<String, Failed> {
    Ok(found(id, false, config, desk, screen)?)
}

/// The same, unfinished or not, with the desk's own word for why there is none.
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
