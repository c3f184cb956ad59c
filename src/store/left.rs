//! State files that lie in a repository: what each holds, if it lies where it seems to.
use crate::engine::{ArchiveError, Foreign, Left};
use crate::private;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a file: more than any debate has.
const LONGEST: u64 = 32 * 1024 * 1024;

/// Every one of these files that is there, each once, and what it holds.
pub(super) fn behind(
    root: &Path,
    files: &[PathBuf],
    holds: impl Fn(&str) -> Result<Foreign, ArchiveError>,
) -> Vec<Left> {
    let mut seen: Vec<PathBuf> = vec![];
    let mut found = vec![];
    for path in files {
        let text = match read(root, path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                let holds = Err(ArchiveError::Foreign(error.to_string()));
                found.push(Left { path: path.clone(), holds });
                continue;
            }
        };
        // One folder may be a link to another.
        let whole = dunce::canonicalize(path).unwrap_or_else(|_| path.clone());
        if !seen.contains(&whole) {
            found.push(Left { path: path.clone(), holds: holds(&text) });
            seen.push(whole);
        }
    }
    found
}

/// The text of a file. What is no plain file is not opened, because a pipe would never end, and a
/// repository must not choose which of the user's other files is read.
fn read(root: &Path, path: &Path) -> io::Result<String> {
    let about = fs::symlink_metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    if let Some(folder) = path.parent() {
        private::within(root, folder)?;
    }
    if about.len() > LONGEST {
        return Err(io::Error::other(format!("it is over {LONGEST} bytes")));
    }
    let mut bytes = vec![];
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
