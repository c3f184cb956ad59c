//! Files and folders: private ones, ones that cannot be changed, and the user's, which are read
//! without following links.
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What stands at a path in the user's folder.
pub(super) enum Found {
    Nothing,
    Link,
    TooLarge,
    Unreadable,
    Bytes(Vec<u8>),
}

/// A path as git has it, as the system has it. None if the system has no such names.
pub(super) fn path(bytes: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    let path =
        Some(PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)));
    #[cfg(not(unix))]
    let path = std::str::from_utf8(bytes).ok().map(PathBuf::from);
    path
}

/// Reads one file below a folder, if it is there, is a file and is not too large. What can be
/// reached only through a link is not there: git does not see it either.
pub(super) fn read(top: &Path, below: &Path, largest: u64) -> Found {
    let folders = below.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let is_link = |path: PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if folders.into_iter().any(|folder| is_link(top.join(folder))) {
        return Found::Nothing;
    }
    let whole = top.join(below);
    let found = match fs::symlink_metadata(&whole) {
        Ok(found) => found,
        Err(error) if missing(&error) => return Found::Nothing,
        Err(_) => return Found::Unreadable,
    };
    if found.is_symlink() {
        return Found::Link;
    }
    // Where a file was and a folder is, the file is gone; what is in the folder speaks for itself.
    if found.is_dir() {
        return Found::Nothing;
    }
    if !found.is_file() {
        return Found::Unreadable;
    }
    if found.len() > largest {
        return Found::TooLarge;
    }
    bytes(&whole, largest).unwrap_or(Found::Unreadable)
}

fn bytes(path: &Path, largest: u64) -> io::Result<Found> {
    let mut bytes = vec![];
    // It may be growing while it is read.
    File::open(path)?.take(largest + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > largest { Found::TooLarge } else { Found::Bytes(bytes) })
}

fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Opens a file to be locked, and makes it if need be.
pub(super) fn lock_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether an open file is the one that bears this name now.
pub(super) fn bears(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    let bears = {
        use std::os::unix::fs::MetadataExt;
        let known = |found: fs::Metadata| (found.dev(), found.ino());
        file.metadata().ok().map(known) == fs::metadata(path).ok().map(known)
    };
    // Elsewhere it is never given to another file.
    #[cfg(not(unix))]
    let bears = file.metadata().is_ok() && path.exists();
    bears
}

/// Makes a new file that can be read, and perhaps run, but not changed.
pub(super) fn frozen_file(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o500 } else { 0o400 });
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
}

/// Only its owner can look into a folder from now on.
pub(super) fn keep_private(folder: &Path) -> io::Result<()> {
    mode(folder, 0o700)
}

/// Nothing can be put into a folder, or taken out of it, any more.
pub(super) fn freeze(folder: &Path) -> io::Result<()> {
    mode(folder, 0o500)
}

/// Removes a folder that may be frozen, with all that is in it.
pub(super) fn discard(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        keep_private(&folder)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // The type of the entry itself: a link somebody has put there is not followed.
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    fs::remove_dir_all(folder)
}

#[cfg(unix)]
fn mode(folder: &Path, mode: u32) -> io::Result<()> {
    let permissions = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode);
    fs::set_permissions(folder, permissions)
}

// Other systems have no such modes, and there is nothing to be done or undone.
#[cfg(not(unix))]
fn mode(folder: &Path, _: u32) -> io::Result<()> {
    fs::symlink_metadata(folder).map(drop)
}
