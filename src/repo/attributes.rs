//! Reads the `diff` attribute of git: whether a path is declared text or binary. Most repositories
//! set it for few folders or none, and a query per file costs more than counting its lines, so
//! folders without attributes are cached and skipped.
use super::disk;
use super::object_store::UserRepo;
use git2::{AttrCheckFlags, AttrValue};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Value of the `diff` attribute for one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffAttribute {
    Text,
    Binary,
    Unset,
}

/// Attribute lookup with a cache per folder.
pub(super) struct AttributeLookup<'a> {
    user_repo: Option<&'a UserRepo>,
    /// Whether a config file for the whole repository or user sets attributes.
    applies_everywhere: bool,
    /// Cache: whether a folder or one of its parents has a relevant `.gitattributes`.
    folder_cache: HashMap<PathBuf, bool>,
}

impl<'a> AttributeLookup<'a> {
    pub(super) fn new(user_repo: Option<&'a UserRepo>) -> AttributeLookup<'a> {
        let applies_everywhere = user_repo.is_some_and(|repo| {
            let info_path = repo.repository.path().join("info/attributes");
            let user_file = repo.repository.config().ok();
            let user_file =
                user_file.and_then(|config| config.get_path("core.attributesFile").ok());
            may_set_diff(&info_path) || user_file.is_some_and(|user_file| may_set_diff(&user_file))
        });
        AttributeLookup { user_repo, applies_everywhere, folder_cache: HashMap::new() }
    }

    pub(super) fn diff_attribute(&mut self, path: &[u8]) -> DiffAttribute {
        let (Some(repo), Some(path)) = (self.user_repo, disk::path_from_bytes(path)) else {
            return DiffAttribute::Unset;
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        if !self.applies_everywhere && !self.has_attributes(repo, folder) {
            return DiffAttribute::Unset;
        }
        let flags = AttrCheckFlags::FILE_THEN_INDEX;
        match repo.repository.get_attr(&path, "diff", flags).map(AttrValue::from_string) {
            Ok(AttrValue::True) => DiffAttribute::Text,
            Ok(AttrValue::False) => DiffAttribute::Binary,
            _ => DiffAttribute::Unset,
        }
    }

    fn has_attributes(&mut self, repo: &UserRepo, folder: &Path) -> bool {
        if let Some(cached) = self.folder_cache.get(folder) {
            return *cached;
        }
        let above = folder.parent().is_some_and(|above| self.has_attributes(repo, above));
        let may_apply = above || may_set_diff(&repo.top.join(folder).join(".gitattributes"));
        self.folder_cache.insert(folder.to_owned(), may_apply);
        may_apply
    }
}

/// Whether an attributes file may set the `diff` attribute.
fn may_set_diff(path: &Path) -> bool {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // A macro can set any attribute under any name, so a file that defines one counts.
    text.contains("diff") || text.contains("binary") || text.contains("[attr]")
}
