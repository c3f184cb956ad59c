//! File helpers of the store: atomic writes, directories inside a repository, private files, and
//! the file name of a record.
use crate::secure_fs;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Writes a file atomically: to a temporary file, then by rename. Not synced to disk, because every
/// file written here can be rebuilt from the archive.
pub(super) fn write_atomic(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder to write to"))?;
    // A temporary file has mode 0600 and keeps it after the rename.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Creates a folder inside a repository, with a `.gitignore`. Returns an error if a symlink leads
/// out of the repository.
pub(super) fn create_dir_in_repository(root: &Path, folder: &Path, ignore: &str) -> io::Result<()> {
    secure_fs::check_within(root, folder)?;
    fs::create_dir_all(folder)?;
    let file = folder.join(".gitignore");
    if !file.exists() {
        write_atomic(&file, ignore)?;
    }
    Ok(())
}

/// Writes a file at a path the user has chosen. Missing parent folders are created inside the
/// repository only. Folders and paths in `.git` are refused.
pub(super) fn write_user_file(root: &Path, path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder to write to"))?;
    if path.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    if path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return Err(io::Error::other("files inside `.git` belong to git: choose another path"));
    }
    if folder.starts_with(root) && root.is_dir() {
        secure_fs::check_within(root, folder)?;
        fs::create_dir_all(folder)?;
    }
    write_atomic(path, text)
}

/// Normalizes a path lexically: removes `.` and `..`, so that it can be compared by prefix.
pub(super) fn normalize_path(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized.pop();
            }
            part => normalized.push(part),
        }
    }
    normalized
}

/// Creates an empty file with mode 0600 on Unix, unless it exists.
pub(super) fn create_private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Limit of a slug in characters, without the day.
const MAX_SLUG_CHARS: usize = 60;
/// Limit of a slug in bytes. File names are limited to 255 bytes, and a letter can take four.
const MAX_SLUG_BYTES: usize = 180;
/// Bytes of a record that are searched for its id.
const MAX_HEADER_BYTES: u64 = 32 * 1024;
/// Highest number in the file name of a record.
const MAX_RECORD_NUMBER: u32 = 9_999;

/// File name of a debate, as in `2026-11-16-should-we-use-sqlx`. Letters of any script are kept.
pub(super) fn slug(day: &str, topic: &str) -> String {
    let mut slug = String::new();
    for c in topic.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.chars().count() >= MAX_SLUG_CHARS || slug.len() >= MAX_SLUG_BYTES {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    let slug = if slug.is_empty() { "debate" } else { slug };
    format!("{day}-{slug}")
}

/// Whether a file is the record of this debate, written before the archive was lost. Checks the id
/// in its first [`MAX_HEADER_BYTES`].
pub(super) fn is_record_of(path: &Path, id: &str) -> bool {
    let mut bytes = vec![];
    let is_regular_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let mut read = || fs::File::open(path)?.take(MAX_HEADER_BYTES).read_to_end(&mut bytes);
    let id_line = format!("**Id**: {id}");
    is_regular_file
        && read().is_ok()
        && String::from_utf8_lossy(&bytes).lines().any(|line| line.trim_end() == id_line)
}

/// Path of a debate's record: `.debates/DAY-topic.md`, with a number if that name is taken.
pub(super) fn record_path(root: &Path, name: &str, is_taken: impl Fn(&Path) -> bool) -> PathBuf {
    let folder = root.join(".debates");
    let path = |number: u32| match number {
        1 => folder.join(format!("{name}.md")),
        number => folder.join(format!("{name}-{number}.md")),
    };
    (1..=MAX_RECORD_NUMBER).map(path).find(|path| !is_taken(path)).unwrap_or_else(|| path(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_keeps_60_characters_or_180_bytes() {
        assert_eq!((MAX_SLUG_CHARS, MAX_SLUG_BYTES), (60, 180));
        // A letter of two bytes, and one of four.
        for (letter, max_letters) in [("é", MAX_SLUG_CHARS), ("\u{10428}", MAX_SLUG_BYTES / 4)] {
            let expected = format!("2026-11-16-{}", letter.repeat(max_letters));
            for length in [max_letters, max_letters + 1] {
                assert_eq!(slug("2026-11-16", &letter.repeat(length)), expected);
            }
        }
    }

    #[test]
    fn id_is_searched_in_the_first_32_kib_of_a_record() {
        assert_eq!(MAX_HEADER_BYTES, 32 * 1024);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.md");
        let id_line = "**Id**: debate-one";
        let lines_before = usize::try_from(MAX_HEADER_BYTES).unwrap() - id_line.len();
        for (lines_before, expected) in [(lines_before, true), (lines_before + 1, false)] {
            fs::write(&path, "\n".repeat(lines_before) + id_line).unwrap();
            assert_eq!(is_record_of(&path, "debate-one"), expected);
        }
    }

    #[test]
    fn records_are_numbered_up_to_9999() {
        assert_eq!(MAX_RECORD_NUMBER, 9_999);
        let folder = Path::new("repository/.debates");
        let last = folder.join("topic-9999.md");
        let root = Path::new("repository");
        assert_eq!(record_path(root, "topic", |path| path != last), last);
        assert_eq!(record_path(root, "topic", |_| true), folder.join("topic.md"));
    }
}
