//! Pins the current state of a repository: the tree of the last commit with all uncommitted changes
//! applied. Files are read as they are, and no filter, hook or other process is run.
use super::disk::{self, DiskRead};
use super::exclusions::{self, MAX_FILE_BYTES};
use super::object_store::{OwnRepo, UserRepo};
use super::tree_edits::TreeEdits;
use super::{ExcludedPath, ExclusionReason, Pin, RepoError, TreeStore, plain_folder};
use git2::{
    ErrorClass, ErrorCode, FileMode, IndexEntryExtendedFlag, ObjectType, Oid, Status, StatusEntry,
    StatusOptions,
};
use std::path::{Path, PathBuf};

/// Maximum number of changed files included.
const MAX_CHANGED_FILES: usize = 20_000;

/// One entry of the git status.
struct StatusChange {
    path: Vec<u8>,
    status: Status,
    mode: FileMode,
}

impl TreeStore {
    /// Pins the current state of the repository around `root` as one tree, always the whole
    /// repository. Without a repository it pins the folder itself, and returns None if that is
    /// empty, too large or a home folder.
    pub fn pin(&self, root: &Path) -> Result<Option<Pin>, RepoError> {
        pin_repository(&self.home, root, &[])
    }

    /// Like `pin`, but ignores `files`, which the caller is about to write.
    pub fn pin_without(&self, root: &Path, files: &[PathBuf]) -> Result<Option<Pin>, RepoError> {
        pin_repository(&self.home, root, files)
    }
}

/// Pins the repository around `root`, or the plain folder if there is none.
fn pin_repository(
    home: &Path,
    root: &Path,
    excluded: &[PathBuf],
) -> Result<Option<Pin>, RepoError> {
    let Some(user_repo) = UserRepo::discover(root)? else {
        return plain_folder::pin_folder(home, root);
    };
    let git_error = |error: git2::Error| RepoError::from_git(&user_repo.top, &error);
    let head = head_commit(&user_repo).map_err(git_error)?;
    let mut left_out = vec![];
    let changes = match (list_changes(&user_repo, home, excluded), head) {
        (Ok(changes), _) => changes,
        // libgit2 cannot parse some index formats. The last commit is pinned without the changes
        // then.
        (Err(error), Some(_)) if error.class() == ErrorClass::Index => {
            left_out.push(ExcludedPath::new(
                b"(what has changed since the last commit)",
                ExclusionReason::Unreadable,
            ));
            vec![]
        }
        (Err(error), _) => return Err(git_error(error)),
    };
    let mut builder = PinBuilder { user_repo: &user_repo, own_repo: None, home, left_out };
    let (edits, base) = (builder.build_edits(&changes)?, head.map(|(_, tree)| tree));
    let tree = match (base, edits.is_empty()) {
        (Some(tree), true) => tree,
        (None, true) => Oid::hash_object(ObjectType::Tree, &[]).map_err(git_error)?,
        (base, false) => edits.write(Some(&user_repo), builder.own_repo()?, base)?,
    };
    let commit = head.map(|(commit, _)| commit.to_string());
    let (dirty, left_out) = (!changes.is_empty(), builder.left_out);
    tracing::debug!(%tree, dirty, left_out = left_out.len(), "repository pinned");
    Ok(Some(Pin { tree: tree.to_string(), commit, dirty, left_out }))
}

/// Last commit and its tree. None before the first commit.
fn head_commit(user_repo: &UserRepo) -> Result<Option<(Oid, Oid)>, git2::Error> {
    match user_repo.repository.head() {
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
    user_repo: &UserRepo,
    home: &Path,
    excluded: &[PathBuf],
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
    let statuses = user_repo.repository.statuses(Some(&mut options))?;
    let mut changed: Vec<StatusChange> =
        statuses.iter().map(|entry| StatusChange::new(&entry)).collect();
    // Our own files are ignored, even if the user placed the home folder inside the repository.
    if let Ok(home) = dunce::canonicalize(home)
        && let Ok(relative_home) = home.strip_prefix(&user_repo.top)
        && !relative_home.as_os_str().is_empty()
    {
        changed.retain(|changed| {
            disk::path_from_bytes(&changed.path).is_none_or(|path| !path.starts_with(relative_home))
        });
    }
    changed.retain(|changed| !exclusions::is_debate_file(&changed.path));
    let excluded: Vec<&Path> =
        excluded.iter().filter_map(|file| file.strip_prefix(&user_repo.top).ok()).collect();
    changed.retain(|changed| {
        disk::path_from_bytes(&changed.path).is_none_or(|path| !excluded.contains(&path.as_path()))
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
        let own_repo = match self.own_repo.take() {
            Some(own_repo) => own_repo,
            None => OwnRepo::open_or_create(self.home)?,
        };
        Ok(self.own_repo.insert(own_repo))
    }

    /// Edits to apply to the tree of the last commit. Removals come first, because a folder may
    /// have replaced a file.
    fn build_edits(&mut self, changed: &[StatusChange]) -> Result<TreeEdits, RepoError> {
        let mut edits = TreeEdits::default();
        let mut written = vec![];
        for (index, changed) in changed.iter().enumerate() {
            match self.classify(changed, index < MAX_CHANGED_FILES) {
                PinnedState::Unchanged => {}
                PinnedState::Deleted => edits.remove(&changed.path),
                PinnedState::Contents(bytes) => {
                    let id = self.own_repo()?.write_object(ObjectType::Blob, &bytes)?;
                    written.push((changed, id));
                }
            }
        }
        for (changed, id) in written {
            edits.put_file(&changed.path, id, changed.mode == FileMode::BlobExecutable);
        }
        Ok(edits)
    }

    /// State of one changed path in the tree.
    fn classify(&mut self, change: &StatusChange, within_limit: bool) -> PinnedState {
        if change.is_removed_from_index() {
            return PinnedState::Deleted;
        }
        // The bindings have no status flag for unreadable files, so the status is empty.
        if change.status == Status::CURRENT {
            return self.exclude(change, ExclusionReason::Unreadable, PinnedState::Unchanged);
        }
        if change.path.ends_with(b"/") || change.mode == FileMode::Commit {
            return self.exclude(change, ExclusionReason::Submodule, PinnedState::Unchanged);
        }
        // Not opened. The version of the last commit is public already and stays.
        if exclusions::is_secret_path(&change.path) {
            return self.exclude(change, ExclusionReason::Secret, PinnedState::Unchanged);
        }
        // The index is untrusted input: a path in it could lead out of the repository.
        let path = disk::path_from_bytes(&change.path)
            .filter(|_| !exclusions::is_unwritable(&change.path));
        let Some(path) = path else {
            return self.exclude(change, ExclusionReason::Unreadable, PinnedState::Unchanged);
        };
        if !within_limit {
            return self.exclude(change, ExclusionReason::TooMuch, PinnedState::Deleted);
        }
        match disk::read_file(&self.user_repo.top, &path, MAX_FILE_BYTES) {
            DiskRead::Bytes(bytes) => PinnedState::Contents(bytes),
            DiskRead::Missing if self.is_outside_sparse_checkout(&path) => PinnedState::Unchanged,
            DiskRead::Missing => PinnedState::Deleted,
            DiskRead::Link => self.exclude(change, ExclusionReason::Link, PinnedState::Deleted),
            DiskRead::TooLarge => {
                self.exclude(change, ExclusionReason::TooLarge, PinnedState::Deleted)
            }
            DiskRead::Unreadable => {
                self.exclude(change, ExclusionReason::Unreadable, PinnedState::Deleted)
            }
        }
    }

    fn exclude(
        &mut self,
        change: &StatusChange,
        reason: ExclusionReason,
        state: PinnedState,
    ) -> PinnedState {
        self.left_out.push(ExcludedPath::new(&change.path, reason));
        state
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::TempRepo;
    use std::fs;

    #[test]
    fn changed_files_over_the_limit_are_left_out() {
        let repo = TempRepo::new();
        for name in ["last.rs", "over.rs"] {
            fs::write(repo.root().join(name), "x").unwrap();
        }
        let change = |name: &str, status: Status| StatusChange {
            path: name.into(),
            status,
            mode: FileMode::Blob,
        };
        // A file removed from the index counts, but is not read.
        let mut changes: Vec<StatusChange> =
            (1..MAX_CHANGED_FILES).map(|_| change("removed.rs", Status::INDEX_DELETED)).collect();
        changes.extend(["last.rs", "over.rs"].map(|name| change(name, Status::WT_NEW)));
        let (user_repo, home) = (UserRepo::discover(&repo.root()).unwrap().unwrap(), repo.home());
        let mut builder =
            PinBuilder { user_repo: &user_repo, own_repo: None, home: &home, left_out: vec![] };
        let edits = builder.build_edits(&changes).unwrap();
        let tree = edits.write(None, builder.own_repo().unwrap(), None).unwrap();
        let view = repo.tree_store().view(&repo.root(), &tree.to_string()).unwrap();
        let paths: Vec<&str> = view.files().iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["last.rs"]);
        assert_eq!(builder.left_out, [ExcludedPath::new(b"over.rs", ExclusionReason::TooMuch)]);
        assert_eq!(MAX_CHANGED_FILES, 20_000);
    }
}
