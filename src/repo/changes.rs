//! What differs between two trees: every file by name, how it came to differ, and how many lines
//! were added and deleted. The trees may be in either store, so they are compared here, entry by
//! entry, and nothing of the user's, be it filter, driver or program, has a say in it.
use super::counts::Heeded;
use super::stores::Stores;
use super::{File, Pin, Range, RepoError, Trees, Why, counts, range, renames};
use git2::{Delta, DiffOptions, Oid, Repository};
use std::cmp::Ordering;
use std::path::Path;

/// Changed files that are listed.
const MOST: usize = 200_000;

/// What has changed between two states.
#[derive(Debug, Clone)]
pub struct Changes {
    /// What was compared with what, in a few words: "the working tree against `0123456789ab`".
    pub says: String,
    /// Every changed file, sorted by path.
    pub files: Vec<ChangedFile>,
    /// Whether all of it could be listed: in a partial clone some folders may not be there.
    pub whole: bool,
    /// Whether files that were renamed and changed a lot were looked for: among very many they are
    /// not, and stand there as deleted and added.
    pub renames: Renames,
}

/// How thoroughly renamed files were looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renames {
    /// Every deleted file was compared with every added one.
    All,
    /// Only those with the same contents or the same name.
    Likely,
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// From the root of the repository; where it was deleted, where it used to be.
    pub path: String,
    /// What it was called before, if it was renamed.
    pub from: Option<String>,
    /// What became of it.
    pub how: How,
    /// How many lines differ.
    pub lines: Lines,
    /// What it was before. None if it was added.
    pub old: Option<File>,
    /// What it is now. None if it was deleted.
    pub new: Option<File>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It was not there before.
    Added,
    /// It is not there any more.
    Deleted,
    /// It has other contents, or may be run where it could not be.
    Modified,
    /// It has another name, and perhaps other contents.
    Renamed,
    /// It was a file and is a link, or the like.
    Retyped,
}

/// How many lines of a file differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// As `git diff --numstat` counts them.
    Counted {
        /// Lines that were not there before.
        added: usize,
        /// Lines that are not there any more.
        deleted: usize,
    },
    /// It is not text, and has no lines.
    Binary,
    /// They could not be counted.
    Unknown(Why),
}

impl How {
    /// The letter git has for it.
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

/// One entry of a tree that is no folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: Oid,
    pub(super) mode: i32,
}

/// One path at which two trees differ, before it is known how much.
pub(super) struct Change {
    pub(super) path: Vec<u8>,
    /// Where the old one is, if that is not the same path.
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
    /// What has changed, in the sense the user has asked for. `pin` is what stands there now.
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

    /// What has changed, with what was only renamed, and counted.
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

    /// Lines added and deleted, if they are known.
    pub fn counts(&self) -> Option<(usize, usize)> {
        match self.lines {
            Lines::Counted { added, deleted } => Some((added, deleted)),
            _ => None,
        }
    }
}

/// What differs between two trees, and whether all of it could be read.
pub(super) fn between(stores: &Stores, old: Option<Oid>, new: Oid) -> (Vec<Change>, bool) {
    let mut comparing = Comparing { stores, changes: vec![], whole: true };
    comparing.folder(&[], old, Some(new));
    (comparing.changes, comparing.whole)
}

/// A comparison under way.
struct Comparing<'a> {
    stores: &'a Stores,
    changes: Vec<Change>,
    whole: bool,
}

/// The name of an entry, and whether it is a folder: a file and a folder of one name are two.
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
            // The empty tree need not be kept anywhere.
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

/// What is staged. The index is compared as it is: writing a tree of it would write to the user's
/// repository.
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
