//! File system helpers for private files: the signing key, directories with mode 0700, and a check
//! that a path does not leave its root through a symlink.
use std::fs;
use std::io;
use std::path::Path;

/// Reads the user's 32-byte secret key from `home`, or creates it. The key is written to a
/// temporary file and renamed without overwriting, so two processes that create it at once get the
/// same key.
pub fn load_or_create_key(home: &Path) -> io::Result<Vec<u8>> {
    let path = home.join("key");
    if let Ok(bytes) = fs::read(&path)
        && bytes.len() == 32
    {
        return Ok(bytes);
    }
    create_private_dir(home)?;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let mut file = tempfile::NamedTempFile::new_in(home)?;
    io::Write::write_all(&mut file, &bytes)?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(bytes.into()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => fs::read(&path),
        Err(error) => Err(error.error),
    }
}

/// Creates a directory and its parents with mode 0700 on Unix. An existing directory is left as it
/// is.
pub fn create_private_dir(folder: &Path) -> io::Result<()> {
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
pub fn check_within(root: &Path, path: &Path) -> io::Result<()> {
    let exists = path.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    if let Some(deepest) = exists.filter(|_| path.starts_with(root))
        && !dunce::canonicalize(deepest)?.starts_with(dunce::canonicalize(root)?)
    {
        let says = format!("`{}` leads out of the repository", path.display());
        return Err(io::Error::other(says));
    }
    Ok(())
}
