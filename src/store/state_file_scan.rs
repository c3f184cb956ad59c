//! Finds and parses the state files of a repository. Symlinks that lead out of it are refused.
use crate::engine::{ArchiveError, ForeignDebate, FoundStateFile};
use crate::secure_fs;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Size limit of a state file in bytes.
const MAX_STATE_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// Reads each of these files that exists, without duplicates, and parses it with `parse`.
pub(super) fn scan(
    root: &Path,
    files: &[PathBuf],
    parse: impl Fn(&str) -> Result<ForeignDebate, ArchiveError>,
) -> Vec<FoundStateFile> {
    let mut seen: Vec<PathBuf> = vec![];
    let mut found = vec![];
    for path in files {
        let text = match read_regular_file(root, path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                let content = Err(ArchiveError::UnreadableFile(error.to_string()));
                found.push(FoundStateFile { path: path.clone(), content });
                continue;
            }
        };
        // Two paths may lead to the same file through a symlink.
        let canonical = dunce::canonicalize(path).unwrap_or_else(|_| path.clone());
        if !seen.contains(&canonical) {
            found.push(FoundStateFile { path: path.clone(), content: parse(&text) });
            seen.push(canonical);
        }
    }
    found
}

/// Reads a regular file inside the repository. Pipes are refused because they could block, symlinks
/// because they could expose the user's other files.
fn read_regular_file(root: &Path, path: &Path) -> io::Result<String> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if let Some(folder) = path.parent() {
        secure_fs::check_within(root, folder)?;
    }
    if metadata.len() > MAX_STATE_FILE_BYTES {
        return Err(io::Error::other(format!("it is larger than {MAX_STATE_FILE_BYTES} bytes")));
    }
    let mut bytes = vec![];
    File::open(path)?.take(MAX_STATE_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_file_of_32_mib_is_read_and_a_larger_one_refused() {
        assert_eq!(MAX_STATE_FILE_BYTES, 32 * 1024 * 1024);
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("last-debate.json");
        // A sparse file, which takes no space on disk.
        let file = File::create(&path).unwrap();
        file.set_len(MAX_STATE_FILE_BYTES).unwrap();
        let text = read_regular_file(root.path(), &path).unwrap();
        assert_eq!(text.len() as u64, MAX_STATE_FILE_BYTES);
        file.set_len(MAX_STATE_FILE_BYTES + 1).unwrap();
        let error = read_regular_file(root.path(), &path).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 33554432 bytes");
    }
}
