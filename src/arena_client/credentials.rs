//! Stores the credentials of a seat on disk until the debate is over, so that a restarted process
//! can resume. One JSON file per seat, readable by its owner only, with a lock file that keeps two
//! processes from using the same seat.
use super::arena_url::ArenaUrl;
use super::protocol::{SeatCredentials, SeatKey, TurnKey};
use crate::secure_fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a credentials file in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Folder of the credentials files.
#[derive(Clone, Debug)]
pub(crate) struct CredentialStore(PathBuf);

/// Content of a credentials file. It has no `Debug`, so that the key is never printed.
#[derive(Clone, Serialize, Deserialize)]
struct StoredCredentials {
    v: u8,
    platform: String,
    debate: String,
    identifier: String,
    key: String,
    name: String,
    /// The turn that was due at the last write.
    #[serde(default)]
    turn: Option<StoredDueTurn>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct StoredDueTurn {
    round: u32,
    spoken: usize,
    /// Unix time in milliseconds.
    since: i64,
}

/// Credentials of a seat, locked by this process.
pub(crate) struct LockedCredentials {
    record: StoredCredentials,
    path: PathBuf,
    lock_path: PathBuf,
    _lock_file: File,
}

impl CredentialStore {
    /// Store in the user's `DEBATE_HOME`.
    pub(crate) fn in_home(home: &Path) -> CredentialStore {
        CredentialStore(home.join("guest"))
    }

    /// Loads and locks the credentials for a debate and bot name. `None` if there are none or
    /// another process holds the lock.
    pub(crate) fn load(
        &self,
        url: &ArenaUrl,
        debate: &str,
        name: &str,
    ) -> Option<LockedCredentials> {
        let is_match = |it: &StoredCredentials| {
            it.platform == url.to_string() && it.debate == debate && it.name == name
        };
        self.read_all().into_iter().filter(|(_, it)| is_match(it)).find_map(|(path, _)| {
            let (lock_path, lock_file) = acquire_lock(&path).ok()?;
            // The previous owner of the lock may have deleted the file.
            let record = read_file(&path)?;
            Some(LockedCredentials { record, path, lock_path, _lock_file: lock_file })
        })
    }

    /// Saves and locks the credentials of a new seat.
    pub(crate) fn save(
        &self,
        url: &ArenaUrl,
        credentials: &SeatCredentials,
        name: &str,
    ) -> io::Result<LockedCredentials> {
        secure_fs::create_private_dir(&self.0)?;
        let platform = url.to_string();
        let seat_id = format!("{platform}\n{}\n{}", credentials.debate_id, credentials.identifier);
        let digest = Sha256::digest(seat_id);
        let hash = digest[..8].iter().fold(0u64, |hash, byte| hash << 8 | u64::from(*byte));
        let path = self.0.join(format!("{hash:016x}.json"));
        let (lock_path, lock_file) = acquire_lock(&path)?;
        let record = StoredCredentials {
            v: 1,
            platform,
            debate: credentials.debate_id.clone(),
            identifier: credentials.identifier.clone(),
            key: credentials.key.0.clone(),
            name: name.into(),
            turn: None,
        };
        let locked = LockedCredentials { record, path, lock_path, _lock_file: lock_file };
        locked.persist()?;
        Ok(locked)
    }

    /// Debates on a server that no process plays: debate id and bot name.
    pub(crate) fn unfinished_debates(&self, url: &ArenaUrl) -> Vec<(String, String)> {
        let is_on_server = |it: &StoredCredentials| it.platform == url.to_string();
        let on_server = self.read_all().into_iter().filter(|(_, it)| is_on_server(it));
        let unlocked = on_server.filter(|(path, _)| acquire_lock(path).is_ok());
        unlocked.map(|(_, it)| (it.debate, it.name)).collect()
    }

    fn read_all(&self) -> Vec<(PathBuf, StoredCredentials)> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut paths: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
        paths.sort();
        paths.into_iter().filter_map(|path| Some((path.clone(), read_file(&path)?))).collect()
    }
}

impl LockedCredentials {
    /// The stored credentials.
    pub(crate) fn credentials(&self) -> SeatCredentials {
        SeatCredentials {
            debate_id: self.record.debate.clone(),
            identifier: self.record.identifier.clone(),
            key: SeatKey(self.record.key.clone()),
            topic: String::new(),
            long_poll: false,
        }
    }

    /// Time since which a turn is due, as Unix milliseconds. The first call per turn stores the
    /// time, so that it survives a restart.
    pub(crate) fn turn_due_since(&mut self, (round, spoken): TurnKey, since: i64) -> i64 {
        let stored = self.record.turn.filter(|due| (due.round, due.spoken) == (round, spoken));
        if let Some(stored) = stored {
            return stored.since;
        }
        self.record.turn = Some(StoredDueTurn { round, spoken, since });
        // An error is not fatal. After a restart the time left would only be less exact.
        let _ = self.persist();
        since
    }

    /// Deletes the files, after the debate is over or the seat is lost.
    pub(crate) fn delete(self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.lock_path);
    }

    fn persist(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let text = serde_json::to_vec(&self.record).map_err(io::Error::other)?;
        // The temporary file has mode 0600 and keeps it when renamed.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&text)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

fn read_file(path: &Path) -> Option<StoredCredentials> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = vec![];
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Acquires the lock file. The lock is released when the file is closed.
fn acquire_lock(path: &Path) -> io::Result<(PathBuf, File)> {
    let lock_path = path.with_extension("lock");
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&lock_path)?;
    file.try_lock().map_err(io::Error::from)?;
    Ok((lock_path, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_file_has_at_most_64_kib() {
        let max = usize::try_from(MAX_FILE_BYTES).unwrap();
        assert_eq!(max, 65_536);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seat.json");
        let to_json = |name: String| {
            let (platform, debate) = ("http://localhost".into(), "d".into());
            let (identifier, key) = ("b".into(), "k".into());
            let record =
                StoredCredentials { v: 1, platform, debate, identifier, key, name, turn: None };
            serde_json::to_string(&record).unwrap()
        };
        let is_readable = |bytes: usize| {
            let text = to_json("n".repeat(bytes - to_json(String::new()).len()));
            assert_eq!(text.len(), bytes);
            fs::write(&path, text).unwrap();
            read_file(&path).is_some()
        };
        assert!(is_readable(max));
        assert!(!is_readable(max + 1));
    }
}
