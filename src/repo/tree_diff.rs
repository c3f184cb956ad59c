//! Diff between two trees: every changed file, the kind of change, and the lines added and deleted.
//! The two trees can be in different object stores, so they are compared here, entry by entry, and
//! no filter, diff driver or program of the user is run. Entry points: `TreeStore::diff` and
//! `diff_trees`.
use super::numstat::{self, AttributePolicy, LineCounts};
use super::object_store::{MAX_TREE_PATH_BYTES, ObjectStore};
use super::renames::{self, RenameSearch};
use super::tree_delta::{DiffEntry, TreeDelta};
use super::{DiffRange, Pin, RepoError, TreeFile, TreeStore, diff_range};
use git2::{Delta, DiffOptions, Oid, Repository};
use std::cmp::Ordering;
use std::path::Path;
use std::time::Instant;

/// Maximum number of changed files that are listed.
const MAX_CHANGED_FILES: usize = 200_000;

/// Diff between two trees.
#[derive(Debug, Clone)]
pub struct TreeDiff {
    /// What was compared, for messages: "the working tree against `0123456789ab`".
    pub description: String,
    /// Changed files, sorted by path.
    pub files: Vec<ChangedFile>,
    /// False if a limit was reached or objects are missing, as in a partial clone.
    pub complete: bool,
    /// How thoroughly renames were searched. With very many files a limited search reports some
    /// renames as deleted and added.
    pub renames: RenameSearch,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Path from the repository root. For a deleted file the old path.
    pub path: String,
    /// Path before a rename.
    pub old_path: Option<String>,
    /// Kind of change.
    pub kind: FileChangeKind,
    /// Added and deleted lines.
    pub lines: LineCounts,
    /// Old version. None if the file was added.
    pub old: Option<TreeFile>,
    /// New version. None if the file was deleted.
    pub new: Option<TreeFile>,
}

/// Kind of change of a file, like the status letters of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChangeKind {
    /// Only in the new tree.
    Added,
    /// Only in the old tree.
    Deleted,
    /// Contents or the executable bit changed.
    Modified,
    /// The path changed, and possibly the contents.
    Renamed,
    /// The entry type changed, such as a file that became a link.
    TypeChanged,
}

impl FileChangeKind {
    /// Status letter of git: `A`, `D`, `M`, `R` or `T`.
    pub fn letter(self) -> char {
        match self {
            FileChangeKind::Added => 'A',
            FileChangeKind::Deleted => 'D',
            FileChangeKind::Modified => 'M',
            FileChangeKind::Renamed => 'R',
            FileChangeKind::TypeChanged => 'T',
        }
    }
}

impl TreeStore {
    /// Computes the diff for a range. `pin` is the current state of the repository.
    pub fn diff(&self, root: &Path, pin: &Pin, range: &DiffRange) -> Result<TreeDiff, RepoError> {
        let stores = ObjectStore::open(&self.home, root)?;
        let sides = diff_range::resolve_range(&stores, root, pin, range)?;
        let (changed, complete) = match sides.new {
            diff_range::NewSide::Tree(new) => diff_trees(&stores, sides.old, new),
            diff_range::NewSide::Index => (diff_index(&stores, root, sides.old)?, true),
        };
        let is_proposal = matches!(range, DiffRange::Trees { .. });
        let attribute_policy =
            if is_proposal { AttributePolicy::Ignore } else { AttributePolicy::Honor };
        Ok(self.build_diff((&stores, root), sides.description, changed, complete, attribute_policy))
    }

    /// Completes a raw diff: detects renames, sorts by path, counts lines.
    pub(super) fn build_diff(
        &self,
        (stores, root): (&ObjectStore, &Path),
        description: String,
        mut changed: Vec<TreeDelta>,
        complete: bool,
        attribute_policy: AttributePolicy,
    ) -> TreeDiff {
        let started = Instant::now();
        let renames = renames::detect_renames(stores, &mut changed);
        changed.sort_by(|one, other| one.path.cmp(&other.path));
        let lines = numstat::count_lines(
            stores,
            &|| ObjectStore::open(&self.home, root),
            &changed,
            attribute_policy,
        );
        let files = changed.into_iter().zip(lines);
        let files: Vec<ChangedFile> =
            files.map(|(change, lines)| ChangedFile::new(&change, lines)).collect();
        let elapsed_ms = started.elapsed().as_millis();
        tracing::debug!(files = files.len(), elapsed_ms, "diff computed");
        TreeDiff { description, files, complete, renames }
    }
}

impl ChangedFile {
    fn new(change: &TreeDelta, lines: LineCounts) -> ChangedFile {
        let decode = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let kind = |entry: DiffEntry| entry.mode & 0o170_000;
        let kind = match (change.old, change.new) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            _ if change.old_path.is_some() => FileChangeKind::Renamed,
            (Some(old), Some(new)) if kind(old) != kind(new) => FileChangeKind::TypeChanged,
            _ => FileChangeKind::Modified,
        };
        let old_path = change.old_path.as_deref().unwrap_or(&change.path);
        let file = |path: &[u8], entry: Option<DiffEntry>| {
            entry.map(|entry| TreeFile::new(decode(path), entry.mode, entry.id))
        };
        ChangedFile {
            path: decode(&change.path),
            old_path: change.old_path.as_deref().map(decode),
            kind,
            lines,
            old: file(old_path, change.old),
            new: file(&change.path, change.new),
        }
    }

    /// Added and deleted lines, if they were counted.
    pub fn line_counts(&self) -> Option<(usize, usize)> {
        match self.lines {
            LineCounts::Counted { added, deleted } => Some((added, deleted)),
            _ => None,
        }
    }
}

/// Changed entries between two trees, and whether both trees could be read completely.
pub(super) fn diff_trees(
    stores: &ObjectStore,
    old: Option<Oid>,
    new: Oid,
) -> (Vec<TreeDelta>, bool) {
    let mut comparison = TreeComparison { stores, changes: vec![], complete: true };
    comparison.compare_folder(&[], old, Some(new));
    (comparison.changes, comparison.complete)
}

/// Recursive merge-walk over two sorted trees.
struct TreeComparison<'a> {
    stores: &'a ObjectStore,
    changes: Vec<TreeDelta>,
    complete: bool,
}

/// Sort key and entry. The flag tells folders apart, because a file and a folder of one name
/// differ.
type NamedEntry = ((Vec<u8>, bool), DiffEntry);

impl TreeComparison<'_> {
    fn compare_folder(&mut self, path: &[u8], old: Option<Oid>, new: Option<Oid>) {
        if old == new || path.len() > MAX_TREE_PATH_BYTES {
            return;
        }
        let (old, new) = (self.sorted_entries(old), self.sorted_entries(new));
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
                let id = |entry: DiffEntry| entry.id;
                self.compare_folder(&[&path[..], b"/"].concat(), before.map(id), after.map(id));
            } else if self.changes.len() < MAX_CHANGED_FILES {
                self.changes.push(TreeDelta { path, old_path: None, old: before, new: after });
            } else {
                self.complete = false;
            }
        }
    }

    fn sorted_entries(&mut self, id: Option<Oid>) -> Vec<NamedEntry> {
        let Some(id) = id else { return vec![] };
        let Some(tree) = self.stores.find_tree(id) else {
            // The empty tree is valid without being stored.
            self.complete &= Oid::hash_object(git2::ObjectType::Tree, &[]).is_ok_and(|no| no == id);
            return vec![];
        };
        let entry = |entry: git2::TreeEntry<'_>| {
            let mode = entry.filemode_raw();
            let name = (entry.name_bytes().to_owned(), mode & 0o170_000 == 0o040_000);
            (name, DiffEntry { id: entry.id(), mode })
        };
        let mut entries: Vec<NamedEntry> = tree.iter().map(entry).collect();
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        entries
    }
}

/// Diff between a tree and the git index. Compares the index directly, because `git write-tree`
/// would write to the user's repository.
pub(super) fn diff_index(
    stores: &ObjectStore,
    root: &Path,
    old: Option<Oid>,
) -> Result<Vec<TreeDelta>, RepoError> {
    let repository = stores.repository().ok_or(RepoError::no_repository(root))?;
    let deltas =
        index_deltas(repository, old).map_err(|error| RepoError::from_git(root, &error))?;
    Ok(deltas)
}

fn index_deltas(repository: &Repository, old: Option<Oid>) -> Result<Vec<TreeDelta>, git2::Error> {
    let old = old.map(|id| repository.find_tree(id)).transpose()?;
    let mut options = DiffOptions::new();
    options.include_typechange(true).ignore_submodules(false);
    let diff = repository.diff_tree_to_index(old.as_ref(), None, Some(&mut options))?;
    let entry = |file: &git2::DiffFile<'_>, exists: bool| {
        let mode = i32::try_from(u32::from(file.mode())).unwrap_or_default();
        exists.then(|| DiffEntry { id: file.id(), mode })
    };
    let change = |delta: git2::DiffDelta<'_>| {
        let (old, new) = (delta.old_file(), delta.new_file());
        let path = new.path_bytes().or(old.path_bytes()).unwrap_or_default().to_owned();
        let (old, new) = (
            entry(&old, delta.status() != Delta::Added),
            entry(&new, delta.status() != Delta::Deleted),
        );
        TreeDelta { path, old_path: None, old, new }
    };
    Ok(diff.deltas().map(change).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo};

    #[test]
    fn changed_files_over_the_limit_are_not_listed() {
        let repo = TempRepo::new();
        let (id, stores) = (repo.blob(b"x"), repo.object_store());
        for (added, complete) in [(1, true), (2, false)] {
            let names = ["a.rs", "b.rs"].into_iter().take(added);
            let tree = repo.tree(names.map(|name| (FILE_MODE, name, id)));
            let changes = (1..MAX_CHANGED_FILES)
                .map(|_| TreeDelta { path: vec![], old_path: None, old: None, new: None })
                .collect();
            let mut comparison = TreeComparison { stores: &stores, changes, complete: true };
            comparison.compare_folder(&[], None, Some(tree));
            let found = (comparison.changes.len(), comparison.complete);
            assert_eq!(found, (MAX_CHANGED_FILES, complete));
        }
        assert_eq!(MAX_CHANGED_FILES, 200_000);
    }

    #[test]
    fn folder_with_too_long_a_path_is_not_compared() {
        let repo = TempRepo::new();
        let tree = repo.tree([(FILE_MODE, "a.rs", repo.blob(b"x"))]);
        let stores = repo.object_store();
        for (path_bytes, expected) in [(MAX_TREE_PATH_BYTES, 1), (MAX_TREE_PATH_BYTES + 1, 0)] {
            let mut comparison =
                TreeComparison { stores: &stores, changes: vec![], complete: true };
            comparison.compare_folder("x".repeat(path_bytes).as_bytes(), None, Some(tree));
            assert_eq!(comparison.changes.len(), expected);
        }
    }
}
