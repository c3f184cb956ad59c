//! File system helpers: bounded reads of the user's files without following links, lock files,
//! private folders (mode 0700) and read-only files and folders.
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Result of reading a file of the user.
pub(super) enum DiskRead {
    Missing,
    Link,
    TooLarge,
    Unreadable,
    Bytes(Vec<u8>),
}

/// Converts a git path (bytes) to a system path. None if the system cannot represent it.
pub(super) fn path_from_bytes(bytes: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    let path =
        Some(PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)));
    #[cfg(not(unix))]
    let path = std::str::from_utf8(bytes).ok().map(PathBuf::from);
    path
}

/// Reads one regular file below `top`, up to `max_bytes` bytes. A path through a linked folder
/// counts as missing, as in git.
pub(super) fn read_file(top: &Path, relative: &Path, max_bytes: u64) -> DiskRead {
    let folders = relative.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let is_link =
        |path: PathBuf| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if folders.into_iter().any(|folder| is_link(top.join(folder))) {
        return DiskRead::Missing;
    }
    let full_path = top.join(relative);
    let metadata = match fs::symlink_metadata(&full_path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) => return DiskRead::Missing,
        Err(_) => return DiskRead::Unreadable,
    };
    if metadata.is_symlink() {
        return DiskRead::Link;
    }
    // A folder replaced the file, so the file is deleted. The folder's files have entries of their
    // own.
    if metadata.is_dir() {
        return DiskRead::Missing;
    }
    if !metadata.is_file() {
        return DiskRead::Unreadable;
    }
    if metadata.len() > max_bytes {
        return DiskRead::TooLarge;
    }
    read_bounded(&full_path, max_bytes).unwrap_or(DiskRead::Unreadable)
}

fn read_bounded(path: &Path, max_bytes: u64) -> io::Result<DiskRead> {
    let mut bytes = vec![];
    // The file may grow during the read.
    File::open(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > max_bytes { DiskRead::TooLarge } else { DiskRead::Bytes(bytes) })
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Opens a lock file, and creates it if missing.
pub(super) fn open_lock_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether an open file is still the one at this path (same device and inode).
pub(super) fn is_same_file(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    let is_same = {
        use std::os::unix::fs::MetadataExt;
        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        file.metadata().ok().map(identity) == fs::metadata(path).ok().map(identity)
    };
    // Other systems do not delete lock files, so the path is never reused.
    #[cfg(not(unix))]
    let is_same = file.metadata().is_ok() && path.exists();
    is_same
}

/// Creates a new read-only file, optionally executable.
pub(super) fn create_read_only_file(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o500 } else { 0o400 });
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
}

/// Makes a folder accessible to its owner only.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    set_mode(folder, 0o700)
}

/// Makes a folder read-only: no entry can be added or removed.
pub(super) fn make_read_only(folder: &Path) -> io::Result<()> {
    set_mode(folder, 0o500)
}

/// Deletes a folder recursively, even if parts of it are read-only.
pub(super) fn remove_dir_forced(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        make_private(&folder)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // Type of the entry itself, so that links are not followed.
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    fs::remove_dir_all(folder)
}

#[cfg(unix)]
fn set_mode(folder: &Path, mode: u32) -> io::Result<()> {
    let permissions = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode);
    fs::set_permissions(folder, permissions)
}

// Systems without Unix modes need no change.
#[cfg(not(unix))]
fn set_mode(folder: &Path, _: u32) -> io::Result<()> {
    fs::symlink_metadata(folder).map(drop)
}

/// Whether a folder is a bare git repository.
pub(super) fn is_bare_repository(root: &Path) -> bool {
    let markers: [PathBuf; 3] = ["HEAD", "objects", "refs"].map(|name| root.join(name));
    markers.iter().all(|path| path.exists())
}
