//! One writer per debate, across processes. A lease names its holder and an epoch; every append
//! checks the epoch in its own transaction, so a process that slept through a take-over cannot
//! become a second writer. A locked file tells at once whether a holder is alive, and in it stands
//! who that is; a holder that is alive, but whose heart has stopped for long enough, has lost its
//! leases all the same, and so has one whose debate somebody has taken over.
use super::archive::Database;
use super::schema::broken;
use crate::engine::{ArchiveError, Claim, Clock};
use crate::private;
use crate::report::text::one_line;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How long a heart may stop, in milliseconds.
pub(super) const PATIENCE: i64 = 30_000;
/// Characters of what a process calls itself.
const LONGEST_NAME: usize = 60;

/// A file that is locked for as long as this process lives: others can tell that it does, and read
/// who it is.
pub(super) struct Presence {
    name: String,
    path: PathBuf,
    lock: Mutex<File>,
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
        Ok(Presence { name, path, lock: Mutex::new(lock) })
    }

    /// Says who this is. Whoever cannot read it knows the process all the same.
    pub(super) fn announce(&self, who: &str) -> io::Result<()> {
        let mut file = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        file.rewind()?;
        file.write_all(who.as_bytes())?;
        file.set_len(who.len() as u64)
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

/// Whether the process that calls itself so still lives. Whoever asks shares the lock with others
/// that ask at this instant, and with nobody who lives.
fn lives(home: &Path, name: &str) -> bool {
    let path = home.join("presence").join(name);
    let Ok(file) = File::options().write(true).open(&path) else { return false };
    let dead = file.try_lock_shared().is_ok();
    if dead {
        let _ = fs::remove_file(&path);
    }
    !dead
}

/// What a process may call itself: a line that can be shown.
pub(super) fn called(who: &str) -> String {
    one_line(who).chars().take(LONGEST_NAME).collect()
}

/// A lease as it stands in its row: the epoch, whose it is, and when that one's heart last beat.
type Row = (i64, Option<String>, i64);

fn row(connection: &Connection, debate: i64) -> Result<Row, ArchiveError> {
    let row = connection
        .prepare_cached("SELECT epoch, holder, beat_at FROM leases WHERE debate_id = ?1")
        .and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            statement.query_row([debate], read).optional()
        })
        .map_err(broken)?;
    Ok(row.unwrap_or((0, None, 0)))
}

/// Takes the lease of a debate, if nobody has it or it is to be taken over, and returns its epoch.
pub(super) fn take(
    change: &Transaction<'_>,
    home: &Path,
    presence: &Presence,
    (debate, id): (i64, &str),
    now: i64,
    claim: Claim,
) -> Result<i64, ArchiveError> {
    let (epoch, holder, beat) = row(change, debate)?;
    if claim == Claim::Free
        && let Some(holder) = holder_of(home, holder, beat, now)
    {
        return Err(ArchiveError::Busy { id: id.into(), holder });
    }
    // Whoever spoke there speaks no longer.
    change.execute("DELETE FROM live WHERE debate_id = ?1", [debate]).map_err(broken)?;
    change
        .execute(
            "INSERT INTO leases (debate_id, epoch, holder, beat_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (debate_id) DO UPDATE SET epoch = ?2, holder = ?3, beat_at = ?4",
            params![debate, epoch + 1, presence.name(), now],
        )
        .map_err(broken)?;
    Ok(epoch + 1)
}

/// Who runs a debate, in words, if anyone does.
pub(super) fn holder(
    connection: &Connection,
    home: &Path,
    debate: i64,
    now: i64,
) -> Result<Option<String>, ArchiveError> {
    let (_, holder, beat) = row(connection, debate)?;
    Ok(holder_of(home, holder, beat, now))
}

/// Who runs a debate, in words, if whoever is said to is alive and awake.
fn holder_of(home: &Path, holder: Option<String>, beat: i64, now: i64) -> Option<String> {
    let asleep = now.saturating_sub(beat) > PATIENCE;
    let name = holder.filter(|name| !asleep && lives(home, name))?;
    let process = format!("process {}", name.split('-').next().unwrap_or(&name));
    let mut who = String::new();
    let read = File::open(home.join("presence").join(&name))
        .and_then(|file| file.take(4 * LONGEST_NAME as u64).read_to_string(&mut who));
    let who = called(&who);
    Some(if read.is_ok() && !who.is_empty() { format!("{who} ({process})") } else { process })
}

/// A lease that was taken.
#[derive(Clone)]
pub(super) struct Lease {
    pub(super) database: Arc<Database>,
    pub(super) home: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) row: i64,
    pub(super) epoch: i64,
}

impl Lease {
    /// Who has taken it over, if anybody has.
    pub(super) fn lost(&self, connection: &Connection) -> Result<Option<String>, ArchiveError> {
        let (epoch, holder, beat) = row(connection, self.row)?;
        if epoch == self.epoch {
            return Ok(None);
        }
        // Whoever it was may have finished meanwhile.
        let holder = holder_of(&self.home, holder, beat, self.clock.now());
        Ok(Some(holder.unwrap_or_else(|| "another process".into())))
    }

    /// Gives it up, unless it is somebody else's by now.
    pub(super) fn give_up(&self) {
        let _ = self.database.with(|connection| {
            connection
                .execute(
                    "UPDATE leases SET holder = NULL WHERE debate_id = ?1 AND epoch = ?2",
                    params![self.row, self.epoch],
                )
                .and_then(|given_up| match given_up {
                    0 => Ok(0),
                    _ => connection.execute("DELETE FROM live WHERE debate_id = ?1", [self.row]),
                })
                .map_err(broken)
        });
    }
}
