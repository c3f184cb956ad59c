//! What must outlive this process: the key of a seat, in a file only its owner can read, until the
//! debate is over. Whoever sits there holds a lock, so that no seat is taken twice.
use super::address::Address;
use super::wire::{Key, Pass, Turn};
use crate::private;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes of such a file that are read.
const LONGEST: u64 = 64 * 1024;

/// Where seats are remembered.
#[derive(Clone, Debug)]
pub struct Memory(PathBuf);

/// As it is written. Nothing prints it.
#[derive(Clone, Serialize, Deserialize)]
struct Record {
    v: u8,
    platform: String,
    debate: String,
    identifier: String,
    key: String,
    name: String,
    /// The turn that was due when this was last written, and since when.
    #[serde(default)]
    turn: Option<Due>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Due {
    round: u32,
    spoken: usize,
    /// In milliseconds since 1970.
    since: i64,
}

/// A seat that is remembered, and held by this process.
pub struct Kept {
    record: Record,
    path: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl Memory {
    /// In the user's own folder.
    pub fn at(home: &Path) -> Memory {
        Memory(home.join("guest"))
    }

    /// The seat somebody of this name has in a debate, unless another process sits there.
    pub fn recall(&self, at: &Address, debate: &str, name: &str) -> Option<Kept> {
        let fits =
            |it: &Record| it.platform == at.to_string() && it.debate == debate && it.name == name;
        self.records().into_iter().filter(|(_, it)| fits(it)).find_map(|(path, _)| {
            let (lock, held) = locked(&path).ok()?;
            // Whoever had it may just have been done with it.
            let record = read(&path)?;
            Some(Kept { record, path, lock, _held: held })
        })
    }

    /// Remembers a seat that was given to us.
    pub fn keep(&self, at: &Address, pass: &Pass, name: &str) -> io::Result<Kept> {
        private::folder(&self.0)?;
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

    /// Debates on a platform that were left in the middle, with the names we go by in them.
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
    /// What was given to us.
    pub fn pass(&self) -> Pass {
        Pass {
            debate: self.record.debate.clone(),
            identifier: self.record.identifier.clone(),
            key: Key(self.record.key.clone()),
            topic: String::new(),
            long_poll: false,
        }
    }

    /// Since when a turn is due, in milliseconds since 1970: as it was noted when it was first seen,
    /// in whichever process, or noted now.
    pub fn due(&mut self, (round, spoken): Turn, since: i64) -> i64 {
        let known = self.record.turn.filter(|due| (due.round, due.spoken) == (round, spoken));
        if let Some(known) = known {
            return known.since;
        }
        self.record.turn = Some(Due { round, spoken, since });
        // Without it a restart would only know less about the time that is left.
        let _ = self.write();
        since
    }

    /// The debate is over, or the seat is lost.
    pub fn forget(self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.lock);
    }

    fn write(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let text = serde_json::to_vec(&self.record).map_err(io::Error::other)?;
        // A temporary file is readable by its owner only, and stays so under its new name.
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

/// A lock that is held for as long as the file is open.
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
