//! Files that are somebody else's: changed whole or not at all, kept as they were before, with the
//! rights they had, and through a link where it is one.
use crate::private;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What stands in a file; nothing, if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes a file. Whoever keeps their settings elsewhere, behind a link, keeps the link.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = &behind(path);
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder to write to"))?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    // A new file is its owner's alone, as the temporary one is.
    if let Ok(before) = fs::metadata(path) {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The file behind a link, also where it is not there yet.
fn behind(path: &Path) -> PathBuf {
    let real = dunce::canonicalize(path).ok().or_else(|| {
        let to = fs::read_link(path).ok()?;
        Some(path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to)))
    });
    real.unwrap_or_else(|| path.to_owned())
}

/// Removes a file, and the folder it was in if that is empty now and has this name.
pub(super) fn remove(path: &Path, folder: Option<&str>) -> io::Result<()> {
    fs::remove_file(path)?;
    let named = |it: &&Path| it.file_name().and_then(|name| name.to_str()) == folder;
    if let Some(folder) = path.parent().filter(named) {
        // One that is not empty stays.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// A copy of a file as it is, under a name nobody has, for its owner alone.
pub(super) fn keep(path: &Path, backups: &Path) -> io::Result<Option<PathBuf>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    private::folder(backups)?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let day = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let mut file = tempfile::Builder::new()
        .prefix(&format!("{day}-{}-", name.trim_start_matches('.')))
        .suffix(".before")
        .rand_bytes(4)
        .tempfile_in(backups)?;
    file.write_all(&text)?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(Some(path))
}
