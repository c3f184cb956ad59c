//! Whole files or none, private where they should be.
use crate::private;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Writes a file so that a reader sees the old one or the new one, never half of it. Not synced:
/// whatever is written here can be written again.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder to write to"))?;
    // A temporary file is readable by its owner only, and stays so under its new name.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Makes a folder for our files inside a repository, with a `.gitignore` in it. A folder that turns
/// out to be somewhere else, by way of a link, is neither made nor written to: a repository must
/// not choose where.
pub(super) fn folder_within(root: &Path, folder: &Path, ignore: &str) -> io::Result<()> {
    private::within(root, folder)?;
    fs::create_dir_all(folder)?;
    let file = folder.join(".gitignore");
    if !file.exists() {
        write(&file, ignore)?;
    }
    Ok(())
}

/// Writes a file where a user wants it. Inside the repository folders are made for it, if they really
/// lie there; elsewhere nothing is made but the file itself.
pub(super) fn write_for_user(root: &Path, path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder to write to"))?;
    if path.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    if path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return Err(io::Error::other("what lies in `.git` is git's own"));
    }
    if folder.starts_with(root) && root.is_dir() {
        private::within(root, folder)?;
        fs::create_dir_all(folder)?;
    }
    write(path, text)
}

/// A path without `.` and `..`, so that where it leads can be told from its beginning.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Makes an empty file only its owner can read, unless there is one already.
pub(super) fn private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// `2026-11-16-should-we-use-sqlx`, in the letters of whatever language the topic is in.
pub(super) fn slug(day: &str, topic: &str) -> String {
    let mut slug = String::new();
    for c in topic.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        // A file's name may have 255 bytes, and some letters have four.
        if slug.chars().count() >= 60 || slug.len() >= 180 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    let slug = if slug.is_empty() { "debate" } else { slug };
    format!("{day}-{slug}")
}

/// Whether a file is the record of this debate, as it was written before the archive was lost.
pub(super) fn is_record_of(path: &Path, id: &str) -> bool {
    const BEGINNING: u64 = 32 * 1024;
    let mut bytes = vec![];
    let plain = path.symlink_metadata().is_ok_and(|about| about.is_file());
    let mut read = || fs::File::open(path)?.take(BEGINNING).read_to_end(&mut bytes);
    let says = format!("**Id**: {id}");
    plain
        && read().is_ok()
        && String::from_utf8_lossy(&bytes).lines().any(|line| line.trim_end() == says)
}

/// The record of a debate: `.debates/DAY-topic.md`, or the first such name nobody has.
pub(super) fn record_path(root: &Path, name: &str, taken: impl Fn(&Path) -> bool) -> PathBuf {
    let folder = root.join(".debates");
    let path = |nth: u32| match nth {
        1 => folder.join(format!("{name}.md")),
        nth => folder.join(format!("{name}-{nth}.md")),
    };
    (1..10_000).map(path).find(|path| !taken(path)).unwrap_or_else(|| path(1))
}
