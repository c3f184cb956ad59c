//! Stores the credentials of a seat on disk until the debate is over, so that a restarted process
//! can resume. One JSON file per seat, readable by its owner only, with a lock file that keeps two
//! processes from using the same seat.
use super::address::Address;
use super::wire::{Key, Pass, Turn};
use crate::private;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a credentials file in bytes.
const LONGEST: u64 = 64 * 1024;

/// Folder of the credentials files.
#[derive(Clone, Debug)]
pub struct Memory(PathBuf);

/// Content of a credentials file. It has no `Debug`, so that the key is never printed.
#[derive(Clone, Serialize, Deserialize)]
struct Record {
    v: u8,
    platform: String,
    debate: String,
    identifier: String,
    key: String,
    name: String,
    /// The turn that was due at the last write.
    #[serde(default)]
    turn: Option<Due>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Due {
    round: u32,
    spoken: usize,
    /// Unix time in milliseconds.
    since: i64,
}

/// Credentials of a seat, locked by this process.
pub struct Kept {
    record: Record,
    path: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl Memory {
    /// Store in the user's `DEBATE_HOME`.
    pub fn at(home: &Path) -> Memory {
        Memory(home.join("guest"))
    }

    /// Loads and locks the credentials for a debate and bot name. `None` if there are none or
    /// another process holds the lock.
    pub fn recall(&self, at: &Address, debate: &str, name: &str) -> Option<Kept> {
        let fits =
            |it: &Record| it.platform == at.to_string() && it.debate == debate && it.name == name;
        self.records().into_iter().filter(|(_, it)| fits(it)).find_map(|(path, _)| {
            let (lock, held) = locked(&path).ok()?;
            // The previous owner of the lock may have deleted the file.
            let record = read(&path)?;
            Some(Kept { record, path, lock, _held: held })
        })
    }

    /// Saves and locks the credentials of a new seat.
    pub fn keep(&self, at: &Address, pass: &Pass, name: &str) -> io::Result<Kept> {
        private::create_private_dir(&self.0)?;
        let platform = at.to_string();
        let seat = format!("{platform}\n{}\n{}", pass.debate, pass.identifier);
        let digest = Sha256::digest(seat);
        let word = digest[..8].iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        let path = self.0.join(format!("{word:016x}.json"));
        let (lock, held) = locked(&path)?;
        let record = Record {
            v: 1,
            platform,
            debate: pass.debate.clone(),
            identifier: pass.identifier.clone(),
            key: pass.key.0.clone(),
            name: name.into(),
            turn: None,
        };
        let kept = Kept { record, path, lock, _held: held };
        kept.write()?;
        Ok(kept)
    }

    /// Debates on a server that no process plays: debate id and bot name.
    pub fn left(&self, at: &Address) -> Vec<(String, String)> {
        let here = |it: &Record| it.platform == at.to_string();
        let own = self.records().into_iter().filter(|(_, it)| here(it));
        let free = own.filter(|(path, _)| locked(path).is_ok());
        free.map(|(_, it)| (it.debate, it.name)).collect()
    }

    fn records(&self) -> Vec<(PathBuf, Record)> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut paths: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
        paths.sort();
        paths.into_iter().filter_map(|path| Some((path.clone(), read(&path)?))).collect()
    }
}

impl Kept {
    /// The stored credentials.
    pub fn pass(&self) -> Pass {
        Pass {
            debate: self.record.debate.clone(),
            identifier: self.record.identifier.clone(),
            key: Key(self.record.key.clone()),
            topic: String::new(),
            long_poll: false,
        }
    }

    /// Time since which a turn is due, as Unix milliseconds. The first call per turn stores the
    /// time, so that it survives a restart.
    pub fn due(&mut self, (round, spoken): Turn, since: i64) -> i64 {
        let known = self.record.turn.filter(|due| (due.round, due.spoken) == (round, spoken));
        if let Some(known) = known {
            return known.since;
        }
        self.record.turn = Some(Due { round, spoken, since });
        // An error is not fatal. After a restart the time left would only be less exact.
        let _ = self.write();
        since
    }

    /// Deletes the files, after the debate is over or the seat is lost.
    pub fn forget(self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.lock);
    }

    fn write(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let text = serde_json::to_vec(&self.record).map_err(io::Error::other)?;
        // The temporary file has mode 0600 and keeps it when renamed.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&text)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

fn read(path: &Path) -> Option<Record> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = vec![];
    File::open(path).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Acquires the lock file. The lock is released when the file is closed.
fn locked(path: &Path) -> io::Result<(PathBuf, File)> {
    let lock = path.with_extension("lock");
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&lock)?;
    file.try_lock().map_err(io::Error::from)?;
    Ok((lock, file))
}
