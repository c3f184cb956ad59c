//! What is nobody's business but its owner's.
use std::fs;
use std::io;
use std::path::Path;

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
