//! One writer per debate, across processes. A lease names its holder and an epoch; every append
//! checks the epoch in its own transaction, so a process that slept through a take-over cannot
//! become a second writer. A locked file tells at once whether a holder is alive; a holder that is,
//! but whose heart has stopped for long enough, has lost its leases all the same.
use super::schema::broken;
use crate::engine::ArchiveError;
use crate::private;
use rusqlite::{OptionalExtension, Transaction, params};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// How long a heart may stop, in milliseconds.
pub(super) const PATIENCE: i64 = 30_000;
/// How often it beats.
pub(super) const BEAT: std::time::Duration = std::time::Duration::from_secs(5);

/// A file that is locked for as long as this process lives: others can tell that it does.
pub(super) struct Presence {
    name: String,
    path: PathBuf,
    _lock: File,
}

impl Presence {
    pub(super) fn new(home: &Path) -> io::Result<Presence> {
        let folder = home.join("presence");
        private::folder(&folder)?;
        let mut chance = [0; 4];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        let name = format!("{}-{:08x}", std::process::id(), u32::from_be_bytes(chance));
        let path = folder.join(&name);
        let lock = File::options().write(true).create_new(true).open(&path)?;
        lock.lock()?;
        Ok(Presence { name, path, _lock: lock })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the process that calls itself so still lives.
fn lives(home: &Path, name: &str) -> bool {
    let path = home.join("presence").join(name);
    // Somebody else may be asking the same question at this instant, so a lock is no proof yet.
    for _ in 0..3 {
        let Ok(file) = File::options().write(true).open(&path) else { return false };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    true
}

/// Takes the lease of a debate, if nobody has it, and returns its epoch.
pub(super) fn take(
    change: &Transaction<'_>,
    home: &Path,
    presence: &Presence,
    (debate, id): (i64, &str),
    now: i64,
) -> Result<i64, ArchiveError> {
    let held: Option<(i64, Option<String>, i64)> = change
        .query_row(
            "SELECT epoch, holder, beat_at FROM leases WHERE debate_id = ?1",
            [debate],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()
        .map_err(broken)?;
    let (epoch, holder, beat) = held.unwrap_or((0, None, 0));
    if let Some(holder) = holder_of(home, holder, beat, now) {
        return Err(ArchiveError::Busy { id: id.into(), holder });
    }
    change
        .execute(
            "INSERT INTO leases (debate_id, epoch, holder, beat_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (debate_id) DO UPDATE SET epoch = ?2, holder = ?3, beat_at = ?4",
            params![debate, epoch + 1, presence.name(), now],
        )
        .map_err(broken)?;
    Ok(epoch + 1)
}

/// Who runs a debate, in words, if whoever is said to is alive and awake.
pub(super) fn holder_of(
    home: &Path,
    holder: Option<String>,
    beat: i64,
    now: i64,
) -> Option<String> {
    let asleep = now.saturating_sub(beat) > PATIENCE;
    let name = holder.filter(|name| !asleep && lives(home, name))?;
    Some(format!("process {}", name.split('-').next().unwrap_or(&name)))
}
