//! View of a pinned tree: lists all files at once and reads contents on demand. `TreeView` holds
//! the list, `TreeReader` reads files with secrets redacted.
use super::exclusions::MAX_FILE_BYTES;
use super::object_store::{MAX_TREE_PATH_BYTES, ObjectStore};
use super::tree_store::{TreeStore, redact_contents};
use super::{ExclusionReason, RepoError};
use crate::redact::Redactor;
use git2::{Blob, ObjectType, Oid};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Maximum number of files listed. Beyond it the view is marked incomplete.
const MAX_FILES: usize = 200_000;

/// File list of a pinned tree, sorted by path.
pub struct TreeView {
    home: PathBuf,
    root: PathBuf,
    tree: String,
    files: Vec<TreeFile>,
    complete: bool,
    redactor: Option<Redactor>,
}

/// One entry of a pinned tree other than a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Path from the repository root with `/` as separator. Invalid UTF-8 is shown as `�`.
    pub path: String,
    /// Reason why it cannot be read as a file: a link or a submodule.
    pub exclusion: Option<ExclusionReason>,
    id: Oid,
}

/// Reads files of a view. Not shared: each thread opens its own.
pub struct TreeReader {
    stores: ObjectStore,
    redactor: Option<Redactor>,
}

/// A file that was read.
pub(super) struct LoadedFile<'a> {
    /// Contents as stored, not redacted.
    pub(super) blob: Blob<'a>,
    /// Redacted contents, if they differ from the stored ones.
    pub(super) redacted: Option<Vec<u8>>,
}

impl TreeStore {
    /// Opens a pinned tree. Lists the files and reads none.
    pub fn view(&self, root: &Path, tree: &str) -> Result<TreeView, RepoError> {
        TreeView::open(self, root, tree)
    }
}

impl TreeView {
    fn open(trees: &TreeStore, root: &Path, tree: &str) -> Result<TreeView, RepoError> {
        let missing = || RepoError::TreeMissing { tree: tree.to_owned() };
        let id = Oid::from_str(tree).map_err(|_| missing())?;
        let home = &trees.home;
        let stores = ObjectStore::open(home, root)?;
        if stores.object_header(id).is_none_or(|(_, kind)| kind != ObjectType::Tree) {
            return Err(missing());
        }
        let mut listing = TreeListing { stores: &stores, files: vec![], complete: true };
        listing.list_folder("", id);
        let TreeListing { mut files, complete, .. } = listing;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(TreeView {
            home: home.to_owned(),
            root: root.to_owned(),
            tree: tree.to_owned(),
            files,
            complete,
            redactor: trees.redactor(tree),
        })
    }

    /// Tree id.
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// All files, sorted by path.
    pub fn files(&self) -> &[TreeFile] {
        &self.files
    }

    /// Whether the list is complete. A limit, or a partial clone with missing objects, makes it
    /// incomplete.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The file with exactly this path.
    pub fn find(&self, path: &str) -> Option<&TreeFile> {
        let index = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(index)
    }

    /// Opens a reader with its own repository handle.
    pub fn reader(&self) -> Result<TreeReader, RepoError> {
        Ok(TreeReader {
            stores: ObjectStore::open(&self.home, &self.root)?,
            redactor: self.redactor.clone(),
        })
    }
}

impl TreeFile {
    /// Creates an entry, and derives from the mode whether it can be read.
    pub(super) fn new(path: String, mode: i32, id: Oid) -> TreeFile {
        let exclusion = match mode & 0o170_000 {
            0o100_000 => None,
            0o120_000 => Some(ExclusionReason::Link),
            0o160_000 => Some(ExclusionReason::Submodule),
            _ => Some(ExclusionReason::Unreadable),
        };
        TreeFile { path, exclusion, id }
    }
}

impl TreeReader {
    /// Size in bytes. None if it is not a file or is missing.
    pub fn size(&self, file: &TreeFile) -> Option<u64> {
        let (size, _) = self.stores.object_header(file.id).filter(|_| file.exclusion.is_none())?;
        Some(size)
    }

    /// Reads a file with secrets redacted, or returns the reason why it cannot be read.
    pub fn read_bytes(&self, file: &TreeFile) -> Result<Vec<u8>, ExclusionReason> {
        let loaded = self.load(file)?;
        Ok(loaded.redacted.unwrap_or_else(|| loaded.blob.content().to_owned()))
    }

    /// Like `read_bytes`, but without a copy if nothing is redacted.
    pub(super) fn load(&self, file: &TreeFile) -> Result<LoadedFile<'_>, ExclusionReason> {
        if let Some(reason) = file.exclusion {
            return Err(reason);
        }
        let (size, kind) = self.stores.object_header(file.id).ok_or(ExclusionReason::Unreadable)?;
        if kind != ObjectType::Blob {
            return Err(ExclusionReason::Unreadable);
        }
        if size > MAX_FILE_BYTES {
            return Err(ExclusionReason::TooLarge);
        }
        let blob = self.stores.find_blob(file.id).ok_or(ExclusionReason::Unreadable)?;
        let redacted = match redact_contents(self.redactor.as_ref(), &file.path, blob.content()) {
            Cow::Owned(redacted) => Some(redacted),
            Cow::Borrowed(_) => None,
        };
        Ok(LoadedFile { blob, redacted })
    }
}

impl LoadedFile<'_> {
    /// Redacted contents.
    pub(super) fn bytes(&self) -> &[u8] {
        self.redacted.as_deref().unwrap_or_else(|| self.blob.content())
    }
}

/// State of a listing in progress.
struct TreeListing<'a> {
    stores: &'a ObjectStore,
    files: Vec<TreeFile>,
    complete: bool,
}

impl TreeListing<'_> {
    /// Lists everything below a folder, recursively.
    fn list_folder(&mut self, path: &str, id: Oid) {
        let tree = self.stores.find_tree(id).filter(|_| path.len() <= MAX_TREE_PATH_BYTES);
        let Some(tree) = tree else {
            self.complete = false;
            return;
        };
        for entry in &tree {
            if self.files.len() >= MAX_FILES {
                self.complete = false;
                return;
            }
            let inner_path = format!("{path}{}", String::from_utf8_lossy(entry.name_bytes()));
            if entry.filemode_raw() & 0o170_000 == 0o040_000 {
                self.list_folder(&(inner_path + "/"), entry.id());
            } else {
                self.files.push(TreeFile::new(inner_path, entry.filemode_raw(), entry.id()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo};

    #[test]
    fn files_over_the_limit_are_not_listed() {
        let repo = TempRepo::new();
        let (id, stores) = (repo.blob(b"x"), repo.object_store());
        for (added, complete) in [(1, true), (2, false)] {
            let names = ["a.rs", "b.rs"].into_iter().take(added);
            let tree = repo.tree(names.map(|name| (FILE_MODE, name, id)));
            let files = vec![TreeFile::new(String::new(), FILE_MODE, id); MAX_FILES - 1];
            let mut listing = TreeListing { stores: &stores, files, complete: true };
            listing.list_folder("", tree);
            assert_eq!((listing.files.len(), listing.complete), (MAX_FILES, complete));
        }
        assert_eq!(MAX_FILES, 200_000);
    }

    #[test]
    fn folder_with_too_long_a_path_is_not_listed() {
        let repo = TempRepo::new();
        let tree = repo.tree([(FILE_MODE, "a.rs", repo.blob(b"x"))]);
        let stores = repo.object_store();
        for (path_bytes, expected) in
            [(MAX_TREE_PATH_BYTES, (1, true)), (MAX_TREE_PATH_BYTES + 1, (0, false))]
        {
            let mut listing = TreeListing { stores: &stores, files: vec![], complete: true };
            listing.list_folder(&"x".repeat(path_bytes), tree);
            assert_eq!((listing.files.len(), listing.complete), expected);
        }
        assert_eq!(MAX_TREE_PATH_BYTES, 4_096);
    }
}
