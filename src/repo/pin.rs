//! What stands in a repository now: the tree of its last commit and, over it, what has changed on
//! disk since. Files are read as they are; no filter, hook or program is ever run.
use super::disk::{self, Found};
use super::patch::Patch;
use super::stores::{Ours, Theirs};
use super::{LARGEST, LeftOut, RepoError, Why, absent, plain};
use git2::{
    ErrorClass, ErrorCode, FileMode, IndexEntryExtendedFlag, ObjectType, Oid, Status, StatusEntry,
    StatusOptions,
};
use std::path::{Path, PathBuf};

/// Changed files that are taken.
const MOST: usize = 20_000;

/// A state of a repository that can be found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The id of its tree, 40 hexadecimal digits.
    pub tree: String,
    /// The id of the last commit. None if there is none yet.
    pub commit: Option<String>,
    /// Whether something has changed since that commit.
    pub dirty: bool,
    /// What has changed and is not in the tree as it stands on disk.
    pub left_out: Vec<LeftOut>,
}

/// One thing that differs from the last commit.
struct Changed {
    path: Vec<u8>,
    status: Status,
    mode: FileMode,
}

/// Pins what stands in the repository around a folder, or in the folder if there is none.
pub(super) fn pin(home: &Path, root: &Path, without: &[PathBuf]) -> Result<Option<Pin>, RepoError> {
    let Some(theirs) = Theirs::around(root)? else { return plain::pin(home, root) };
    let broken = |error: git2::Error| RepoError::broken(&theirs.top, &error);
    let head = head(&theirs).map_err(broken)?;
    let mut left_out = vec![];
    let changed = match (changed(&theirs, home, without), head) {
        (Ok(changed), _) => changed,
        // Some indexes are written in ways that cannot be read here; the last commit can.
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

/// The last commit and its tree. None before the first.
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

/// Everything that differs from the last commit, sorted by path.
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
    // What we keep ourselves is no part of the repository, even if it was put there.
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

    /// Whether it was taken out of git's hands, though it may be lying there, ignored.
    fn disowned(&self) -> bool {
        self.status.is_index_deleted() && !self.status.is_wt_new()
    }
}

/// A pin in the making.
struct Pinning<'a> {
    theirs: &'a Theirs,
    /// Opened when there is something to be kept.
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

    /// What is to be changed in the tree of the last commit. What is gone comes first: a folder may
    /// stand where a file was.
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

    /// What became of one thing that has changed.
    fn look(&mut self, changed: &Changed, room: bool) -> Look {
        if changed.disowned() {
            return Look::Gone;
        }
        // The bindings have no word for what cannot even be looked at, and say nothing of it.
        if changed.status == Status::CURRENT {
            return self.leave(changed, Why::Unreadable, Look::Same);
        }
        if changed.path.ends_with(b"/") || changed.mode == FileMode::Commit {
            return self.leave(changed, Why::Submodule, Look::Same);
        }
        // Not even looked at. What the last commit has of it is no secret any more, and stays.
        if absent::secret(&changed.path) {
            return self.leave(changed, Why::Secret, Look::Same);
        }
        // An index may be anybody's, and its paths may lead anywhere.
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

    /// Whether a file that is not there was never meant to be: in a sparse checkout it only looks
    /// deleted.
    fn not_checked_out(&self, path: &Path) -> bool {
        let entry = self.theirs.repository.index().ok().and_then(|index| index.get_path(path, 0));
        let flags = entry.map_or(0, |entry| entry.flags_extended);
        IndexEntryExtendedFlag::from_bits_truncate(flags)
            .contains(IndexEntryExtendedFlag::SKIP_WORKTREE)
    }
}

/// How something that has changed stands in the tree.
enum Look {
    /// As in the last commit.
    Same,
    /// Not at all.
    Gone,
    /// With these contents.
    Holds(Vec<u8>),
}
