//! Diff between two trees: every changed file, the kind of change, and the lines added and deleted.
//! The two trees can be in different object stores, so they are compared here, entry by entry, and
//! no filter, diff driver or program of the user is run. Entry points: `TreeStore::diff` and
//! `diff_trees`.
use super::counts::Heeded;
use super::stores::Stores;
use super::{File, Pin, Range, RepoError, Trees, Why, counts, range, renames};
use git2::{Delta, DiffOptions, Oid, Repository};
use std::cmp::Ordering;
use std::path::Path;

/// Maximum number of changed files that are listed.
const MOST: usize = 200_000;

/// Diff between two trees.
#[derive(Debug, Clone)]
pub struct Changes {
    /// What was compared, for messages: "the working tree against `0123456789ab`".
    pub says: String,
    /// Changed files, sorted by path.
    pub files: Vec<ChangedFile>,
    /// False if a limit was reached or objects are missing, as in a partial clone.
    pub whole: bool,
    /// How thoroughly renames were searched. With very many files a limited search reports some
    /// renames as deleted and added.
    pub renames: Renames,
}

/// Thoroughness of the rename detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renames {
    /// Every deleted file was compared with every added file.
    All,
    /// Only files with the same contents or the same name were compared.
    Likely,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Path from the repository root. For a deleted file the old path.
    pub path: String,
    /// Path before a rename.
    pub from: Option<String>,
    /// Kind of change.
    pub how: How,
    /// Added and deleted lines.
    pub lines: Lines,
    /// Old version. None if the file was added.
    pub old: Option<File>,
    /// New version. None if the file was deleted.
    pub new: Option<File>,
}

/// Kind of change of a file, like the status letters of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Only in the new tree.
    Added,
    /// Only in the old tree.
    Deleted,
    /// Contents or the executable bit changed.
    Modified,
    /// The path changed, and possibly the contents.
    Renamed,
    /// The entry type changed, such as a file that became a link.
    Retyped,
}

/// Line counts of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// Counted as `git diff --numstat` does.
    Counted {
        /// Lines only in the new version.
        added: usize,
        /// Lines only in the old version.
        deleted: usize,
    },
    /// The file is not text.
    Binary,
    /// Not counted, with the reason.
    Unknown(Why),
}

impl How {
    /// Status letter of git: `A`, `D`, `M`, `R` or `T`.
    pub fn letter(self) -> char {
        match self {
            How::Added => 'A',
            How::Deleted => 'D',
            How::Modified => 'M',
            How::Renamed => 'R',
            How::Retyped => 'T',
        }
    }
}

/// Id and file mode of a tree entry other than a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: Oid,
    pub(super) mode: i32,
}

/// One path at which two trees differ, before lines are counted.
pub(super) struct Change {
    pub(super) path: Vec<u8>,
    /// Path in the old tree, if it differs.
    pub(super) from: Option<Vec<u8>>,
    pub(super) old: Option<Entry>,
    pub(super) new: Option<Entry>,
}

impl Entry {
    pub(super) fn is_file(self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    pub(super) fn is_submodule(self) -> bool {
        self.mode & 0o170_000 == 0o160_000
    }
}

impl Trees {
    /// Computes the diff for a range. `pin` is the current state of the repository.
    pub fn changes(&self, root: &Path, pin: &Pin, range: &Range) -> Result<Changes, RepoError> {
        let stores = Stores::open(&self.home, root)?;
        let sides = range::sides(&stores, root, pin, range)?;
        let (changed, whole) = match sides.new {
            range::Side::Tree(new) => between(&stores, sides.old, new),
            range::Side::Index => (staged(&stores, root, sides.old)?, true),
        };
        let proposed = matches!(range, Range::Trees { .. });
        let heeded = if proposed { Heeded::No } else { Heeded::Yes };
        Ok(self.counted((&stores, root), sides.says, changed, whole, heeded))
    }

    /// Completes a raw diff: detects renames, sorts by path, counts lines.
    pub(super) fn counted(
        &self,
        (stores, root): (&Stores, &Path),
        says: String,
        mut changed: Vec<Change>,
        whole: bool,
        heeded: Heeded,
    ) -> Changes {
        let renames = renames::find(stores, &mut changed);
        changed.sort_by(|one, other| one.path.cmp(&other.path));
        let lines = counts::count(stores, &|| Stores::open(&self.home, root), &changed, heeded);
        let files = changed.into_iter().zip(lines);
        let files = files.map(|(change, lines)| ChangedFile::new(&change, lines)).collect();
        Changes { says, files, whole, renames }
    }
}

impl ChangedFile {
    fn new(change: &Change, lines: Lines) -> ChangedFile {
        let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let kind = |entry: Entry| entry.mode & 0o170_000;
        let how = match (change.old, change.new) {
            (None, _) => How::Added,
            (_, None) => How::Deleted,
            _ if change.from.is_some() => How::Renamed,
            (Some(old), Some(new)) if kind(old) != kind(new) => How::Retyped,
            _ => How::Modified,
        };
        let before = change.from.as_deref().unwrap_or(&change.path);
        let file = |path: &[u8], entry: Option<Entry>| {
            entry.map(|entry| File::new(shown(path), entry.mode, entry.id))
        };
        ChangedFile {
            path: shown(&change.path),
            from: change.from.as_deref().map(shown),
            how,
            lines,
            old: file(before, change.old),
            new: file(&change.path, change.new),
        }
    }

    /// Added and deleted lines, if they were counted.
    pub fn counts(&self) -> Option<(usize, usize)> {
        match self.lines {
            Lines::Counted { added, deleted } => Some((added, deleted)),
            _ => None,
        }
    }
}

/// Changed entries between two trees, and whether both trees could be read completely.
pub(super) fn between(stores: &Stores, old: Option<Oid>, new: Oid) -> (Vec<Change>, bool) {
    let mut comparing = Comparing { stores, changes: vec![], whole: true };
    comparing.folder(&[], old, Some(new));
    (comparing.changes, comparing.whole)
}

/// Recursive merge-walk over two sorted trees.
struct Comparing<'a> {
    stores: &'a Stores,
    changes: Vec<Change>,
    whole: bool,
}

/// Sort key and entry. The flag tells folders apart, because a file and a folder of one name
/// differ.
type Named = ((Vec<u8>, bool), Entry);

impl Comparing<'_> {
    fn folder(&mut self, path: &[u8], old: Option<Oid>, new: Option<Oid>) {
        const LONGEST_PATH: usize = 4_096;
        if old == new || path.len() > LONGEST_PATH {
            return;
        }
        let (old, new) = (self.entries(old), self.entries(new));
        let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((one, _)), Some((other, _))) => one.cmp(other),
            };
            let before = if order.is_le() { old.next() } else { None };
            let after = if order.is_ge() { new.next() } else { None };
            let Some(((name, is_folder), _)) = before.as_ref().or(after.as_ref()) else { return };
            let path = [path, name].concat();
            let (before, after) =
                (before.as_ref().map(|one| one.1), after.as_ref().map(|one| one.1));
            if before == after {
                continue;
            }
            if *is_folder {
                let id = |entry: Entry| entry.id;
                self.folder(&[&path[..], b"/"].concat(), before.map(id), after.map(id));
            } else if self.changes.len() < MOST {
                self.changes.push(Change { path, from: None, old: before, new: after });
            } else {
                self.whole = false;
            }
        }
    }

    fn entries(&mut self, id: Option<Oid>) -> Vec<Named> {
        let Some(id) = id else { return vec![] };
        let Some(tree) = self.stores.tree(id) else {
            // The empty tree is valid without being stored.
            self.whole &= Oid::hash_object(git2::ObjectType::Tree, &[]).is_ok_and(|no| no == id);
            return vec![];
        };
        let entry = |entry: git2::TreeEntry<'_>| {
            let mode = entry.filemode_raw();
            let name = (entry.name_bytes().to_owned(), mode & 0o170_000 == 0o040_000);
            (name, Entry { id: entry.id(), mode })
        };
        let mut entries: Vec<Named> = tree.iter().map(entry).collect();
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        entries
    }
}

/// Diff between a tree and the git index. Compares the index directly, because `git write-tree`
/// would write to the user's repository.
pub(super) fn staged(
    stores: &Stores,
    root: &Path,
    old: Option<Oid>,
) -> Result<Vec<Change>, RepoError> {
    let repository = stores.repository().ok_or(RepoError::no_repository(root))?;
    let compared = deltas(repository, old).map_err(|error| RepoError::broken(root, &error))?;
    Ok(compared)
}

fn deltas(repository: &Repository, old: Option<Oid>) -> Result<Vec<Change>, git2::Error> {
    let old = old.map(|id| repository.find_tree(id)).transpose()?;
    let mut options = DiffOptions::new();
    options.include_typechange(true).ignore_submodules(false);
    let diff = repository.diff_tree_to_index(old.as_ref(), None, Some(&mut options))?;
    let entry = |file: &git2::DiffFile<'_>, there: bool| {
        let mode = i32::try_from(u32::from(file.mode())).unwrap_or_default();
        there.then(|| Entry { id: file.id(), mode })
    };
    let change = |delta: git2::DiffDelta<'_>| {
        let (old, new) = (delta.old_file(), delta.new_file());
        let path = new.path_bytes().or(old.path_bytes()).unwrap_or_default().to_owned();
        let (old, new) = (
            entry(&old, delta.status() != Delta::Added),
            entry(&new, delta.status() != Delta::Deleted),
        );
        Change { path, from: None, old, new }
    };
    Ok(diff.deltas().map(change).collect())
}
