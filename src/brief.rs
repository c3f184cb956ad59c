//! What debaters are given besides the topic, read from the repository and from nowhere else.
use crate::engine::{BadContext, Briefs};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads from one repository.
pub struct FromRepository {
    /// Nothing outside it is read.
    pub root: PathBuf,
    /// What paths are relative to.
    pub folder: PathBuf,
}

impl Briefs for FromRepository {
    fn brief(&self, wanted: &str) -> Result<String, BadContext> {
        match wanted.split_once('=') {
            None if wanted == "none" => Ok(String::new()),
            Some(("file", path)) => self.file(path).map_err(BadContext),
            _ => Err(BadContext(format!("context `{wanted}` is not known"))),
        }
    }

    fn pin(&self, root: &Path) -> Result<Option<String>, BadContext> {
        let _ = root;
        Ok(None)
    }
}

impl FromRepository {
    fn file(&self, path: &str) -> Result<String, String> {
        let inside = self.inside(path)?;
        if !inside.is_file() {
            return Err(format!("`{path}` is no file"));
        }
        let text = fs::read_to_string(&inside).map_err(|error| format!("`{path}`: {error}"))?;
        let lines = text.lines().zip(1..).map(|(line, nth)| format!("{nth:>5} {line}\n"));
        Ok(format!("`{path}`:\n{}", lines.collect::<Vec<_>>().concat()))
    }

    /// A path below the repository, whatever links and dots it has.
    fn inside(&self, path: &str) -> Result<PathBuf, String> {
        if path.starts_with("\\\\") || path.starts_with("//") {
            return Err(format!("`{path}` is not a path inside the repository"));
        }
        let whole = self.folder.join(path).canonicalize();
        let whole = whole.map_err(|error| format!("`{path}`: {error}"))?;
        let below = whole.strip_prefix(&self.root).ok();
        if below.is_some_and(|below| below.starts_with(".git")) {
            return Err(format!("`{path}` belongs to git, and may hold what is nobody's business"));
        }
        if below.is_some() {
            Ok(whole)
        } else {
            Err(format!("`{path}` leads out of the repository"))
        }
    }
}
