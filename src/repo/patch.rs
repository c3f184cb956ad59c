//! In-memory edits of a git tree, written as new tree objects. Only changed folders are written.
//! Trees are serialized here, byte by byte, because a file may become a folder or the reverse, and
//! names need not be UTF-8.
use super::RepoError;
use super::stores::{Ours, Theirs};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;

const FOLDER: i32 = 0o040_000;

/// Edits of one folder, by entry name.
#[derive(Default)]
pub(super) struct Patch(BTreeMap<Vec<u8>, Change>);

enum Change {
    Gone,
    File {
        id: Oid,
        mode: i32,
    },
    /// Edits below this folder.
    Folder(Patch),
    /// Replaces whatever is there by a folder with only these entries.
    Instead(Patch),
}

impl Patch {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds or replaces a regular file.
    pub(super) fn put(&mut self, path: &[u8], id: Oid, executable: bool) {
        self.enter(path, id, if executable { 0o100_755 } else { 0o100_644 });
    }

    /// Adds or replaces an entry of any mode except a folder.
    pub(super) fn enter(&mut self, path: &[u8], id: Oid, mode: i32) {
        self.set(path, Change::File { id, mode });
    }

    /// Removes a file. An entry already put under that name is kept.
    pub(super) fn remove(&mut self, path: &[u8]) {
        self.set(path, Change::Gone);
    }

    /// Replaces a folder, and everything in it, by these entries.
    pub(super) fn instead(&mut self, name: &[u8], inside: Patch) {
        self.0.insert(name.to_owned(), Change::Instead(inside));
    }

    fn set(&mut self, path: &[u8], change: Change) {
        let mut parts = path.splitn(2, |byte| *byte == b'/');
        let name = parts.next().unwrap_or_default().to_owned();
        let Some(rest) = parts.next() else {
            let keeps = matches!(change, Change::Gone) && self.0.contains_key(&name);
            if !keeps {
                self.0.insert(name, change);
            }
            return;
        };
        let slot = self.0.entry(name).or_insert(Change::Gone);
        match slot {
            Change::Folder(inner) | Change::Instead(inner) => inner.set(rest, change),
            // A file has nothing below it that could be removed.
            Change::File { .. } if matches!(change, Change::Gone) => {}
            _ => {
                let mut inner = Patch::default();
                inner.set(rest, change);
                *slot = Change::Folder(inner);
            }
        }
    }

    /// Writes the edited tree to our own object store and returns its id. `base` must be in one of
    /// the two stores.
    pub(super) fn write(
        &self,
        theirs: Option<&Theirs>,
        ours: &Ours,
        base: Option<Oid>,
    ) -> Result<Oid, RepoError> {
        match self.folder(theirs, ours, base)? {
            Some(id) => Ok(id),
            None => ours.keep(ObjectType::Tree, &[]),
        }
    }

    /// Writes one folder. None if it is empty, because git stores no empty folders.
    fn folder(
        &self,
        theirs: Option<&Theirs>,
        ours: &Ours,
        base: Option<Oid>,
    ) -> Result<Option<Oid>, RepoError> {
        let mut entries =
            base.map_or_else(|| Ok(BTreeMap::new()), |base| entries(theirs, ours, base))?;
        for (name, change) in &self.0 {
            let before = entries.get(name).filter(|(mode, _)| *mode == FOLDER).map(|(_, id)| *id);
            let after = match change {
                Change::File { id, mode } => Some((*mode, *id)),
                Change::Gone => before.map(|id| (FOLDER, id)),
                Change::Folder(inner) => inner.folder(theirs, ours, before)?.map(|id| (FOLDER, id)),
                Change::Instead(inner) => inner.folder(theirs, ours, None)?.map(|id| (FOLDER, id)),
            };
            match after {
                Some(entry) => entries.insert(name.clone(), entry),
                None => entries.remove(name),
            };
        }
        if entries.is_empty() {
            return Ok(None);
        }
        ours.keep(ObjectType::Tree, &written(&entries)).map(Some)
    }
}

type Entries = BTreeMap<Vec<u8>, (i32, Oid)>;

fn entries(theirs: Option<&Theirs>, ours: &Ours, id: Oid) -> Result<Entries, RepoError> {
    let tree = match (ours.tree(id), theirs) {
        (Some(tree), _) => tree,
        (None, None) => return Ok(Entries::new()),
        (None, Some(theirs)) => {
            let tree = theirs.repository.find_tree(id);
            tree.map_err(|error| RepoError::broken(&theirs.top, &error))?
        }
    };
    let entry = |entry: git2::TreeEntry<'_>| {
        (entry.name_bytes().to_owned(), (entry.filemode_raw(), entry.id()))
    };
    Ok(tree.iter().map(entry).collect())
}

/// Serializes a tree object in git's order: folders sort as if their names ended in `/`.
fn written(entries: &Entries) -> Vec<u8> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_cached_key(|(name, (mode, _))| {
        let end: &[u8] = if *mode == FOLDER { b"/" } else { b"" };
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
