//! What is nobody's business but its owner's.
use std::fs;
use std::io;
use std::path::Path;

/// This user's key, which never leaves their home: read, or made. Two processes that make one at once
/// end up with the same.
pub fn key(home: &Path) -> io::Result<Vec<u8>> {
    let path = home.join("key");
    if let Ok(bytes) = fs::read(&path)
        && bytes.len() == 32
    {
        return Ok(bytes);
    }
    folder(home)?;
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

/// Makes a folder only its owner can look into, unless there is one already.
pub fn folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether a path below a folder really lies there: a link in it must not choose what is written, or
/// where.
pub fn within(root: &Path, path: &Path) -> io::Result<()> {
    let exists = path.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    if let Some(deepest) = exists.filter(|_| path.starts_with(root))
        && !dunce::canonicalize(deepest)?.starts_with(dunce::canonicalize(root)?)
    {
        let says = format!("`{}` leads out of the repository", path.display());
        return Err(io::Error::other(says));
    }
    Ok(())
}
