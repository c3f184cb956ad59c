//! Leases: one writer per debate, across processes. A lease has a holder and an epoch (fencing
//! token); every append checks the epoch in its own transaction, so a process that slept through a
//! take-over cannot write. A holder is alive while its presence file is locked and its heartbeat is
//! not older than [`LEASE_TIMEOUT_MS`]. `lease_monitor` writes the heartbeats and notices
//! take-overs.
use super::database::Database;
use super::schema::sqlite_error;
use crate::engine::{ArchiveError, Clock, LeaseMode};
use crate::report::sanitize::one_line;
use crate::secure_fs;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Age of a heartbeat at which a lease expires, in milliseconds.
pub(super) const LEASE_TIMEOUT_MS: i64 = 30_000;
/// Limit of a process name in characters.
const MAX_NAME_CHARS: usize = 60;

/// Lock file that shows other processes that this one is alive. The operating system releases the
/// lock when the process ends; the file contains the name of the process.
pub(super) struct PresenceLock {
    name: String,
    path: PathBuf,
    lock: Mutex<File>,
}

impl PresenceLock {
    pub(super) fn new(home: &Path) -> io::Result<PresenceLock> {
        let folder = home.join("presence");
        secure_fs::create_private_dir(&folder)?;
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let name = format!("{}-{:08x}", std::process::id(), u32::from_be_bytes(bytes));
        let path = folder.join(&name);
        let lock = File::options().write(true).create_new(true).open(&path)?;
        lock.lock()?;
        Ok(PresenceLock { name, path, lock: Mutex::new(lock) })
    }

    /// Writes the name of this process to the lock file. Readers fall back to the process id.
    pub(super) fn announce(&self, display_name: &str) -> io::Result<()> {
        let mut file = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        file.rewind()?;
        file.write_all(display_name.as_bytes())?;
        file.set_len(display_name.len() as u64)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for PresenceLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the process with this presence file is alive, which is so while the file is locked. The
/// check uses a shared lock, so that concurrent checks do not mistake each other for the process.
/// The file of a dead process is deleted.
fn is_alive(home: &Path, name: &str) -> bool {
    let path = home.join("presence").join(name);
    let Ok(file) = File::options().write(true).open(&path) else { return false };
    let dead = file.try_lock_shared().is_ok();
    if dead {
        let _ = fs::remove_file(&path);
    }
    !dead
}

/// Sanitizes a process name: one printable line of at most [`MAX_NAME_CHARS`].
pub(super) fn sanitize_name(display_name: &str) -> String {
    one_line(display_name).chars().take(MAX_NAME_CHARS).collect()
}

/// A row of the table `leases`: epoch, holder, time of the last heartbeat.
type LeaseRow = (i64, Option<String>, i64);

fn read_lease(connection: &Connection, debate_row: i64) -> Result<LeaseRow, ArchiveError> {
    let row = connection
        .prepare_cached("SELECT epoch, holder, beat_at FROM leases WHERE debate_id = ?1")
        .and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            statement.query_row([debate_row], read).optional()
        })
        .map_err(sqlite_error)?;
    Ok(row.unwrap_or((0, None, 0)))
}

/// Acquires the lease of a debate if it is free, or by take-over, and returns the new epoch.
pub(super) fn acquire(
    transaction: &Transaction<'_>,
    home: &Path,
    presence: &PresenceLock,
    (debate_row, id): (i64, &str),
    now: i64,
    mode: LeaseMode,
) -> Result<i64, ArchiveError> {
    let (epoch, holder, last_heartbeat) = read_lease(transaction, debate_row)?;
    if mode == LeaseMode::IfFree
        && let Some(holder) = describe_holder(home, holder, last_heartbeat, now)
    {
        return Err(ArchiveError::LeaseHeld { id: id.into(), holder });
    }
    // Partial texts of the previous holder are obsolete.
    transaction
        .execute("DELETE FROM live WHERE debate_id = ?1", [debate_row])
        .map_err(sqlite_error)?;
    transaction
        .execute(
            "INSERT INTO leases (debate_id, epoch, holder, beat_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (debate_id) DO UPDATE SET epoch = ?2, holder = ?3, beat_at = ?4",
            params![debate_row, epoch + 1, presence.name(), now],
        )
        .map_err(sqlite_error)?;
    Ok(epoch + 1)
}

/// The current holder of a debate's lease, as text for the user.
pub(super) fn find_holder(
    connection: &Connection,
    home: &Path,
    debate_row: i64,
    now: i64,
) -> Result<Option<String>, ArchiveError> {
    let (_, holder, last_heartbeat) = read_lease(connection, debate_row)?;
    Ok(describe_holder(home, holder, last_heartbeat, now))
}

/// Describes the holder of a lease; none if the lease has expired or the process is dead.
fn describe_holder(
    home: &Path,
    holder: Option<String>,
    last_heartbeat: i64,
    now: i64,
) -> Option<String> {
    let is_expired = now.saturating_sub(last_heartbeat) > LEASE_TIMEOUT_MS;
    let name = holder.filter(|name| !is_expired && is_alive(home, name))?;
    let process = format!("process {}", name.split('-').next().unwrap_or(&name));
    let mut display_name = String::new();
    let read_result = File::open(home.join("presence").join(&name))
        .and_then(|file| file.take(4 * MAX_NAME_CHARS as u64).read_to_string(&mut display_name));
    let display_name = sanitize_name(&display_name);
    Some(if read_result.is_ok() && !display_name.is_empty() {
        format!("{display_name} ({process})")
    } else {
        process
    })
}

/// A lease that this process has acquired.
#[derive(Clone)]
pub(super) struct Lease {
    pub(super) database: Arc<Database>,
    pub(super) home: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) debate_row: i64,
    pub(super) epoch: i64,
}

impl Lease {
    /// The new holder, if the lease was taken over.
    pub(super) fn lost_to(&self, connection: &Connection) -> Result<Option<String>, ArchiveError> {
        let (epoch, holder, last_heartbeat) = read_lease(connection, self.debate_row)?;
        if epoch == self.epoch {
            return Ok(None);
        }
        // The new holder may have released it already.
        let holder = describe_holder(&self.home, holder, last_heartbeat, self.clock.now());
        Ok(Some(holder.unwrap_or_else(|| "another process".into())))
    }

    /// Releases the lease, unless it was taken over.
    pub(super) fn release(&self) {
        let _ = self.database.with_connection(|connection| {
            connection
                .execute(
                    "UPDATE leases SET holder = NULL WHERE debate_id = ?1 AND epoch = ?2",
                    params![self.debate_row, self.epoch],
                )
                .and_then(|released| {
                    if released == 0 {
                        Ok(0)
                    } else {
                        let Lease { debate_row, epoch, .. } = *self;
                        tracing::debug!(debate_row, epoch, "lease released");
                        connection.execute("DELETE FROM live WHERE debate_id = ?1", [debate_row])
                    }
                })
                .map_err(sqlite_error)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_expires_30_s_after_its_last_heartbeat() {
        assert_eq!(LEASE_TIMEOUT_MS, 30_000);
        let home = tempfile::tempdir().unwrap();
        let presence = PresenceLock::new(home.path()).unwrap();
        let holder_at =
            |now: i64| describe_holder(home.path(), Some(presence.name().to_owned()), 0, now);
        assert!(holder_at(LEASE_TIMEOUT_MS).is_some());
        assert_eq!(holder_at(LEASE_TIMEOUT_MS + 1), None);
    }

    #[test]
    fn name_of_a_holder_keeps_60_characters() {
        assert_eq!(MAX_NAME_CHARS, 60);
        for length in [MAX_NAME_CHARS, MAX_NAME_CHARS + 1] {
            assert_eq!(sanitize_name(&"é".repeat(length)), "é".repeat(MAX_NAME_CHARS));
        }
    }
}
