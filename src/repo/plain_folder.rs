//! Folders without a git repository: lists and reads their files with the same checks, and pins
//! small ones as a tree.
use super::disk::{self, DiskRead};
use super::object_store::OwnRepo;
use super::tree_edits::TreeEdits;
use super::{ExcludedPath, ExclusionReason, MAX_FILE_BYTES, Pin, RepoError, exclusions};
use git2::ObjectType;
use std::fs;
use std::path::{Path, PathBuf};

/// Limits in files and in total bytes of a folder that is pinned.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum number of entries visited while listing.
const MAX_ENTRIES: usize = 20_000;

/// Names of folders with dependencies or build output, which are skipped.
const SKIPPED_FOLDERS: &[&str] = &[
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
const HOME_MARKERS: &[&str] = &[".ssh", ".bash_history", ".zsh_history", ".profile", ".bashrc"];

/// Files below a folder.
#[derive(Debug, Default)]
pub struct FolderListing {
    /// Paths with `/` as separator, sorted, with the size in bytes.
    pub files: Vec<(String, u64)>,
    /// Paths that were seen but excluded.
    pub left_out: Vec<ExcludedPath>,
    /// False if a limit ended the listing early.
    pub complete: bool,
}

/// Lists up to `most` files below a folder. Follows no links, and skips hidden folders,
/// dependencies and build output.
pub fn list_files(folder: &Path, most: usize) -> FolderListing {
    list_files_excluding(folder, most, None)
}

fn list_files_excluding(folder: &Path, most: usize, home: Option<&Path>) -> FolderListing {
    let mut listed = FolderListing { complete: true, ..FolderListing::default() };
    let (mut folders, mut seen) = (vec![(folder.to_owned(), String::new())], 0);
    while let Some((folder, path)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            listed.left_out.push(ExcludedPath::new(path.as_bytes(), ExclusionReason::Unreadable));
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES.max(most) || listed.files.len() >= most {
                listed.complete = false;
                folders.clear();
                break;
            }
            let (whole, name) = (entry.path(), entry.file_name());
            let inner = format!("{path}{}", name.to_string_lossy());
            let Ok(found) = fs::symlink_metadata(&whole) else { continue };
            let leave = |why: ExclusionReason| ExcludedPath::new(inner.as_bytes(), why);
            if found.is_symlink() {
                listed.left_out.push(leave(ExclusionReason::Link));
            } else if found.is_dir() {
                let name = name.to_string_lossy();
                let aside = name.starts_with('.') || SKIPPED_FOLDERS.contains(&name.as_ref());
                if !aside && Some(whole.as_path()) != home {
                    folders.push((whole, inner + "/"));
                }
            } else if exclusions::is_secret_path(inner.as_bytes()) {
                listed.left_out.push(leave(ExclusionReason::Secret));
            } else if name.to_str().is_none() || !found.is_file() {
                listed.left_out.push(leave(ExclusionReason::Unreadable));
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
pub(super) fn read_plain_file(folder: &Path, path: &str) -> Result<Vec<u8>, ExclusionReason> {
    if exclusions::is_unwritable(path.as_bytes()) {
        return Err(ExclusionReason::Unreadable);
    }
    match disk::read_file(folder, Path::new(path), MAX_FILE_BYTES) {
        DiskRead::Bytes(bytes) => Ok(bytes),
        DiskRead::Link => Err(ExclusionReason::Link),
        DiskRead::TooLarge => Err(ExclusionReason::TooLarge),
        DiskRead::Missing | DiskRead::Unreadable => Err(ExclusionReason::Unreadable),
    }
}

/// Pins a folder without a repository. None if it is empty, too large or not a project folder.
pub(super) fn pin_folder(home: &Path, root: &Path) -> Result<Option<Pin>, RepoError> {
    let Ok(root) = dunce::canonicalize(root) else { return Ok(None) };
    let home_found = dunce::canonicalize(home).ok();
    if !is_project_folder(&root) || home_found.as_deref() == Some(&root) {
        return Ok(None);
    }
    let listed = list_files_excluding(&root, MAX_FILES + 1, home_found.as_deref());
    let bytes: u64 =
        listed.files.iter().map(|(_, size)| *size).filter(|size| *size <= MAX_FILE_BYTES).sum();
    let fits = listed.complete && listed.files.len() <= MAX_FILES && bytes <= MAX_BYTES;
    if listed.files.is_empty() || !fits {
        return Ok(None);
    }
    let (mut patch, mut left_out, mut kept) = (TreeEdits::default(), listed.left_out, 0);
    let ours = OwnRepo::open_or_create(home)?;
    for (path, _) in &listed.files {
        match read_plain_file(&root, path) {
            Ok(bytes) => {
                let id = ours.write_object(ObjectType::Blob, &bytes)?;
                patch.put_file(path.as_bytes(), id, is_executable(&root.join(path)));
                kept += 1;
            }
            Err(why) => left_out.push(ExcludedPath::new(path.as_bytes(), why)),
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
fn is_project_folder(root: &Path) -> bool {
    let has = |name: &&str| root.join(name).symlink_metadata().is_ok();
    root.is_dir()
        && root.parent().is_some()
        && !HOME_MARKERS.iter().any(has)
        && !is_bare_repository(root)
}

/// Whether a folder is a bare git repository.
pub(super) fn is_bare_repository(root: &Path) -> bool {
    let inside: [PathBuf; 3] = ["HEAD", "objects", "refs"].map(|name| root.join(name));
    inside.iter().all(|path| path.exists())
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::symlink_metadata(path).is_ok_and(|found| found.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn executable(_: &Path) -> bool {
    false
}
