//! On-disk LRU cache of snapshots. A snapshot is written to a temporary folder and renamed into
//! place, so it is always complete. Readers hold a shared lock on a file beside it. A writer holds
//! an exclusive lock on the whole cache, and evicts only snapshots without readers.
use super::object_store::ObjectStore;
use super::snapshot_writer::{self, SnapshotManifest};
use super::{ExcludedPath, RepoError, TreeStore, disk};
use crate::redact::Redactor;
use crate::secure_fs;
use git2::Oid;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

/// Version of the snapshot contents, part of the cache key. A new number invalidates all snapshots.
const SNAPSHOT_VERSION: u32 = 1;
/// Maximum number of snapshots kept. Those in use are never evicted.
const MAX_SNAPSHOTS: usize = 16;

/// A read-only copy of a tree. Its shared lock keeps it from eviction until this is dropped.
#[derive(Debug)]
pub struct TreeSnapshot {
    /// Folder with the files.
    pub folder: PathBuf,
    /// Number of files.
    pub files: usize,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Paths of the tree that are not in the copy.
    pub left_out: Vec<ExcludedPath>,
    _lock: File,
}

/// Paths of one cache entry: folder, manifest, lock file and temporary folder.
struct CacheEntry {
    folder: PathBuf,
    manifest: PathBuf,
    lock: PathBuf,
    temp_folder: PathBuf,
}

impl TreeStore {
    /// Returns a read-only copy of a pinned tree from the snapshot cache, and writes it on a cache
    /// miss.
    pub fn snapshot(&self, root: &Path, tree: &str) -> Result<TreeSnapshot, RepoError> {
        open_snapshot(self, root, tree)
    }
}

/// Returns the snapshot of a tree, and writes it on a cache miss.
fn open_snapshot(trees: &TreeStore, root: &Path, tree: &str) -> Result<TreeSnapshot, RepoError> {
    let id = parse_tree_id(tree)?;
    let cache_dir = trees.home.join("snapshots");
    secure_fs::create_private_dir(&cache_dir).map_err(RepoError::io_at(&cache_dir))?;
    let cache_entry = CacheEntry::new(
        &cache_dir,
        &format!("{id}-{SNAPSHOT_VERSION}-{}", trees.redaction_fingerprint()),
    );
    if let Some(snapshot) = cache_entry.open().map_err(RepoError::io_at(&cache_entry.lock))? {
        return Ok(snapshot);
    }
    let _lock = lock_cache(&cache_dir).map_err(RepoError::io_at(&cache_dir))?;
    // Another process may have written it while this one waited for the lock.
    if let Some(snapshot) = cache_entry.open().map_err(RepoError::io_at(&cache_entry.lock))? {
        return Ok(snapshot);
    }
    cache_entry.write_snapshot(
        &ObjectStore::open(&trees.home, root)?,
        id,
        trees.redactor(tree).as_ref(),
    )?;
    let written = cache_entry.open().map_err(RepoError::io_at(&cache_entry.lock))?;
    evict_old(&cache_dir).map_err(RepoError::io_at(&cache_dir))?;
    written.ok_or_else(|| {
        let error = io::Error::other("the snapshot was deleted while it was written");
        RepoError::io_at(&cache_entry.folder)(error)
    })
}

/// Parses a full tree id. It becomes part of a path, so nothing else is valid.
fn parse_tree_id(tree: &str) -> Result<Oid, RepoError> {
    let id = Oid::from_str(tree).ok().filter(|id| id.to_string().eq_ignore_ascii_case(tree));
    id.ok_or_else(|| RepoError::InvalidTreeId { given: tree.to_owned() })
}

/// Takes the exclusive lock of the cache, needed to write or evict.
fn lock_cache(cache_dir: &Path) -> io::Result<File> {
    let lock_file = disk::open_lock_file(&cache_dir.join("gate"))?;
    let started = Instant::now();
    lock_file.lock()?;
    tracing::debug!(wait_ms = started.elapsed().as_millis(), "snapshot cache locked");
    Ok(lock_file)
}

impl CacheEntry {
    fn new(cache_dir: &Path, name: &str) -> CacheEntry {
        let sibling = |extension: &str| cache_dir.join(format!("{name}.{extension}"));
        let (manifest, lock, temp_folder) = (sibling("json"), sibling("lock"), sibling("tmp"));
        CacheEntry { folder: cache_dir.join(name), manifest, lock, temp_folder }
    }

    /// Opens the snapshot and takes its shared lock. None on a cache miss.
    fn open(&self) -> io::Result<Option<TreeSnapshot>> {
        let lock = loop {
            let lock = disk::open_lock_file(&self.lock)?;
            lock.lock_shared()?;
            // The lock file may have been deleted between open and lock, so retry.
            if disk::is_same_file(&lock, &self.lock) {
                break lock;
            }
        };
        let Some(manifest) = self.read_manifest().filter(|_| self.folder.is_dir()) else {
            return Ok(None);
        };
        lock.set_modified(SystemTime::now())?;
        let SnapshotManifest { files, bytes, left_out } = manifest;
        Ok(Some(TreeSnapshot { folder: self.folder.clone(), files, bytes, left_out, _lock: lock }))
    }

    fn read_manifest(&self) -> Option<SnapshotManifest> {
        serde_json::from_slice(&fs::read(&self.manifest).ok()?).ok()
    }

    /// Writes the snapshot. The caller must hold the lock of the cache.
    fn write_snapshot(
        &self,
        stores: &ObjectStore,
        tree: Oid,
        redactor: Option<&Redactor>,
    ) -> Result<(), RepoError> {
        let started = Instant::now();
        let temp =
            TempFolder::new(&self.temp_folder).map_err(RepoError::io_at(&self.temp_folder))?;
        let manifest = snapshot_writer::write_tree(stores, tree, temp.0, redactor)?;
        let elapsed_ms = started.elapsed().as_millis();
        let SnapshotManifest { files, bytes, .. } = manifest;
        tracing::debug!(%tree, files, bytes, elapsed_ms, "snapshot written");
        self.write_manifest(&manifest).map_err(RepoError::io_at(&self.manifest))?;
        // A complete snapshot without a manifest may be in use, and stays then.
        if self.folder.is_dir() && !self.remove_folder().map_err(RepoError::io_at(&self.folder))? {
            return Ok(());
        }
        fs::rename(temp.0, &self.folder).map_err(RepoError::io_at(&self.folder))
    }

    fn write_manifest(&self, manifest: &SnapshotManifest) -> io::Result<()> {
        let folder = self.manifest.parent().ok_or(io::ErrorKind::NotFound)?;
        let mut file = tempfile::Builder::new().suffix(".tmp").tempfile_in(folder)?;
        file.write_all(&serde_json::to_vec(manifest)?)?;
        file.persist(&self.manifest).map_err(|error| error.error)?;
        Ok(())
    }

    /// Deletes the folder unless it is in use. Returns whether it did.
    fn remove_folder(&self) -> io::Result<bool> {
        let lock = disk::open_lock_file(&self.lock)?;
        if lock.try_lock().is_err() {
            return Ok(false);
        }
        // Rename first, so that a half-deleted folder is never found under its name.
        let trash = self.folder.with_extension("old.tmp");
        if trash.is_dir() {
            disk::remove_dir_forced(&trash)?;
        }
        fs::rename(&self.folder, &trash)?;
        disk::remove_dir_forced(&trash)?;
        Ok(true)
    }

    /// Evicts the snapshot with its manifest and lock file, unless it is in use.
    fn evict(&self) -> io::Result<bool> {
        if !self.remove_folder()? {
            return Ok(false);
        }
        // Either file may be missing already.
        let _ = fs::remove_file(&self.manifest);
        // Other systems cannot tell whether another process is just opening the lock file.
        #[cfg(unix)]
        let _ = fs::remove_file(&self.lock);
        tracing::debug!(folder = %self.folder.display(), "snapshot evicted");
        Ok(true)
    }

    fn last_used(&self) -> SystemTime {
        let modified = fs::metadata(&self.lock).and_then(|metadata| metadata.modified());
        modified.unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// Deletes leftovers of crashes and evicts the least recently used snapshots over the limit. The
/// caller must hold the lock of the cache.
fn evict_old(cache_dir: &Path) -> io::Result<()> {
    let mut cache_entries = vec![];
    for entry in fs::read_dir(cache_dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type()?.is_dir();
        if entry.path().extension().is_some_and(|extension| extension == "tmp") {
            // This process has the only write lock, so the file is left from a crash.
            let _ = if is_folder {
                disk::remove_dir_forced(&entry.path())
            } else {
                fs::remove_file(entry.path())
            };
        } else if is_folder {
            let cache_entry = CacheEntry::new(cache_dir, &name);
            cache_entries.push((cache_entry.last_used(), name, cache_entry));
        }
    }
    cache_entries.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let mut excess = cache_entries.len().saturating_sub(MAX_SNAPSHOTS);
    for (_, _, cache_entry) in cache_entries {
        // On an error the next run retries.
        if excess > 0 && cache_entry.evict().unwrap_or(false) {
            excess -= 1;
        }
    }
    Ok(())
}

/// Temporary folder, deleted on drop unless it was renamed into place.
struct TempFolder<'a>(&'a Path);

impl TempFolder<'_> {
    fn new(path: &Path) -> io::Result<TempFolder<'_>> {
        if path.is_dir() {
            disk::remove_dir_forced(path)?;
        }
        secure_fs::create_private_dir(path)?;
        Ok(TempFolder(path))
    }
}

impl Drop for TempFolder<'_> {
    fn drop(&mut self) {
        if self.0.is_dir() {
            let _ = disk::remove_dir_forced(self.0);
        }
    }
}
