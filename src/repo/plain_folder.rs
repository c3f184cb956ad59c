//! Folders without a git repository: lists and reads their files with the same checks, and pins
//! small ones as a tree.
use super::disk::{self, DiskRead};
use super::exclusions::{self, MAX_FILE_BYTES};
use super::object_store::OwnRepo;
use super::tree_edits::TreeEdits;
use super::tree_store::{self, TreeStore};
use super::{ExcludedPath, ExclusionReason, Pin, RepoError};
use crate::redact::UNPINNED_SCOPE;
use git2::ObjectType;
use std::fs;
use std::path::Path;

/// Maximum number of files in a folder that is pinned.
const MAX_FILES: usize = 2_000;
/// Maximum total size in bytes of a folder that is pinned.
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

/// Lists up to `max_files` files below a folder. Follows no links, and skips hidden folders,
/// dependencies and build output.
pub fn list_files(folder: &Path, max_files: usize) -> FolderListing {
    list_files_excluding(folder, max_files, None)
}

fn list_files_excluding(folder: &Path, max_files: usize, home: Option<&Path>) -> FolderListing {
    let mut listing = FolderListing { complete: true, ..FolderListing::default() };
    let (mut folders, mut entries_seen) = (vec![(folder.to_owned(), String::new())], 0);
    while let Some((folder, path)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            listing.left_out.push(ExcludedPath::new(path.as_bytes(), ExclusionReason::Unreadable));
            continue;
        };
        for entry in entries.flatten() {
            entries_seen += 1;
            if is_listing_full(entries_seen, listing.files.len(), max_files) {
                listing.complete = false;
                folders.clear();
                break;
            }
            let (full_path, name) = (entry.path(), entry.file_name());
            let inner = format!("{path}{}", name.to_string_lossy());
            let Ok(metadata) = fs::symlink_metadata(&full_path) else { continue };
            let excluded = |reason: ExclusionReason| ExcludedPath::new(inner.as_bytes(), reason);
            if metadata.is_symlink() {
                listing.left_out.push(excluded(ExclusionReason::Link));
            } else if metadata.is_dir() {
                let name = name.to_string_lossy();
                let is_skipped = name.starts_with('.') || SKIPPED_FOLDERS.contains(&name.as_ref());
                if !is_skipped && Some(full_path.as_path()) != home {
                    folders.push((full_path, inner + "/"));
                }
            } else if exclusions::is_secret_path(inner.as_bytes()) {
                listing.left_out.push(excluded(ExclusionReason::Secret));
            } else if name.to_str().is_none() || !metadata.is_file() {
                listing.left_out.push(excluded(ExclusionReason::Unreadable));
            } else {
                listing.files.push((inner, metadata.len()));
            }
        }
    }
    listing.files.sort();
    listing.left_out.sort_by(|one, other| one.path.cmp(&other.path));
    listing
}

/// Whether a listing ends at its limits, given the entries seen and the files listed.
fn is_listing_full(entries_seen: usize, file_count: usize, max_files: usize) -> bool {
    entries_seen > MAX_ENTRIES.max(max_files) || file_count >= max_files
}

impl TreeStore {
    /// Reads a file on disk with secrets redacted, or returns the reason why it cannot be read.
    /// `path` is relative to `folder`. Paths that leave it, pass through a link or point into
    /// `.git` are refused. `tree` selects the redaction scope, so that placeholders equal those of
    /// that tree.
    pub fn read_from_disk(
        &self,
        folder: &Path,
        path: &str,
        tree: Option<&str>,
    ) -> Result<Vec<u8>, ExclusionReason> {
        let bytes = read_plain_file(folder, path)?;
        Ok(tree_store::redact_contents(
            self.redactor(tree.unwrap_or(UNPINNED_SCOPE)).as_ref(),
            path,
            &bytes,
        )
        .into_owned())
    }
}

/// Reads one file without redaction.
fn read_plain_file(folder: &Path, path: &str) -> Result<Vec<u8>, ExclusionReason> {
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
    let real_home = dunce::canonicalize(home).ok();
    if !is_project_folder(&root) || real_home.as_deref() == Some(&root) {
        return Ok(None);
    }
    let listing = list_files_excluding(&root, MAX_FILES + 1, real_home.as_deref());
    if listing.files.is_empty() || !is_small_enough(&listing) {
        return Ok(None);
    }
    let (mut edits, mut left_out, mut file_count) = (TreeEdits::default(), listing.left_out, 0);
    let own_repo = OwnRepo::open_or_create(home)?;
    for (path, _) in &listing.files {
        match read_plain_file(&root, path) {
            Ok(bytes) => {
                let id = own_repo.write_object(ObjectType::Blob, &bytes)?;
                edits.put_file(path.as_bytes(), id, is_executable(&root.join(path)));
                file_count += 1;
            }
            Err(reason) => left_out.push(ExcludedPath::new(path.as_bytes(), reason)),
        }
    }
    if file_count == 0 {
        return Ok(None);
    }
    left_out.sort_by(|one, other| one.path.cmp(&other.path));
    let tree = edits.write(None, &own_repo, None)?.to_string();
    tracing::debug!(%tree, left_out = left_out.len(), "folder pinned");
    Ok(Some(Pin { tree, commit: None, dirty: false, left_out }))
}

/// Whether a folder with these files is within the limits of a pin. Files that are too large to be
/// pinned do not count.
fn is_small_enough(listing: &FolderListing) -> bool {
    let bytes: u64 =
        listing.files.iter().map(|(_, size)| *size).filter(|size| *size <= MAX_FILE_BYTES).sum();
    listing.complete && listing.files.len() <= MAX_FILES && bytes <= MAX_BYTES
}

/// Whether a folder may be pinned: no home folder, no file system root, no bare repository.
fn is_project_folder(root: &Path) -> bool {
    let has = |name: &&str| root.join(name).symlink_metadata().is_ok();
    root.is_dir()
        && root.parent().is_some()
        && !HOME_MARKERS.iter().any(has)
        && !disk::is_bare_repository(root)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing_of_sizes(sizes: &[u64]) -> FolderListing {
        let files = sizes.iter().map(|size| (String::new(), *size)).collect();
        FolderListing { files, left_out: vec![], complete: true }
    }

    #[test]
    fn folder_over_64_mib_is_not_pinned() {
        let mut sizes = vec![MAX_FILE_BYTES; 64];
        assert_eq!(sizes.iter().sum::<u64>(), MAX_BYTES);
        sizes.push(MAX_FILE_BYTES + 1);
        assert!(is_small_enough(&listing_of_sizes(&sizes)), "a large file is not pinned");
        sizes.push(1);
        assert!(!is_small_enough(&listing_of_sizes(&sizes)));
    }

    #[test]
    fn listing_ends_after_20_000_entries() {
        assert!(!is_listing_full(MAX_ENTRIES, 0, MAX_FILES));
        assert!(is_listing_full(MAX_ENTRIES + 1, 0, MAX_FILES));
        assert_eq!(MAX_ENTRIES, 20_000);
    }
}
