//! Writes files that belong to the user: atomic replacement, backups, permissions kept, symlinks
//! followed.
use crate::secure_fs;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Reads a file. `None` if there is none.
pub(super) fn read_optional(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Replaces a file atomically. A symlink stays, and its target is replaced.
pub(super) fn write_atomic(path: &Path, text: &str) -> io::Result<()> {
    let path = &resolve_symlink(path);
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder to write to"))?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    // A new file keeps the mode of the temporary file, which only its owner can read.
    if let Ok(metadata) = fs::metadata(path) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Target of a symlink, even if that does not exist yet.
fn resolve_symlink(path: &Path) -> PathBuf {
    let resolved = dunce::canonicalize(path).ok().or_else(|| {
        let target = fs::read_link(path).ok()?;
        Some(path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target)))
    });
    resolved.unwrap_or_else(|| path.to_owned())
}

/// Removes a file, and its parent folder if that has the name `folder` and is empty.
pub(super) fn remove_file(path: &Path, folder: Option<&str>) -> io::Result<()> {
    fs::remove_file(path)?;
    let has_name = |it: &&Path| it.file_name().and_then(|name| name.to_str()) == folder;
    if let Some(folder) = path.parent().filter(has_name) {
        // Fails on purpose if the folder is not empty.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Copies a file to the backups folder under a unique name, readable only by its owner.
pub(super) fn back_up(path: &Path, backups: &Path) -> io::Result<Option<PathBuf>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    secure_fs::create_private_dir(backups)?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let timestamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let mut file = tempfile::Builder::new()
        .prefix(&format!("{timestamp}-{}-", name.trim_start_matches('.')))
        .suffix(".before")
        .rand_bytes(4)
        .tempfile_in(backups)?;
    file.write_all(&text)?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(Some(path))
}
