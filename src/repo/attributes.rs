//! Reads the `diff` attribute of git: whether a path is declared text or binary. Most repositories
//! set it for few folders or none, and a query per file costs more than counting its lines, so
//! folders without attributes are cached and skipped.
use super::disk;
use super::stores::Theirs;
use git2::{AttrCheckFlags, AttrValue};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Value of the `diff` attribute for one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Text,
    Binary,
    Nothing,
}

/// Attribute lookup with a cache per folder.
pub(super) struct Attributes<'a> {
    theirs: Option<&'a Theirs>,
    /// Whether a config file for the whole repository or user sets attributes.
    general: bool,
    /// Cache: whether a folder or one of its parents has a relevant `.gitattributes`.
    folders: HashMap<PathBuf, bool>,
}

impl<'a> Attributes<'a> {
    pub(super) fn of(theirs: Option<&'a Theirs>) -> Attributes<'a> {
        let general = theirs.is_some_and(|theirs| {
            let own = theirs.repository.path().join("info/attributes");
            let users = theirs.repository.config().ok();
            let users = users.and_then(|config| config.get_path("core.attributesFile").ok());
            speaks(&own) || users.is_some_and(|users| speaks(&users))
        });
        Attributes { theirs, general, folders: HashMap::new() }
    }

    pub(super) fn say(&mut self, path: &[u8]) -> Said {
        let (Some(theirs), Some(path)) = (self.theirs, disk::path(path)) else {
            return Said::Nothing;
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        if !self.general && !self.spoken(theirs, folder) {
            return Said::Nothing;
        }
        let flags = AttrCheckFlags::FILE_THEN_INDEX;
        match theirs.repository.get_attr(&path, "diff", flags).map(AttrValue::from_string) {
            Ok(AttrValue::True) => Said::Text,
            Ok(AttrValue::False) => Said::Binary,
            _ => Said::Nothing,
        }
    }

    fn spoken(&mut self, theirs: &Theirs, folder: &Path) -> bool {
        if let Some(known) = self.folders.get(folder) {
            return *known;
        }
        let above = folder.parent().is_some_and(|above| self.spoken(theirs, above));
        let spoken = above || speaks(&theirs.top.join(folder).join(".gitattributes"));
        self.folders.insert(folder.to_owned(), spoken);
        spoken
    }
}

/// Whether an attributes file may set the `diff` attribute.
fn speaks(list: &Path) -> bool {
    let text = fs::read(list).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // A macro can set any attribute under any name, so a file that defines one counts.
    text.contains("diff") || text.contains("binary") || text.contains("[attr]")
}
