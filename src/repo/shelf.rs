//! On-disk LRU cache of snapshots. A snapshot is written to a temporary folder and renamed into
//! place, so it is always complete. Readers hold a shared lock on a file beside it. A writer holds
//! an exclusive lock on the whole cache, and evicts only snapshots without readers.
use super::copy::{self, Copied};
use super::stores::Stores;
use super::{LeftOut, RepoError, Trees, disk};
use crate::private;
use crate::redact::Redactor;
use git2::Oid;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Version of the snapshot contents, part of the cache key. A new number invalidates all snapshots.
const VERSION: u32 = 1;
/// Maximum number of snapshots kept. Those in use are never evicted.
const MOST: usize = 16;

/// A read-only copy of a tree. Its shared lock keeps it from eviction until this is dropped.
#[derive(Debug)]
pub struct Snapshot {
    /// Folder with the files.
    pub folder: PathBuf,
    /// Number of files.
    pub files: usize,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Paths of the tree that are not in the copy.
    pub left_out: Vec<LeftOut>,
    _in_use: File,
}

/// Paths of one cache entry: folder, manifest, lock file and temporary folder.
struct Place {
    folder: PathBuf,
    list: PathBuf,
    lock: PathBuf,
    draft: PathBuf,
}

/// Returns the snapshot of a tree, and writes it on a cache miss.
pub(super) fn snapshot(trees: &Trees, root: &Path, tree: &str) -> Result<Snapshot, RepoError> {
    let id = id(tree)?;
    let shelf = trees.home.join("snapshots");
    private::folder(&shelf).map_err(RepoError::disk(&shelf))?;
    let place = Place::named(&shelf, &format!("{id}-{VERSION}-{}", trees.edition()));
    if let Some(found) = place.find().map_err(RepoError::disk(&place.lock))? {
        return Ok(found);
    }
    let _gate = gate(&shelf).map_err(RepoError::disk(&shelf))?;
    // Another process may have written it while this one waited for the lock.
    if let Some(found) = place.find().map_err(RepoError::disk(&place.lock))? {
        return Ok(found);
    }
    place.write(&Stores::open(&trees.home, root)?, id, trees.gate(tree).as_ref())?;
    let made = place.find().map_err(RepoError::disk(&place.lock))?;
    sweep(&shelf).map_err(RepoError::disk(&shelf))?;
    made.ok_or_else(|| {
        RepoError::disk(&place.folder)(io::Error::other("it has vanished while it was made"))
    })
}

/// Parses a full tree id. It becomes part of a path, so nothing else is valid.
fn id(tree: &str) -> Result<Oid, RepoError> {
    let id = Oid::from_str(tree).ok().filter(|id| id.to_string().eq_ignore_ascii_case(tree));
    id.ok_or_else(|| RepoError::NoId { given: tree.to_owned() })
}

/// Takes the exclusive lock of the cache, needed to write or evict.
fn gate(shelf: &Path) -> io::Result<File> {
    let gate = disk::lock_file(&shelf.join("gate"))?;
    gate.lock()?;
    Ok(gate)
}

impl Place {
    fn named(shelf: &Path, name: &str) -> Place {
        let beside = |ending: &str| shelf.join(format!("{name}.{ending}"));
        let (list, lock, draft) = (beside("json"), beside("lock"), beside("tmp"));
        Place { folder: shelf.join(name), list, lock, draft }
    }

    /// Opens the snapshot and takes its shared lock. None on a cache miss.
    fn find(&self) -> io::Result<Option<Snapshot>> {
        let lock = loop {
            let lock = disk::lock_file(&self.lock)?;
            lock.lock_shared()?;
            // The lock file may have been deleted between open and lock, so retry.
            if disk::bears(&lock, &self.lock) {
                break lock;
            }
        };
        let Some(copied) = self.listed().filter(|_| self.folder.is_dir()) else { return Ok(None) };
        lock.set_modified(SystemTime::now())?;
        let Copied { files, bytes, left_out } = copied;
        Ok(Some(Snapshot { folder: self.folder.clone(), files, bytes, left_out, _in_use: lock }))
    }

    fn listed(&self) -> Option<Copied> {
        serde_json::from_slice(&fs::read(&self.list).ok()?).ok()
    }

    /// Writes the snapshot. The caller must hold the lock of the cache.
    fn write(&self, stores: &Stores, tree: Oid, gate: Option<&Redactor>) -> Result<(), RepoError> {
        let draft = Draft::new(&self.draft).map_err(RepoError::disk(&self.draft))?;
        let copied = copy::write(stores, tree, draft.0, gate)?;
        self.list(&copied).map_err(RepoError::disk(&self.list))?;
        // A complete snapshot without a manifest may be in use, and stays then.
        if self.folder.is_dir() && !self.remove_folder().map_err(RepoError::disk(&self.folder))? {
            return Ok(());
        }
        fs::rename(draft.0, &self.folder).map_err(RepoError::disk(&self.folder))
    }

    fn list(&self, copied: &Copied) -> io::Result<()> {
        let folder = self.list.parent().ok_or(io::ErrorKind::NotFound)?;
        let mut file = tempfile::Builder::new().suffix(".tmp").tempfile_in(folder)?;
        file.write_all(&serde_json::to_vec(copied)?)?;
        file.persist(&self.list).map_err(|error| error.error)?;
        Ok(())
    }

    /// Deletes the folder unless it is in use. Returns whether it did.
    fn remove_folder(&self) -> io::Result<bool> {
        let lock = disk::lock_file(&self.lock)?;
        if lock.try_lock().is_err() {
            return Ok(false);
        }
        // Rename first, so that a half-deleted folder is never found under its name.
        let away = self.folder.with_extension("old.tmp");
        if away.is_dir() {
            disk::discard(&away)?;
        }
        fs::rename(&self.folder, &away)?;
        disk::discard(&away)?;
        Ok(true)
    }

    /// Evicts the snapshot with its manifest and lock file, unless it is in use.
    fn remove(&self) -> io::Result<bool> {
        if !self.remove_folder()? {
            return Ok(false);
        }
        // Either file may be missing already.
        let _ = fs::remove_file(&self.list);
        // Other systems cannot tell whether another process is just opening the lock file.
        #[cfg(unix)]
        let _ = fs::remove_file(&self.lock);
        Ok(true)
    }

    fn used(&self) -> SystemTime {
        let used = fs::metadata(&self.lock).and_then(|found| found.modified());
        used.unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// Deletes leftovers of crashes and evicts the least recently used snapshots over the limit. The
/// caller must hold the lock of the cache.
fn sweep(shelf: &Path) -> io::Result<()> {
    let mut places = vec![];
    for entry in fs::read_dir(shelf)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type()?.is_dir();
        if entry.path().extension().is_some_and(|ending| ending == "tmp") {
            // This process has the only write lock, so the file is left from a crash.
            let _ = if is_folder {
                disk::discard(&entry.path())
            } else {
                fs::remove_file(entry.path())
            };
        } else if is_folder {
            let place = Place::named(shelf, &name);
            places.push((place.used(), name, place));
        }
    }
    places.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let mut many = places.len().saturating_sub(MOST);
    for (_, _, place) in places {
        // On an error the next run retries.
        if many > 0 && place.remove().unwrap_or(false) {
            many -= 1;
        }
    }
    Ok(())
}

/// Temporary folder, deleted on drop unless it was renamed into place.
struct Draft<'a>(&'a Path);

impl Draft<'_> {
    fn new(path: &Path) -> io::Result<Draft<'_>> {
        if path.is_dir() {
            disk::discard(path)?;
        }
        private::folder(path)?;
        Ok(Draft(path))
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if self.0.is_dir() {
            let _ = disk::discard(self.0);
        }
    }
}
