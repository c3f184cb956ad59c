//! Pins the current state of a repository: the tree of the last commit with all uncommitted changes
//! applied. Files are read as they are, and no filter, hook or other process is run.
use super::disk::{self, DiskRead};
use super::object_store::{OwnRepo, UserRepo};
use super::tree_edits::TreeEdits;
use super::{ExcludedPath, ExclusionReason, MAX_FILE_BYTES, RepoError, exclusions, plain_folder};
use git2::{
    ErrorClass, ErrorCode, FileMode, IndexEntryExtendedFlag, ObjectType, Oid, Status, StatusEntry,
    StatusOptions,
};
use std::path::{Path, PathBuf};

/// Maximum number of changed files included.
const MAX_CHANGED_FILES: usize = 20_000;

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
    pub left_out: Vec<ExcludedPath>,
}

/// One entry of the git status.
struct StatusChange {
    path: Vec<u8>,
    status: Status,
    mode: FileMode,
}

/// Pins the repository around `root`, or the plain folder if there is none.
pub(super) fn pin_repository(
    home: &Path,
    root: &Path,
    without: &[PathBuf],
) -> Result<Option<Pin>, RepoError> {
    let Some(theirs) = UserRepo::discover(root)? else {
        return plain_folder::pin_folder(home, root);
    };
    let broken = |error: git2::Error| RepoError::from_git(&theirs.top, &error);
    let head = head_commit(&theirs).map_err(broken)?;
    let mut left_out = vec![];
    let changed = match (list_changes(&theirs, home, without), head) {
        (Ok(changed), _) => changed,
        // libgit2 cannot parse some index formats. The last commit is pinned without the changes
        // then.
        (Err(error), Some(_)) if error.class() == ErrorClass::Index => {
            left_out.push(ExcludedPath::new(
                b"(what has changed since the last commit)",
                ExclusionReason::Unreadable,
            ));
            vec![]
        }
        (Err(error), _) => return Err(broken(error)),
    };
    let mut pinning = PinBuilder { user_repo: &theirs, own_repo: None, home, left_out };
    let (patch, base) = (pinning.build_edits(&changed)?, head.map(|(_, tree)| tree));
    let tree = match (base, patch.is_empty()) {
        (Some(tree), true) => tree,
        (None, true) => Oid::hash_object(ObjectType::Tree, &[]).map_err(broken)?,
        (base, false) => patch.write(Some(&theirs), pinning.own_repo()?, base)?,
    };
    let commit = head.map(|(commit, _)| commit.to_string());
    let (dirty, left_out) = (!changed.is_empty(), pinning.left_out);
    Ok(Some(Pin { tree: tree.to_string(), commit, dirty, left_out }))
}

/// Last commit and its tree. None before the first commit.
fn head_commit(theirs: &UserRepo) -> Result<Option<(Oid, Oid)>, git2::Error> {
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
fn list_changes(
    theirs: &UserRepo,
    home: &Path,
    without: &[PathBuf],
) -> Result<Vec<StatusChange>, git2::Error> {
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
    let mut changed: Vec<StatusChange> =
        statuses.iter().map(|entry| StatusChange::new(&entry)).collect();
    // Our own files are ignored, even if the user placed the home folder inside the repository.
    if let Ok(home) = dunce::canonicalize(home)
        && let Ok(below) = home.strip_prefix(&theirs.top)
        && !below.as_os_str().is_empty()
    {
        changed.retain(|changed| {
            disk::path_from_bytes(&changed.path).is_none_or(|path| !path.starts_with(below))
        });
    }
    changed.retain(|changed| !exclusions::is_debate_file(&changed.path));
    let without: Vec<&Path> =
        without.iter().filter_map(|file| file.strip_prefix(&theirs.top).ok()).collect();
    changed.retain(|changed| {
        disk::path_from_bytes(&changed.path).is_none_or(|path| !without.contains(&path.as_path()))
    });
    changed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(changed)
}

impl StatusChange {
    fn new(entry: &StatusEntry<'_>) -> StatusChange {
        let delta = entry.index_to_workdir().or_else(|| entry.head_to_index());
        let mode = delta.map_or(FileMode::Blob, |delta| delta.new_file().mode());
        StatusChange { path: entry.path_bytes().to_owned(), status: entry.status(), mode }
    }

    /// Whether the file was removed from the index. It may still be on disk, ignored.
    fn is_removed_from_index(&self) -> bool {
        self.status.is_index_deleted() && !self.status.is_wt_new()
    }
}

/// State of a pin in progress.
struct PinBuilder<'a> {
    user_repo: &'a UserRepo,
    /// Opened lazily, when the first object is written.
    own_repo: Option<OwnRepo>,
    home: &'a Path,
    left_out: Vec<ExcludedPath>,
}

impl PinBuilder<'_> {
    fn own_repo(&mut self) -> Result<&OwnRepo, RepoError> {
        let ours = match self.own_repo.take() {
            Some(ours) => ours,
            None => OwnRepo::open_or_create(self.home)?,
        };
        Ok(self.own_repo.insert(ours))
    }

    /// Edits to apply to the tree of the last commit. Removals come first, because a folder may
    /// have replaced a file.
    fn build_edits(&mut self, changed: &[StatusChange]) -> Result<TreeEdits, RepoError> {
        let mut patch = TreeEdits::default();
        let mut kept = vec![];
        for (nth, changed) in changed.iter().enumerate() {
            match self.classify(changed, nth < MAX_CHANGED_FILES) {
                PinnedState::Unchanged => {}
                PinnedState::Deleted => patch.remove(&changed.path),
                PinnedState::Contents(bytes) => {
                    let id = self.own_repo()?.write_object(ObjectType::Blob, &bytes)?;
                    kept.push((changed, id));
                }
            }
        }
        for (changed, id) in kept {
            patch.put_file(&changed.path, id, changed.mode == FileMode::BlobExecutable);
        }
        Ok(patch)
    }

    /// State of one changed path in the tree.
    fn classify(&mut self, changed: &StatusChange, room: bool) -> PinnedState {
        if changed.is_removed_from_index() {
            return PinnedState::Deleted;
        }
        // The bindings have no status flag for unreadable files, so the status is empty.
        if changed.status == Status::CURRENT {
            return self.exclude(changed, ExclusionReason::Unreadable, PinnedState::Unchanged);
        }
        if changed.path.ends_with(b"/") || changed.mode == FileMode::Commit {
            return self.exclude(changed, ExclusionReason::Submodule, PinnedState::Unchanged);
        }
        // Not opened. The version of the last commit is public already and stays.
        if exclusions::is_secret_path(&changed.path) {
            return self.exclude(changed, ExclusionReason::Secret, PinnedState::Unchanged);
        }
        // The index is untrusted input: a path in it could lead out of the repository.
        let path = disk::path_from_bytes(&changed.path)
            .filter(|_| !exclusions::is_unwritable(&changed.path));
        let Some(path) = path else {
            return self.exclude(changed, ExclusionReason::Unreadable, PinnedState::Unchanged);
        };
        if !room {
            return self.exclude(changed, ExclusionReason::TooMuch, PinnedState::Deleted);
        }
        match disk::read_file(&self.user_repo.top, &path, MAX_FILE_BYTES) {
            DiskRead::Bytes(bytes) => PinnedState::Contents(bytes),
            DiskRead::Missing if self.is_outside_sparse_checkout(&path) => PinnedState::Unchanged,
            DiskRead::Missing => PinnedState::Deleted,
            DiskRead::Link => self.exclude(changed, ExclusionReason::Link, PinnedState::Deleted),
            DiskRead::TooLarge => {
                self.exclude(changed, ExclusionReason::TooLarge, PinnedState::Deleted)
            }
            DiskRead::Unreadable => {
                self.exclude(changed, ExclusionReason::Unreadable, PinnedState::Deleted)
            }
        }
    }

    fn exclude(
        &mut self,
        changed: &StatusChange,
        why: ExclusionReason,
        look: PinnedState,
    ) -> PinnedState {
        self.left_out.push(ExcludedPath::new(&changed.path, why));
        look
    }

    /// Whether a missing file is only excluded by a sparse checkout (`skip-worktree` flag).
    fn is_outside_sparse_checkout(&self, path: &Path) -> bool {
        let entry =
            self.user_repo.repository.index().ok().and_then(|index| index.get_path(path, 0));
        let flags = entry.map_or(0, |entry| entry.flags_extended);
        IndexEntryExtendedFlag::from_bits_truncate(flags)
            .contains(IndexEntryExtendedFlag::SKIP_WORKTREE)
    }
}

/// State of a changed path in the pinned tree.
enum PinnedState {
    /// As in the last commit.
    Unchanged,
    Deleted,
    /// New contents.
    Contents(Vec<u8>),
}
