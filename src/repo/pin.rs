//! Pins the current state of a repository: the tree of the last commit with all uncommitted changes
//! applied. Files are read as they are, and no filter, hook or other process is run.
use super::disk::{self, Found};
use super::patch::Patch;
use super::stores::{Ours, Theirs};
use super::{LARGEST, LeftOut, RepoError, Why, absent, plain};
use git2::{
    ErrorClass, ErrorCode, FileMode, IndexEntryExtendedFlag, ObjectType, Oid, Status, StatusEntry,
    StatusOptions,
};
use std::path::{Path, PathBuf};

/// Maximum number of changed files included.
const MOST: usize = 20_000;

/// A reproducible state of a repository, identified by its tree id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Tree id, 40 hexadecimal digits.
    pub tree: String,
    /// Id of the last commit. None before the first commit.
    pub commit: Option<String>,
    /// Whether there are uncommitted changes.
    pub dirty: bool,
    /// Changed files whose state on disk is not in the tree.
    pub left_out: Vec<LeftOut>,
}

/// One entry of the git status.
struct Changed {
    path: Vec<u8>,
    status: Status,
    mode: FileMode,
}

/// Pins the repository around `root`, or the plain folder if there is none.
pub(super) fn pin(home: &Path, root: &Path, without: &[PathBuf]) -> Result<Option<Pin>, RepoError> {
    let Some(theirs) = Theirs::around(root)? else { return plain::pin(home, root) };
    let broken = |error: git2::Error| RepoError::broken(&theirs.top, &error);
    let head = head(&theirs).map_err(broken)?;
    let mut left_out = vec![];
    let changed = match (changed(&theirs, home, without), head) {
        (Ok(changed), _) => changed,
        // libgit2 cannot parse some index formats. The last commit is pinned without the changes
        // then.
        (Err(error), Some(_)) if error.class() == ErrorClass::Index => {
            left_out
                .push(LeftOut::new(b"(what has changed since the last commit)", Why::Unreadable));
            vec![]
        }
        (Err(error), _) => return Err(broken(error)),
    };
    let mut pinning = Pinning { theirs: &theirs, ours: None, home, left_out };
    let (patch, base) = (pinning.patch(&changed)?, head.map(|(_, tree)| tree));
    let tree = match (base, patch.is_empty()) {
        (Some(tree), true) => tree,
        (None, true) => Oid::hash_object(ObjectType::Tree, &[]).map_err(broken)?,
        (base, false) => patch.write(Some(&theirs), pinning.ours()?, base)?,
    };
    let commit = head.map(|(commit, _)| commit.to_string());
    let (dirty, left_out) = (!changed.is_empty(), pinning.left_out);
    Ok(Some(Pin { tree: tree.to_string(), commit, dirty, left_out }))
}

/// Last commit and its tree. None before the first commit.
fn head(theirs: &Theirs) -> Result<Option<(Oid, Oid)>, git2::Error> {
    match theirs.repository.head() {
        Ok(head) => {
            let commit = head.peel_to_commit()?;
            Ok(Some((commit.id(), commit.tree_id())))
        }
        Err(error) if error.code() == ErrorCode::UnbornBranch => Ok(None),
        Err(error) => Err(error),
    }
}

/// Files that differ from the last commit, sorted by path.
fn changed(theirs: &Theirs, home: &Path, without: &[PathBuf]) -> Result<Vec<Changed>, git2::Error> {
    let mut options = StatusOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_unreadable(true)
        .include_ignored(false)
        .exclude_submodules(true)
        .renames_head_to_index(false)
        .renames_index_to_workdir(false)
        .update_index(false);
    let statuses = theirs.repository.statuses(Some(&mut options))?;
    let mut changed: Vec<Changed> = statuses.iter().map(|entry| Changed::new(&entry)).collect();
    // Our own files are ignored, even if the user placed the home folder inside the repository.
    if let Ok(home) = dunce::canonicalize(home)
        && let Ok(below) = home.strip_prefix(&theirs.top)
        && !below.as_os_str().is_empty()
    {
        changed.retain(|changed| {
            disk::path(&changed.path).is_none_or(|path| !path.starts_with(below))
        });
    }
    changed.retain(|changed| !absent::ours(&changed.path));
    let without: Vec<&Path> =
        without.iter().filter_map(|file| file.strip_prefix(&theirs.top).ok()).collect();
    changed.retain(|changed| {
        disk::path(&changed.path).is_none_or(|path| !without.contains(&path.as_path()))
    });
    changed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(changed)
}

impl Changed {
    fn new(entry: &StatusEntry<'_>) -> Changed {
        let delta = entry.index_to_workdir().or_else(|| entry.head_to_index());
        let mode = delta.map_or(FileMode::Blob, |delta| delta.new_file().mode());
        Changed { path: entry.path_bytes().to_owned(), status: entry.status(), mode }
    }

    /// Whether the file was removed from the index. It may still be on disk, ignored.
    fn disowned(&self) -> bool {
        self.status.is_index_deleted() && !self.status.is_wt_new()
    }
}

/// State of a pin in progress.
struct Pinning<'a> {
    theirs: &'a Theirs,
    /// Opened lazily, when the first object is written.
    ours: Option<Ours>,
    home: &'a Path,
    left_out: Vec<LeftOut>,
}

impl Pinning<'_> {
    fn ours(&mut self) -> Result<&Ours, RepoError> {
        let ours = match self.ours.take() {
            Some(ours) => ours,
            None => Ours::made(self.home)?,
        };
        Ok(self.ours.insert(ours))
    }

    /// Edits to apply to the tree of the last commit. Removals come first, because a folder may
    /// have replaced a file.
    fn patch(&mut self, changed: &[Changed]) -> Result<Patch, RepoError> {
        let mut patch = Patch::default();
        let mut kept = vec![];
        for (nth, changed) in changed.iter().enumerate() {
            match self.look(changed, nth < MOST) {
                Look::Same => {}
                Look::Gone => patch.remove(&changed.path),
                Look::Holds(bytes) => {
                    let id = self.ours()?.keep(ObjectType::Blob, &bytes)?;
                    kept.push((changed, id));
                }
            }
        }
        for (changed, id) in kept {
            patch.put(&changed.path, id, changed.mode == FileMode::BlobExecutable);
        }
        Ok(patch)
    }

    /// State of one changed path in the tree.
    fn look(&mut self, changed: &Changed, room: bool) -> Look {
        if changed.disowned() {
            return Look::Gone;
        }
        // The bindings have no status flag for unreadable files, so the status is empty.
        if changed.status == Status::CURRENT {
            return self.leave(changed, Why::Unreadable, Look::Same);
        }
        if changed.path.ends_with(b"/") || changed.mode == FileMode::Commit {
            return self.leave(changed, Why::Submodule, Look::Same);
        }
        // Not opened. The version of the last commit is public already and stays.
        if absent::secret(&changed.path) {
            return self.leave(changed, Why::Secret, Look::Same);
        }
        // The index is untrusted input: a path in it could lead out of the repository.
        let path = disk::path(&changed.path).filter(|_| !absent::unwritable(&changed.path));
        let Some(path) = path else {
            return self.leave(changed, Why::Unreadable, Look::Same);
        };
        if !room {
            return self.leave(changed, Why::TooMuch, Look::Gone);
        }
        match disk::read(&self.theirs.top, &path, LARGEST) {
            Found::Bytes(bytes) => Look::Holds(bytes),
            Found::Nothing if self.not_checked_out(&path) => Look::Same,
            Found::Nothing => Look::Gone,
            Found::Link => self.leave(changed, Why::Link, Look::Gone),
            Found::TooLarge => self.leave(changed, Why::TooLarge, Look::Gone),
            Found::Unreadable => self.leave(changed, Why::Unreadable, Look::Gone),
        }
    }

    fn leave(&mut self, changed: &Changed, why: Why, look: Look) -> Look {
        self.left_out.push(LeftOut::new(&changed.path, why));
        look
    }

    /// Whether a missing file is only excluded by a sparse checkout (`skip-worktree` flag).
    fn not_checked_out(&self, path: &Path) -> bool {
        let entry = self.theirs.repository.index().ok().and_then(|index| index.get_path(path, 0));
        let flags = entry.map_or(0, |entry| entry.flags_extended);
        IndexEntryExtendedFlag::from_bits_truncate(flags)
            .contains(IndexEntryExtendedFlag::SKIP_WORKTREE)
    }
}

/// State of a changed path in the pinned tree.
enum Look {
    /// As in the last commit.
    Same,
    Gone,
    /// New contents.
    Holds(Vec<u8>),
}
