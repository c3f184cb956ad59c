//! Reads files for the brief (see `brief`): from the pinned tree, or from disk if there is no pin
//! or if the user named a file that is not in the tree. Also resolves paths, names and glob
//! patterns.
use crate::repo::{
    self, ExclusionReason, Pin, RepoError, TreeFile, TreeReader, TreeStore, TreeView,
    exclusion_reason,
};
use std::path::{Path, PathBuf};

/// Limit on files listed in a folder without a pin.
const MAX_DISK_FILES: usize = 5_000;

/// The files a brief can read.
pub(super) struct SourceTree {
    trees: TreeStore,
    /// Root that all paths are relative to.
    root: PathBuf,
    /// The user's current folder relative to the root. Empty or ending in `/`.
    current_folder: String,
    pinned: Option<(TreeView, TreeReader)>,
    /// Files on disk with their sizes, if there is no pin.
    disk_files: Vec<(String, u64)>,
    /// Whether all files could be listed.
    pub(super) complete: bool,
    /// Folder that is not listed. Empty or ending in `/`.
    hidden_folder: String,
}

/// What a path or name resolves to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathMatch {
    File(String),
    /// Path ending in `/`.
    Folder(String),
    /// Number of files that match.
    Ambiguous(usize),
    NotFound,
}

impl SourceTree {
    pub(super) fn open(
        trees: &TreeStore,
        root: &Path,
        folder: &Path,
        pin: Option<&Pin>,
    ) -> Result<SourceTree, RepoError> {
        let repo_root = repo::toplevel(root)?;
        let folder = dunce::canonicalize(folder).ok();
        let relative = folder.as_deref().and_then(|folder| folder.strip_prefix(&repo_root).ok());
        let relative = relative.map(|relative| relative.to_string_lossy().replace('\\', "/"));
        let folder =
            relative.filter(|relative| !relative.is_empty()).map(|relative| relative + "/");
        let mut source_tree = SourceTree {
            trees: trees.clone(),
            root: repo_root,
            current_folder: folder.unwrap_or_default(),
            pinned: None,
            disk_files: vec![],
            complete: true,
            hidden_folder: String::new(),
        };
        if let Some(pin) = pin {
            let view = trees.view(root, &pin.tree)?;
            let reader = view.reader()?;
            source_tree.complete = view.is_complete();
            source_tree.pinned = Some((view, reader));
        } else {
            let listed = repo::list_files(&source_tree.root, MAX_DISK_FILES);
            (source_tree.disk_files, source_tree.complete) = (listed.files, listed.complete);
        }
        Ok(source_tree)
    }

    /// Hides the folder that holds the base version of a change under review.
    pub(super) fn hide_folder(&mut self, folder: &str) {
        self.hidden_folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    }

    pub(super) fn reader(&self) -> Option<&TreeReader> {
        self.pinned.as_ref().map(|(_, reader)| reader)
    }

    /// Opens one more reader, for use on another thread.
    pub(super) fn open_reader(&self) -> Option<TreeReader> {
        self.pinned.as_ref().and_then(|(view, _)| view.reader().ok())
    }

    /// All paths, sorted, without the hidden folder.
    pub(super) fn paths(&self) -> Vec<&str> {
        match &self.pinned {
            Some((view, _)) => self.visible_files(view).map(|file| file.path.as_str()).collect(),
            None => self.disk_files.iter().map(|(path, _)| path.as_str()).collect(),
        }
    }

    /// All paths with sizes in bytes. Symlinks and submodules have none.
    pub(super) fn paths_with_sizes(&self) -> Vec<(&str, Option<u64>)> {
        match &self.pinned {
            Some((view, reader)) => {
                let size_of = |file| reader.size(file);
                self.visible_files(view).map(|file| (file.path.as_str(), size_of(file))).collect()
            }
            None => {
                self.disk_files.iter().map(|(path, size)| (path.as_str(), Some(*size))).collect()
            }
        }
    }

    fn visible_files<'a>(&'a self, view: &'a TreeView) -> impl Iterator<Item = &'a TreeFile> {
        let is_hidden = |file: &&TreeFile| {
            !self.hidden_folder.is_empty() && file.path.starts_with(self.hidden_folder.as_str())
        };
        view.files().iter().filter(move |file| !is_hidden(file))
    }

    /// Reads a file of the pinned tree, or of the disk if there is no pin.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, ExclusionReason> {
        match &self.pinned {
            Some((view, reader)) => view
                .find(path)
                .ok_or(ExclusionReason::Unreadable)
                .and_then(|file| reader.read_bytes(file)),
            None => self.read_from_disk(path),
        }
    }

    /// Reads a file the user has named. It is read from disk if it is not in the tree.
    pub(super) fn read_named(&self, path: &str) -> Result<Vec<u8>, ExclusionReason> {
        match &self.pinned {
            Some((view, _)) if view.find(path).is_some() => self.read(path),
            _ => self.read_from_disk(path),
        }
    }

    fn read_from_disk(&self, path: &str) -> Result<Vec<u8>, ExclusionReason> {
        let tree = self.pinned.as_ref().map(|(view, _)| view.tree());
        self.trees.read_from_disk(&self.root, path, tree)
    }

    /// Resolves a path relative to the current folder, or else to the root.
    pub(super) fn find(&self, path: &str) -> PathMatch {
        self.candidate_paths(path)
            .into_iter()
            .find_map(|candidate| self.match_path(&candidate))
            .unwrap_or(PathMatch::NotFound)
    }

    /// As `find`, but also finds files that are only on disk.
    pub(super) fn find_named(&self, path: &str) -> PathMatch {
        match self.find(path) {
            PathMatch::NotFound => {
                let candidates = self.candidate_paths(path).into_iter();
                let exists = |candidate: &String| {
                    !candidate.is_empty()
                        && !matches!(
                            exclusion_reason(candidate.as_bytes()),
                            Some(ExclusionReason::Unreadable)
                        )
                        && self
                            .root
                            .join(candidate)
                            .symlink_metadata()
                            .is_ok_and(|found| !found.is_dir())
                };
                candidates.into_iter().find(exists).map_or(PathMatch::NotFound, PathMatch::File)
            }
            found => found,
        }
    }

    /// Resolves a name in prose: a path, or the unique path with that suffix.
    pub(super) fn resolve_name(&self, name: &str) -> PathMatch {
        let found = self.find(name);
        if found != PathMatch::NotFound {
            return found;
        }
        let suffix = format!("/{}", name.trim_start_matches("./"));
        let matches: Vec<&str> =
            self.paths().into_iter().filter(|path| path.ends_with(&suffix)).collect();
        match matches[..] {
            [] => PathMatch::NotFound,
            [one] => PathMatch::File(one.to_owned()),
            _ => PathMatch::Ambiguous(matches.len()),
        }
    }

    /// All files in a folder. `folder` ends in `/` or is empty.
    pub(super) fn files_in_folder(&self, folder: &str) -> Vec<String> {
        let inside = self.paths().into_iter().filter(|path| path.starts_with(folder));
        inside.map(str::to_owned).collect()
    }

    /// All files that match a glob pattern. A pattern without `/` matches file names.
    pub(super) fn glob(&self, pattern: &str) -> Vec<String> {
        let patterns = self.candidate_paths(pattern);
        let names_only = !pattern.contains('/');
        let matches = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let here = path.starts_with(&self.current_folder);
            (names_only && here && glob_match(pattern.as_bytes(), name.as_bytes()))
                || patterns.iter().any(|pattern| glob_match(pattern.as_bytes(), path.as_bytes()))
        };
        self.paths().into_iter().filter(|path| matches(path)).map(str::to_owned).collect()
    }

    fn match_path(&self, candidate: &str) -> Option<PathMatch> {
        let paths = self.paths();
        if paths.binary_search(&candidate).is_ok() {
            return Some(PathMatch::File(candidate.to_owned()));
        }
        let folder = if candidate.is_empty() { String::new() } else { format!("{candidate}/") };
        let position = paths.partition_point(|path| *path < folder.as_str());
        let is_folder = paths.get(position).is_some_and(|path| path.starts_with(&folder));
        is_folder.then_some(PathMatch::Folder(folder))
    }

    /// Candidate paths relative to the root.
    fn candidate_paths(&self, path: &str) -> Vec<String> {
        let path = path.trim_end_matches('/');
        let full_path = Path::new(path);
        if let Some(relative) =
            full_path.strip_prefix(&self.root).ok().filter(|_| full_path.is_absolute())
        {
            // Git uses `/` on all platforms.
            let parts = relative.components().map(|part| part.as_os_str().to_string_lossy());
            return vec![parts.collect::<Vec<_>>().join("/")];
        }
        let path = path.trim_start_matches("./");
        if path.is_empty() || path == "." {
            return vec![self.current_folder.trim_end_matches('/').to_owned()];
        }
        let mut candidates = vec![format!("{}{path}", self.current_folder), path.to_owned()];
        candidates.dedup();
        candidates
    }
}

/// Glob matcher: `?` is one character of a name, `*` any number of them, `**` also crosses folders.
/// Tracks all match positions at once, so its time is bounded by pattern length times path length.
fn glob_match(pattern: &[u8], path: &[u8]) -> bool {
    let mut reachable = vec![false; path.len() + 1];
    reachable[0] = true;
    let mut rest = pattern;
    while let [first, after @ ..] = rest {
        let mut next = vec![false; path.len() + 1];
        let folders = rest.starts_with(b"**/");
        let (anything, name) = (rest.starts_with(b"**"), *first == b'*');
        let mut was_reachable = false;
        for position in 0..=path.len() {
            let previous = position.checked_sub(1).map(|position| path[position]);
            next[position] = if folders {
                reachable[position] || (was_reachable && previous == Some(b'/'))
            } else if anything {
                reachable[position] || was_reachable
            } else if name {
                reachable[position]
                    || (position > 0 && next[position - 1] && previous != Some(b'/'))
            } else {
                let is_match = previous == Some(*first)
                    || (*first == b'?' && previous.is_some_and(|c| c != b'/'));
                position > 0 && reachable[position - 1] && is_match
            };
            was_reachable |= reachable[position];
        }
        reachable = next;
        rest = if folders {
            &rest[3..]
        } else if anything {
            &rest[2..]
        } else {
            after
        };
    }
    reachable.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn files_listed_without_a_pin_are_limited() {
        assert_eq!(MAX_DISK_FILES, 5_000);
        let folder = tempfile::tempdir().unwrap();
        let trees = TreeStore::new(&folder.path().join("home"));
        let create_file = |number: usize| {
            File::create(folder.path().join(format!("{number}.rs"))).unwrap();
        };
        let list = || {
            let source_tree = SourceTree::open(&trees, folder.path(), folder.path(), None).unwrap();
            (source_tree.paths().len(), source_tree.complete)
        };
        (0..MAX_DISK_FILES).for_each(create_file);
        assert_eq!(list(), (MAX_DISK_FILES, true));
        create_file(MAX_DISK_FILES);
        assert_eq!(list(), (MAX_DISK_FILES, false));
    }
}
