//! In-memory edits of a git tree, written as new tree objects. Only changed folders are written.
//! Trees are serialized here, byte by byte, because a file may become a folder or the reverse, and
//! names need not be UTF-8.
use super::RepoError;
use super::object_store::{OwnRepo, UserRepo};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;

const FOLDER_MODE: i32 = 0o040_000;

/// Edits of one folder, by entry name.
#[derive(Default)]
pub(super) struct TreeEdits(BTreeMap<Vec<u8>, TreeEdit>);

enum TreeEdit {
    Remove,
    File {
        id: Oid,
        mode: i32,
    },
    /// Edits below this folder.
    Folder(TreeEdits),
    /// Replaces whatever is there by a folder with only these entries.
    ReplaceFolder(TreeEdits),
}

impl TreeEdits {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds or replaces a regular file.
    pub(super) fn put_file(&mut self, path: &[u8], id: Oid, executable: bool) {
        self.put_entry(path, id, if executable { 0o100_755 } else { 0o100_644 });
    }

    /// Adds or replaces an entry of any mode except a folder.
    pub(super) fn put_entry(&mut self, path: &[u8], id: Oid, mode: i32) {
        self.set(path, TreeEdit::File { id, mode });
    }

    /// Removes a file. An entry already put under that name is kept.
    pub(super) fn remove(&mut self, path: &[u8]) {
        self.set(path, TreeEdit::Remove);
    }

    /// Replaces a folder, and everything in it, by these entries.
    pub(super) fn replace_folder(&mut self, name: &[u8], entries: TreeEdits) {
        self.0.insert(name.to_owned(), TreeEdit::ReplaceFolder(entries));
    }

    fn set(&mut self, path: &[u8], edit: TreeEdit) {
        let mut parts = path.splitn(2, |byte| *byte == b'/');
        let name = parts.next().unwrap_or_default().to_owned();
        let Some(rest) = parts.next() else {
            let is_already_put = matches!(edit, TreeEdit::Remove) && self.0.contains_key(&name);
            if !is_already_put {
                self.0.insert(name, edit);
            }
            return;
        };
        let slot = self.0.entry(name).or_insert(TreeEdit::Remove);
        match slot {
            TreeEdit::Folder(inner) | TreeEdit::ReplaceFolder(inner) => inner.set(rest, edit),
            // A file has nothing below it that could be removed.
            TreeEdit::File { .. } if matches!(edit, TreeEdit::Remove) => {}
            _ => {
                let mut inner = TreeEdits::default();
                inner.set(rest, edit);
                *slot = TreeEdit::Folder(inner);
            }
        }
    }

    /// Writes the edited tree to our own object store and returns its id. `base` must be in one of
    /// the two stores.
    pub(super) fn write(
        &self,
        user_repo: Option<&UserRepo>,
        own_repo: &OwnRepo,
        base: Option<Oid>,
    ) -> Result<Oid, RepoError> {
        match self.write_folder(user_repo, own_repo, base)? {
            Some(id) => Ok(id),
            None => own_repo.write_object(ObjectType::Tree, &[]),
        }
    }

    /// Writes one folder. None if it is empty, because git stores no empty folders.
    fn write_folder(
        &self,
        user_repo: Option<&UserRepo>,
        own_repo: &OwnRepo,
        base: Option<Oid>,
    ) -> Result<Option<Oid>, RepoError> {
        let mut entries = base
            .map_or_else(|| Ok(BTreeMap::new()), |base| read_entries(user_repo, own_repo, base))?;
        for (name, edit) in &self.0 {
            let old_id =
                entries.get(name).filter(|(mode, _)| *mode == FOLDER_MODE).map(|(_, id)| *id);
            let new_entry = match edit {
                TreeEdit::File { id, mode } => Some((*mode, *id)),
                TreeEdit::Remove => old_id.map(|id| (FOLDER_MODE, id)),
                TreeEdit::Folder(inner) => {
                    inner.write_folder(user_repo, own_repo, old_id)?.map(|id| (FOLDER_MODE, id))
                }
                TreeEdit::ReplaceFolder(inner) => {
                    inner.write_folder(user_repo, own_repo, None)?.map(|id| (FOLDER_MODE, id))
                }
            };
            match new_entry {
                Some(entry) => entries.insert(name.clone(), entry),
                None => entries.remove(name),
            };
        }
        if entries.is_empty() {
            return Ok(None);
        }
        own_repo.write_object(ObjectType::Tree, &encode_tree(&entries)).map(Some)
    }
}

type TreeEntries = BTreeMap<Vec<u8>, (i32, Oid)>;

fn read_entries(
    user_repo: Option<&UserRepo>,
    own_repo: &OwnRepo,
    id: Oid,
) -> Result<TreeEntries, RepoError> {
    let tree = match (own_repo.find_tree(id), user_repo) {
        (Some(tree), _) => tree,
        (None, None) => return Ok(TreeEntries::new()),
        (None, Some(user_repo)) => {
            let tree = user_repo.repository.find_tree(id);
            tree.map_err(|error| RepoError::from_git(&user_repo.top, &error))?
        }
    };
    let entry = |entry: git2::TreeEntry<'_>| {
        (entry.name_bytes().to_owned(), (entry.filemode_raw(), entry.id()))
    };
    Ok(tree.iter().map(entry).collect())
}

/// Serializes a tree object in git's order: folders sort as if their names ended in `/`.
fn encode_tree(entries: &TreeEntries) -> Vec<u8> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_cached_key(|(name, (mode, _))| {
        let end: &[u8] = if *mode == FOLDER_MODE { b"/" } else { b"" };
        [name, end].concat()
    });
    let mut bytes = vec![];
    for (name, (mode, id)) in sorted {
        bytes.extend_from_slice(format!("{mode:o} ").as_bytes());
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend_from_slice(id.as_bytes());
    }
    bytes
}
