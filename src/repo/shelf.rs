//! The copies that are kept. A folder is written aside and moved to its place, so it is whole
//! whenever it is there. Whoever uses one holds a shared lock on a file beside it; whoever writes
//! or removes any goes through one gate, and removes only what nobody holds.
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

/// What is in a copy of a given tree. Another number, and all copies are made anew.
const VERSION: u32 = 1;
/// Copies that are kept, besides those in use.
const MOST: usize = 16;

/// A copy of a tree that nobody can write to. It stays for as long as this is held.
#[derive(Debug)]
pub struct Snapshot {
    /// Where it is.
    pub folder: PathBuf,
    /// How many files it has.
    pub files: usize,
    /// How many bytes they have together.
    pub bytes: u64,
    /// What is in the tree and not in the copy.
    pub left_out: Vec<LeftOut>,
    _in_use: File,
}

/// The place of one copy, and of what belongs to it.
struct Place {
    folder: PathBuf,
    list: PathBuf,
    lock: PathBuf,
    draft: PathBuf,
}

/// Finds the copy of a tree, or makes it.
pub(super) fn snapshot(trees: &Trees, root: &Path, tree: &str) -> Result<Snapshot, RepoError> {
    let id = id(tree)?;
    let shelf = trees.home.join("snapshots");
    private::folder(&shelf).map_err(RepoError::disk(&shelf))?;
    let place = Place::named(&shelf, &format!("{id}-{VERSION}-{}", trees.edition()));
    if let Some(found) = place.find().map_err(RepoError::disk(&place.lock))? {
        return Ok(found);
    }
    let _gate = gate(&shelf).map_err(RepoError::disk(&shelf))?;
    // Somebody may have made it while we stood at the gate.
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

/// The whole id and nothing else: it becomes a part of a path.
fn id(tree: &str) -> Result<Oid, RepoError> {
    let id = Oid::from_str(tree).ok().filter(|id| id.to_string().eq_ignore_ascii_case(tree));
    id.ok_or_else(|| RepoError::NoId { given: tree.to_owned() })
}

/// Held by the one who writes or removes copies.
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

    /// The copy, if it is there, held from now on.
    fn find(&self) -> io::Result<Option<Snapshot>> {
        let lock = loop {
            let lock = disk::lock_file(&self.lock)?;
            lock.lock_shared()?;
            // It may have been thrown away between being opened and being locked.
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

    /// Makes the copy. Only whoever holds the gate may.
    fn write(&self, stores: &Stores, tree: Oid, gate: Option<&Redactor>) -> Result<(), RepoError> {
        let draft = Draft::new(&self.draft).map_err(RepoError::disk(&self.draft))?;
        let copied = copy::write(stores, tree, draft.0, gate)?;
        self.list(&copied).map_err(RepoError::disk(&self.list))?;
        // One that lacks its list may be in use all the same. It is whole, and may stay.
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

    /// Removes the folder, unless it is in use, and says whether it did.
    fn remove_folder(&self) -> io::Result<bool> {
        let lock = disk::lock_file(&self.lock)?;
        if lock.try_lock().is_err() {
            return Ok(false);
        }
        // Away from its name first, so that no half of it is ever found there.
        let away = self.folder.with_extension("old.tmp");
        if away.is_dir() {
            disk::discard(&away)?;
        }
        fs::rename(&self.folder, &away)?;
        disk::discard(&away)?;
        Ok(true)
    }

    /// Removes the copy and all that belongs to it, unless it is in use.
    fn remove(&self) -> io::Result<bool> {
        if !self.remove_folder()? {
            return Ok(false);
        }
        // Either may have been lost before.
        let _ = fs::remove_file(&self.list);
        // Elsewhere it cannot be told whether somebody is just opening this one.
        #[cfg(unix)]
        let _ = fs::remove_file(&self.lock);
        Ok(true)
    }

    fn used(&self) -> SystemTime {
        let used = fs::metadata(&self.lock).and_then(|found| found.modified());
        used.unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// Removes what was left half made, and the copies used longest ago that are too many. Only whoever
/// holds the gate may.
fn sweep(shelf: &Path) -> io::Result<()> {
    let mut places = vec![];
    for entry in fs::read_dir(shelf)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type()?.is_dir();
        if entry.path().extension().is_some_and(|ending| ending == "tmp") {
            // Nobody else is writing, so this is what a crash has left.
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
        // What cannot be removed now can be the next time.
        if many > 0 && place.remove().unwrap_or(false) {
            many -= 1;
        }
    }
    Ok(())
}

/// A folder in the making. It does not outlive whoever holds this, unless it was given a name.
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
