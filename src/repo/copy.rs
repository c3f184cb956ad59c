//! Writes one tree into a folder as a read-only snapshot. The tree is untrusted input: its names,
//! sizes and depth are validated against limits, and no filter or hook is run. `snapshot_cache`
//! decides where the folder goes.
use super::stores::Stores;
use super::{LARGEST, LeftOut, RepoError, Why, absent, disk};
use crate::private;
use crate::redact::Redactor;
use git2::{ObjectType, Oid};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of files in a snapshot.
const MOST_FILES: usize = 50_000;
/// Maximum total bytes of a snapshot.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum number of tree entries visited. A small tree can repeat one folder any number of times.
const MOST_ENTRIES: usize = 100_000;
/// Maximum size in bytes of one tree object.
const LARGEST_FOLDER: u64 = 16 * 1024 * 1024;
/// Bytes checked for a NUL byte to detect binary files, as git does.
const TELLTALE: usize = 8_000;

/// Manifest of a snapshot: what was written and what was excluded. Serialized as JSON beside it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Copied {
    pub(super) files: usize,
    pub(super) bytes: u64,
    pub(super) left_out: Vec<LeftOut>,
}

/// Writes a tree into an empty folder and makes it read-only. Returns an error if the tree object
/// is missing.
pub(super) fn write(
    stores: &Stores,
    tree: Oid,
    folder: &Path,
    gate: Option<&Redactor>,
) -> Result<Copied, RepoError> {
    let mut copying = Copying {
        stores,
        folder,
        gate,
        folders: BTreeSet::new(),
        entries: 0,
        full: false,
        copied: Copied::default(),
    };
    copying.all(tree).map_err(|stopped| match stopped {
        Stopped::Missing => RepoError::Gone { tree: tree.to_string() },
        Stopped::Disk(error) => RepoError::disk(folder)(error),
    })?;
    Ok(copying.copied)
}

/// State of a copy in progress.
struct Copying<'a> {
    stores: &'a Stores,
    folder: &'a Path,
    gate: Option<&'a Redactor>,
    /// Folders created so far, made read-only at the end.
    folders: BTreeSet<PathBuf>,
    entries: usize,
    full: bool,
    copied: Copied,
}

/// Error that aborts the copy.
enum Stopped {
    Missing,
    Disk(io::Error),
}

struct Entry {
    path: Vec<u8>,
    id: Oid,
    mode: i32,
}

impl Copying<'_> {
    /// Copies breadth-first, so that a reached limit cuts off the deepest files.
    fn all(&mut self, tree: Oid) -> Result<(), Stopped> {
        if self.stores.header(tree).is_none_or(|(_, kind)| kind != ObjectType::Tree) {
            return Err(Stopped::Missing);
        }
        let mut waiting = VecDeque::from([(vec![], tree)]);
        while let Some((path, id)) = waiting.pop_front() {
            for entry in self.open(&path, id) {
                self.entries += 1;
                self.full |= self.entries > MOST_ENTRIES;
                match entry.mode & 0o170_000 {
                    0o040_000 => waiting.push_back((entry.path, entry.id)),
                    0o100_000 => self.file(&entry)?,
                    0o120_000 => self.leave(&entry.path, Why::Link),
                    0o160_000 => self.leave(&entry.path, Why::Submodule),
                    _ => self.leave(&entry.path, Why::Unreadable),
                }
            }
        }
        let folders = self.folders.iter().rev().map(PathBuf::as_path).chain([self.folder]);
        folders.into_iter().try_for_each(disk::freeze).map_err(Stopped::Disk)
    }

    /// Entries of a folder. Empty if the folder is excluded.
    fn open(&mut self, path: &[u8], id: Oid) -> Vec<Entry> {
        let whole = [path, b"/"].concat();
        let refused = !path.is_empty() && absent::unwritable(path);
        // A partial clone lacks some objects. The rest is copied without them.
        let Some((size, kind)) = self.stores.header(id) else {
            self.leave(&whole, Why::Unreadable);
            return vec![];
        };
        let why = if refused || kind != ObjectType::Tree {
            Why::Unreadable
        } else if self.full || size > LARGEST_FOLDER {
            Why::TooMuch
        } else if let Some(tree) = self.stores.tree(id) {
            let inner =
                |name: &[u8]| if path.is_empty() { name.into() } else { [&whole, name].concat() };
            let entry = |entry: git2::TreeEntry<'_>| Entry {
                path: inner(entry.name_bytes()),
                id: entry.id(),
                mode: entry.filemode_raw(),
            };
            return tree.iter().map(entry).collect();
        } else {
            Why::Unreadable
        };
        self.leave(&whole, why);
        vec![]
    }

    /// Copies one file, or records why it is excluded.
    fn file(&mut self, entry: &Entry) -> Result<(), Stopped> {
        if let Some(why) = absent::absent(&entry.path) {
            self.leave(&entry.path, why);
            return Ok(());
        }
        let Some((size, kind)) = self.stores.header(entry.id) else {
            self.leave(&entry.path, Why::Unreadable);
            return Ok(());
        };
        let room = self.copied.files < MOST_FILES && self.copied.bytes + size <= MOST_BYTES;
        let why = if kind != ObjectType::Blob {
            Why::Unreadable
        } else if size > LARGEST {
            Why::TooLarge
        } else if self.full || !room {
            self.full = true;
            Why::TooMuch
        } else {
            match self.stores.bytes(entry.id) {
                None => Why::Unreadable,
                Some(bytes) if bytes.iter().take(TELLTALE).any(|byte| *byte == 0) => Why::Binary,
                Some(bytes) => match self.put(entry, &bytes) {
                    Ok(()) => return Ok(()),
                    Err(error) if of_its_name(&error) => Why::Unreadable,
                    Err(error) => return Err(Stopped::Disk(error)),
                },
            }
        };
        self.leave(&entry.path, why);
        Ok(())
    }

    /// Writes redacted contents. The only function that writes file contents.
    fn put(&mut self, entry: &Entry, bytes: &[u8]) -> io::Result<()> {
        let bytes = &self.gate.map_or(Cow::Borrowed(bytes), |gate| gate.bytes(bytes).0);
        let below = disk::path(&entry.path).ok_or(io::ErrorKind::InvalidFilename)?;
        let path = self.folder.join(below);
        self.prepare(path.parent().unwrap_or(self.folder))?;
        disk::frozen_file(&path, entry.mode & 0o111 != 0)?.write_all(bytes)?;
        self.copied.files += 1;
        self.copied.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Creates a folder and its parents below the snapshot, once.
    fn prepare(&mut self, folder: &Path) -> io::Result<()> {
        if folder == self.folder || self.folders.contains(folder) {
            return Ok(());
        }
        if let Some(parent) = folder.parent() {
            self.prepare(parent)?;
        }
        private::folder(folder)?;
        self.folders.insert(folder.to_owned());
        Ok(())
    }

    fn leave(&mut self, path: &[u8], why: Why) {
        self.copied.left_out.push(LeftOut::new(path, why));
    }
}

/// Whether an I/O error is due to the file name: invalid on this system, or equal to another name
/// on a case-insensitive file system.
fn of_its_name(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::InvalidFilename
            | Kind::InvalidInput
            | Kind::AlreadyExists
            | Kind::NotADirectory
            | Kind::IsADirectory
    )
}
