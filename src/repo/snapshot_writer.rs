//! Writes one tree into a folder as a read-only snapshot. The tree is untrusted input: its names,
//! sizes and depth are validated against limits, and no filter or hook is run. `snapshot_cache`
//! decides where the folder goes.
use super::exclusions::{self, MAX_FILE_BYTES};
use super::object_store::ObjectStore;
use super::{ExcludedPath, ExclusionReason, RepoError, disk};
use crate::redact::Redactor;
use crate::secure_fs;
use git2::{ObjectType, Oid};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of files in a snapshot.
const MAX_FILES: usize = 50_000;
/// Maximum total bytes of a snapshot.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum number of tree entries visited. A small tree can repeat one folder any number of times.
const MAX_ENTRIES: usize = 100_000;
/// Maximum size in bytes of one tree object.
const MAX_FOLDER_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes checked for a NUL byte to detect binary files, as git does.
const BINARY_SNIFF_BYTES: usize = 8_000;

/// Manifest of a snapshot: what was written and what was excluded. Serialized as JSON beside it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct SnapshotManifest {
    pub(super) files: usize,
    pub(super) bytes: u64,
    pub(super) left_out: Vec<ExcludedPath>,
}

/// Writes a tree into an empty folder and makes it read-only. Returns an error if the tree object
/// is missing.
pub(super) fn write_tree(
    stores: &ObjectStore,
    tree: Oid,
    folder: &Path,
    redactor: Option<&Redactor>,
) -> Result<SnapshotManifest, RepoError> {
    let mut writer = SnapshotWriter {
        stores,
        folder,
        redactor,
        created_folders: BTreeSet::new(),
        entries_seen: 0,
        full: false,
        manifest: SnapshotManifest::default(),
    };
    writer.copy_all(tree).map_err(|copy_error| match copy_error {
        CopyError::Missing => RepoError::TreeMissing { tree: tree.to_string() },
        CopyError::Disk(error) => RepoError::io_at(folder)(error),
    })?;
    Ok(writer.manifest)
}

/// State of a copy in progress.
struct SnapshotWriter<'a> {
    stores: &'a ObjectStore,
    folder: &'a Path,
    redactor: Option<&'a Redactor>,
    /// Folders created so far, made read-only at the end.
    created_folders: BTreeSet<PathBuf>,
    entries_seen: usize,
    full: bool,
    manifest: SnapshotManifest,
}

/// Error that aborts the copy.
enum CopyError {
    Missing,
    Disk(io::Error),
}

struct SourceEntry {
    path: Vec<u8>,
    id: Oid,
    mode: i32,
}

impl SnapshotWriter<'_> {
    /// Copies breadth-first, so that a reached limit cuts off the deepest files.
    fn copy_all(&mut self, tree: Oid) -> Result<(), CopyError> {
        if self.stores.object_header(tree).is_none_or(|(_, kind)| kind != ObjectType::Tree) {
            return Err(CopyError::Missing);
        }
        let mut queue = VecDeque::from([(vec![], tree)]);
        while let Some((path, id)) = queue.pop_front() {
            for entry in self.list_folder(&path, id) {
                self.entries_seen += 1;
                self.full |= self.entries_seen > MAX_ENTRIES;
                match entry.mode & 0o170_000 {
                    0o040_000 => queue.push_back((entry.path, entry.id)),
                    0o100_000 => self.copy_file(&entry)?,
                    0o120_000 => self.exclude(&entry.path, ExclusionReason::Link),
                    0o160_000 => self.exclude(&entry.path, ExclusionReason::Submodule),
                    _ => self.exclude(&entry.path, ExclusionReason::Unreadable),
                }
            }
        }
        let folders = self.created_folders.iter().rev().map(PathBuf::as_path).chain([self.folder]);
        folders.into_iter().try_for_each(disk::make_read_only).map_err(CopyError::Disk)
    }

    /// Entries of a folder. Empty if the folder is excluded.
    fn list_folder(&mut self, path: &[u8], id: Oid) -> Vec<SourceEntry> {
        let folder_path = [path, b"/"].concat();
        let is_refused = !path.is_empty() && exclusions::is_unwritable(path);
        // A partial clone lacks some objects. The rest is copied without them.
        let Some((size, kind)) = self.stores.object_header(id) else {
            self.exclude(&folder_path, ExclusionReason::Unreadable);
            return vec![];
        };
        let reason = if is_refused || kind != ObjectType::Tree {
            ExclusionReason::Unreadable
        } else if self.full || size > MAX_FOLDER_BYTES {
            ExclusionReason::TooMuch
        } else if let Some(tree) = self.stores.find_tree(id) {
            let inner_path = |name: &[u8]| {
                if path.is_empty() { name.into() } else { [&folder_path, name].concat() }
            };
            let entry = |entry: git2::TreeEntry<'_>| SourceEntry {
                path: inner_path(entry.name_bytes()),
                id: entry.id(),
                mode: entry.filemode_raw(),
            };
            return tree.iter().map(entry).collect();
        } else {
            ExclusionReason::Unreadable
        };
        self.exclude(&folder_path, reason);
        vec![]
    }

    /// Copies one file, or records why it is excluded.
    fn copy_file(&mut self, entry: &SourceEntry) -> Result<(), CopyError> {
        if let Some(reason) = exclusions::exclusion_reason(&entry.path) {
            self.exclude(&entry.path, reason);
            return Ok(());
        }
        let Some((size, kind)) = self.stores.object_header(entry.id) else {
            self.exclude(&entry.path, ExclusionReason::Unreadable);
            return Ok(());
        };
        let has_room = self.manifest.files < MAX_FILES && self.manifest.bytes + size <= MAX_BYTES;
        let reason = if kind != ObjectType::Blob {
            ExclusionReason::Unreadable
        } else if size > MAX_FILE_BYTES {
            ExclusionReason::TooLarge
        } else if self.full || !has_room {
            self.full = true;
            ExclusionReason::TooMuch
        } else {
            match self.stores.read_blob(entry.id) {
                None => ExclusionReason::Unreadable,
                Some(bytes) if bytes.iter().take(BINARY_SNIFF_BYTES).any(|byte| *byte == 0) => {
                    ExclusionReason::Binary
                }
                Some(bytes) => match self.write_file(entry, &bytes) {
                    Ok(()) => return Ok(()),
                    Err(error) if is_name_error(&error) => ExclusionReason::Unreadable,
                    Err(error) => return Err(CopyError::Disk(error)),
                },
            }
        };
        self.exclude(&entry.path, reason);
        Ok(())
    }

    /// Writes redacted contents. The only function that writes file contents.
    fn write_file(&mut self, entry: &SourceEntry, bytes: &[u8]) -> io::Result<()> {
        let bytes =
            &self.redactor.map_or(Cow::Borrowed(bytes), |redactor| redactor.redact_bytes(bytes).0);
        let relative_path =
            disk::path_from_bytes(&entry.path).ok_or(io::ErrorKind::InvalidFilename)?;
        let path = self.folder.join(relative_path);
        self.create_folder(path.parent().unwrap_or(self.folder))?;
        disk::create_read_only_file(&path, entry.mode & 0o111 != 0)?.write_all(bytes)?;
        self.manifest.files += 1;
        self.manifest.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Creates a folder and its parents below the snapshot, once.
    fn create_folder(&mut self, folder: &Path) -> io::Result<()> {
        if folder == self.folder || self.created_folders.contains(folder) {
            return Ok(());
        }
        if let Some(parent) = folder.parent() {
            self.create_folder(parent)?;
        }
        secure_fs::create_private_dir(folder)?;
        self.created_folders.insert(folder.to_owned());
        Ok(())
    }

    fn exclude(&mut self, path: &[u8], reason: ExclusionReason) {
        self.manifest.left_out.push(ExcludedPath::new(path, reason));
    }
}

/// Whether an I/O error is due to the file name: invalid on this system, or equal to another name
/// on a case-insensitive file system.
fn is_name_error(error: &io::Error) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo};

    fn new_writer<'a>(stores: &'a ObjectStore, folder: &'a Path) -> SnapshotWriter<'a> {
        SnapshotWriter {
            stores,
            folder,
            redactor: None,
            created_folders: BTreeSet::new(),
            entries_seen: 0,
            full: false,
            manifest: SnapshotManifest::default(),
        }
    }

    /// Copies `a.rs` with 4 bytes and `b.rs` with 1 byte, after parts of the limits are used up.
    fn copy_two_files(entries_seen: usize, manifest: SnapshotManifest) -> SnapshotManifest {
        let repo = TempRepo::new();
        let (four_bytes, one_byte) = (repo.blob(b"four"), repo.blob(b"1"));
        let tree = repo.tree([(FILE_MODE, "a.rs", four_bytes), (FILE_MODE, "b.rs", one_byte)]);
        let (stores, folder) = (repo.object_store(), tempfile::tempdir().unwrap());
        let mut writer = new_writer(&stores, folder.path());
        (writer.entries_seen, writer.manifest) = (entries_seen, manifest);
        assert!(writer.copy_all(tree).is_ok());
        let manifest = writer.manifest;
        // The copy is read-only, and could not be deleted.
        disk::make_private(folder.path()).unwrap();
        manifest
    }

    #[test]
    fn files_bytes_and_entries_of_a_snapshot_are_limited() {
        let empty = SnapshotManifest::default;
        for (entries_seen, used) in [
            (0, SnapshotManifest { files: MAX_FILES - 1, ..empty() }),
            (0, SnapshotManifest { bytes: MAX_BYTES - 4, ..empty() }),
            (MAX_ENTRIES - 1, empty()),
        ] {
            let expected_files = used.files + 1;
            let manifest = copy_two_files(entries_seen, used);
            assert_eq!(manifest.files, expected_files);
            assert_eq!(
                manifest.left_out,
                [ExcludedPath::new(b"b.rs", ExclusionReason::TooMuch)],
                "{entries_seen} entries, {} bytes",
                manifest.bytes
            );
        }
        assert_eq!((MAX_FILES, MAX_BYTES, MAX_ENTRIES), (50_000, 256 * 1024 * 1024, 100_000));
    }

    #[test]
    fn tree_object_over_the_limit_is_left_out() {
        let repo = TempRepo::new();
        let id = repo.blob(b"x");
        // Each entry takes 64 KiB: mode, space, name, NUL and id.
        let mut names = vec!["x".repeat(64 * 1024 - 6 - 1 - 1 - 20); 256];
        let at_limit = repo.tree(names.iter().map(|name| (FILE_MODE, name, id)));
        names[0].push('x');
        let over_limit = repo.tree(names.iter().map(|name| (FILE_MODE, name, id)));
        let (stores, folder) = (repo.object_store(), tempfile::tempdir().unwrap());
        let mut writer = new_writer(&stores, folder.path());
        assert_eq!(stores.object_header(at_limit), Some((MAX_FOLDER_BYTES, ObjectType::Tree)));
        assert_eq!(writer.list_folder(b"", at_limit).len(), 256);
        assert!(writer.manifest.left_out.is_empty());
        assert!(writer.list_folder(b"", over_limit).is_empty());
        let left_out = writer.manifest.left_out;
        assert_eq!(left_out, [ExcludedPath::new(b"/", ExclusionReason::TooMuch)]);
    }
}
