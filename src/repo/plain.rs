//! Folders without a git repository: lists and reads their files with the same checks, and pins
//! small ones as a tree.
use super::disk::{self, Found};
use super::patch::Patch;
use super::stores::Ours;
use super::{LARGEST, LeftOut, Pin, RepoError, Why, absent};
use git2::ObjectType;
use std::fs;
use std::path::{Path, PathBuf};

/// Limits in files and in total bytes of a folder that is pinned.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum number of entries visited while listing.
const MOST_ENTRIES: usize = 20_000;

/// Names of folders with dependencies or build output, which are skipped.
const FETCHED: &[&str] = &[
    "node_modules",
    "bower_components",
    "target",
    "vendor",
    "venv",
    "env",
    "__pycache__",
    "site-packages",
    "dist",
    "build",
    "out",
    "Pods",
    "DerivedData",
];

/// Entries that mark a user's home folder, which is never pinned.
const OF_A_HOME: &[&str] = &[".ssh", ".bash_history", ".zsh_history", ".profile", ".bashrc"];

/// Files below a folder.
#[derive(Debug, Default)]
pub struct Listed {
    /// Paths with `/` as separator, sorted, with the size in bytes.
    pub files: Vec<(String, u64)>,
    /// Paths that were seen but excluded.
    pub left_out: Vec<LeftOut>,
    /// False if a limit ended the listing early.
    pub whole: bool,
}

/// Lists up to `most` files below a folder. Follows no links, and skips hidden folders,
/// dependencies and build output.
pub fn list(folder: &Path, most: usize) -> Listed {
    list_without(folder, most, None)
}

fn list_without(folder: &Path, most: usize, home: Option<&Path>) -> Listed {
    let mut listed = Listed { whole: true, ..Listed::default() };
    let (mut folders, mut seen) = (vec![(folder.to_owned(), String::new())], 0);
    while let Some((folder, path)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            listed.left_out.push(LeftOut::new(path.as_bytes(), Why::Unreadable));
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST_ENTRIES.max(most) || listed.files.len() >= most {
                listed.whole = false;
                folders.clear();
                break;
            }
            let (whole, name) = (entry.path(), entry.file_name());
            let inner = format!("{path}{}", name.to_string_lossy());
            let Ok(found) = fs::symlink_metadata(&whole) else { continue };
            let leave = |why: Why| LeftOut::new(inner.as_bytes(), why);
            if found.is_symlink() {
                listed.left_out.push(leave(Why::Link));
            } else if found.is_dir() {
                let name = name.to_string_lossy();
                let aside = name.starts_with('.') || FETCHED.contains(&name.as_ref());
                if !aside && Some(whole.as_path()) != home {
                    folders.push((whole, inner + "/"));
                }
            } else if absent::secret(inner.as_bytes()) {
                listed.left_out.push(leave(Why::Secret));
            } else if name.to_str().is_none() || !found.is_file() {
                listed.left_out.push(leave(Why::Unreadable));
            } else {
                listed.files.push((inner, found.len()));
            }
        }
    }
    listed.files.sort();
    listed.left_out.sort_by(|one, other| one.path.cmp(&other.path));
    listed
}

/// Reads one file without redaction.
pub(super) fn on_disk(folder: &Path, path: &str) -> Result<Vec<u8>, Why> {
    if absent::unwritable(path.as_bytes()) {
        return Err(Why::Unreadable);
    }
    match disk::read(folder, Path::new(path), LARGEST) {
        Found::Bytes(bytes) => Ok(bytes),
        Found::Link => Err(Why::Link),
        Found::TooLarge => Err(Why::TooLarge),
        Found::Nothing | Found::Unreadable => Err(Why::Unreadable),
    }
}

/// Pins a folder without a repository. None if it is empty, too large or not a project folder.
pub(super) fn pin(home: &Path, root: &Path) -> Result<Option<Pin>, RepoError> {
    let Ok(root) = dunce::canonicalize(root) else { return Ok(None) };
    let home_found = dunce::canonicalize(home).ok();
    if !worth(&root) || home_found.as_deref() == Some(&root) {
        return Ok(None);
    }
    let listed = list_without(&root, MOST_FILES + 1, home_found.as_deref());
    let bytes: u64 =
        listed.files.iter().map(|(_, size)| *size).filter(|size| *size <= LARGEST).sum();
    let fits = listed.whole && listed.files.len() <= MOST_FILES && bytes <= MOST_BYTES;
    if listed.files.is_empty() || !fits {
        return Ok(None);
    }
    let (mut patch, mut left_out, mut kept) = (Patch::default(), listed.left_out, 0);
    let ours = Ours::made(home)?;
    for (path, _) in &listed.files {
        match on_disk(&root, path) {
            Ok(bytes) => {
                let id = ours.keep(ObjectType::Blob, &bytes)?;
                patch.put(path.as_bytes(), id, executable(&root.join(path)));
                kept += 1;
            }
            Err(why) => left_out.push(LeftOut::new(path.as_bytes(), why)),
        }
    }
    if kept == 0 {
        return Ok(None);
    }
    left_out.sort_by(|one, other| one.path.cmp(&other.path));
    let tree = patch.write(None, &ours, None)?.to_string();
    Ok(Some(Pin { tree, commit: None, dirty: false, left_out }))
}

/// Whether a folder may be pinned: no home folder, no file system root, no bare repository.
fn worth(root: &Path) -> bool {
    let has = |name: &&str| root.join(name).symlink_metadata().is_ok();
    root.is_dir() && root.parent().is_some() && !OF_A_HOME.iter().any(has) && !bare(root)
}

/// Whether a folder is a bare git repository.
pub(super) fn bare(root: &Path) -> bool {
    let inside: [PathBuf; 3] = ["HEAD", "objects", "refs"].map(|name| root.join(name));
    inside.iter().all(|path| path.exists())
}

#[cfg(unix)]
fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::symlink_metadata(path).is_ok_and(|found| found.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn executable(_: &Path) -> bool {
    false
}
