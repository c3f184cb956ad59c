//! Which repository is meant, and where its files go.
use super::exit::Failed;
use crate::config::Config;
use crate::engine::{Desk, Place, Query};
use std::fs;
use std::path::{Path, PathBuf};

/// The repository the program stands in, or the folder if there is none.
pub(super) fn here(config: &Config) -> Place {
    let folder = config.folder.canonicalize().unwrap_or_else(|_| config.folder.clone());
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    let root = root.unwrap_or(&folder).to_owned();
    let state = config.state_dir.clone().unwrap_or_else(|| PathBuf::from(".claude"));
    let state_file = root.join(state).join("debate").join("last-debate.json");
    Place { root, state_file: Some(state_file) }
}

/// The debate that is meant: one named, in full or in part, or this repository's newest.
pub(super) fn meant(
    id: Option<&str>,
    unfinished: bool,
    place: &Place,
    desk: &Desk,
) -> Result<String, Failed> {
    if let Some(id) = id.filter(|id| *id != "last") {
        return Ok(desk.archive().find(id)?);
    }
    let query =
        Query { root: Some(place.root.clone()), unfinished, limit: Some(1), ..Query::default() };
    match desk.archive().list(&query)?.into_iter().next() {
        Some(card) => Ok(card.id),
        None => Err(Failed::Usage(
            format!(
                "there is no {}debate in `{}`",
                if unfinished { "unfinished " } else { "" },
                place.root.display()
            ),
            "`debate list --all` shows those of other repositories".into(),
        )),
    }
}

/// What the debaters are given besides the topic. A path must stay inside the repository.
pub(super) fn context(said: &str, place: &Place, folder: &Path) -> Result<String, Failed> {
    let usage = |why: String| {
        Failed::Usage(
            why,
            "`--context none`, or `--context file=PATH` inside the repository".into(),
        )
    };
    match said.split_once('=') {
        None if said == "none" => Ok(String::new()),
        Some(("file", path)) => {
            let inside = inside(&place.root, folder, path).map_err(usage)?;
            if !inside.is_file() {
                return Err(usage(format!("`{path}` is no file")));
            }
            let text = fs::read_to_string(&inside)
                .map_err(|error| Failed::File(path.to_owned(), error))?;
            let lines = text.lines().zip(1..).map(|(line, nth)| format!("{nth:>5} {line}\n"));
            Ok(format!("`{path}`:\n{}", lines.collect::<Vec<_>>().concat()))
        }
        _ => Err(usage(format!("`--context {said}` is not known"))),
    }
}

/// A path below the repository, whatever links and dots it has.
fn inside(root: &Path, folder: &Path, path: &str) -> Result<PathBuf, String> {
    if path.starts_with("\\\\") || path.starts_with("//") {
        return Err(format!("`{path}` is not a path inside the repository"));
    }
    let whole = folder.join(path).canonicalize().map_err(|error| format!("`{path}`: {error}"))?;
    if whole.starts_with(root) {
        Ok(whole)
    } else {
        Err(format!("`{path}` leads out of the repository"))
    }
}
