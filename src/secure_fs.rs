//! File system helpers for private files: the signing key, directories with mode 0700, and a check
//! that a path does not leave its root through a symlink.
use std::fs;
use std::io;
use std::path::Path;

/// Length of the user's secret key.
pub(crate) const KEY_BYTES: usize = 32;

/// Reads the user's secret key from `home`, or creates it. The key is written to a
/// temporary file and renamed without overwriting, so two processes that create it at once get the
/// same key.
pub(crate) fn load_or_create_key(data_dir: &Path) -> io::Result<Vec<u8>> {
    let path = data_dir.join("key");
    if let Ok(bytes) = fs::read(&path)
        && bytes.len() == KEY_BYTES
    {
        return Ok(bytes);
    }
    create_private_dir(data_dir)?;
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let mut file = tempfile::NamedTempFile::new_in(data_dir)?;
    io::Write::write_all(&mut file, &bytes)?;
    match file.persist_noclobber(&path) {
        Ok(_) => {
            tracing::debug!("secret key created");
            Ok(bytes.into())
        }
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => fs::read(&path),
        Err(error) => Err(error.error),
    }
}

/// Creates a directory and its parents with mode 0700 on Unix. An existing directory is left as it
/// is.
pub(crate) fn create_private_dir(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns an error if a path below `root` leads out of it through a symlink, so that a repository
/// cannot redirect a write. The path need not exist; its deepest existing ancestor is checked.
pub(crate) fn check_within(root: &Path, path: &Path) -> io::Result<()> {
    let existing = path.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    if let Some(deepest) = existing.filter(|_| path.starts_with(root))
        && !dunce::canonicalize(deepest)?.starts_with(dunce::canonicalize(root)?)
    {
        let message = format!("`{}` leads out of the repository", path.display());
        return Err(io::Error::other(message));
    }
    Ok(())
}
