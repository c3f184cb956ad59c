//! Pins an unmerged change as one tree: the new state, plus a base folder with the old version of
//! every file the change touches. So debaters can read both, and citations of deleted lines can be
//! looked up like any other.
use super::apply_patch;
use super::diff_range::{self, NewSide};
use super::numstat::AttributePolicy;
use super::object_store::{ObjectStore, OwnRepo};
use super::tree_delta::TreeDelta;
use super::tree_diff;
use super::tree_edits::TreeEdits;
use super::{DiffRange, Pin, RepoError, TreeDiff, TreeStore, exclusions};
use git2::{Oid, Repository, Sort};
use std::path::Path;

/// Name of the base folder, or its prefix. The name must be in neither tree, so that the author of
/// the change cannot forge old versions.
const BASE_FOLDER: &str = ".debate-base";

/// Maximum number of old files included.
const MAX_BASE_FILES: usize = 20_000;
/// Maximum number of commit messages read.
const MAX_MESSAGES: usize = 50;

/// Where the change comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeSource {
    /// A comparison of two states.
    Range(DiffRange),
    /// A patch applied to a commit.
    Patch {
        /// Patch text, as `git diff` or `git format-patch` writes it.
        text: Vec<u8>,
        /// Commit it applies to [default: the last commit].
        base: Option<String>,
    },
}

/// An unmerged change, pinned.
#[derive(Debug, Clone)]
pub struct PinnedChange {
    /// Pin of the new state with the base folder added.
    pub pin: Pin,
    /// Name of the base folder in that tree.
    pub base_folder: String,
    /// Tree id of the old state. None if the change starts from nothing.
    pub old_tree: Option<String>,
    /// Tree id of the new state, without the base folder.
    pub new_tree: String,
    /// Commits of the old and the new state, if they are commits.
    pub commits: (Option<String>, Option<String>),
    /// Diff from the old to the new state.
    pub diff: TreeDiff,
    /// Commit messages of the change, newest first.
    pub messages: Vec<String>,
    /// Name of the checked-out branch. None if HEAD is detached.
    pub branch: Option<String>,
    /// Whether the checked-out commit contains the new commit.
    pub checked_out: bool,
}

impl TreeStore {
    /// Resolves a change, writes its tree and returns it pinned. `pin` is the current state of the
    /// repository.
    pub fn pin_change(
        &self,
        root: &Path,
        pin: &Pin,
        source: &ChangeSource,
    ) -> Result<PinnedChange, RepoError> {
        let stores = ObjectStore::open(&self.home, root)?;
        let user_repo = stores.user_repo().ok_or_else(|| RepoError::no_repository(root))?;
        let own_repo = OwnRepo::open_or_create(&self.home)?;
        let sides = match source {
            ChangeSource::Range(range) => diff_range::resolve_range(&stores, root, pin, range)?,
            ChangeSource::Patch { text, base } => {
                let onto = base.clone().or(pin.commit.clone()).unwrap_or("HEAD".into());
                let mut sides = diff_range::resolve_range(
                    &stores,
                    root,
                    pin,
                    &DiffRange::Commit(onto.clone()),
                )?;
                let NewSide::Tree(old_tree) = sides.new else {
                    return Err(RepoError::unknown_revision(&onto));
                };
                let edits = apply_patch::apply_to_tree(root, (&onto, old_tree), text, &own_repo)?;
                let new_tree = edits.write(Some(user_repo), &own_repo, Some(old_tree))?;
                sides.description =
                    format!("a patch to {}", describe_commit(&onto, sides.commits.1));
                sides.commits = (sides.commits.1, None);
                diff_range::DiffSides { old: Some(old_tree), new: NewSide::Tree(new_tree), ..sides }
            }
        };
        let new = match sides.new {
            NewSide::Tree(new) => new,
            NewSide::Index => {
                let staged = tree_diff::diff_index(&stores, root, sides.old)?;
                edits_from_diff(&staged).write(Some(user_repo), &own_repo, sides.old)?
            }
        };
        // Reopened, so that the objects just written are found.
        let stores = ObjectStore::open(&self.home, root)?;
        let (raw, complete) = tree_diff::diff_trees(&stores, sides.old, new);
        let base_edits = base_files(&raw);
        let diff = self.build_diff(
            (&stores, root),
            sides.description,
            raw,
            complete,
            AttributePolicy::Ignore,
        );
        let base_folder = unused_folder_name(&stores, [sides.old, Some(new)].into_iter().flatten());
        let mut tree_edits = TreeEdits::default();
        tree_edits.replace_folder(base_folder.as_bytes(), base_edits);
        let tree = tree_edits.write(Some(user_repo), &own_repo, Some(new))?;
        let commits = (sides.commits.0, sides.commits.1);
        Ok(PinnedChange {
            pin: Pin {
                tree: tree.to_string(),
                commit: commits.1.map(|id| id.to_string()).or(pin.commit.clone()),
                dirty: false,
                left_out: vec![],
            },
            base_folder,
            old_tree: sides.old.map(|id| id.to_string()),
            new_tree: new.to_string(),
            messages: commit_messages(&user_repo.repository, commits).unwrap_or_default(),
            branch: current_branch(&user_repo.repository),
            checked_out: is_checked_out(&user_repo.repository, pin, commits.1),
            commits: (commits.0.map(|id| id.to_string()), commits.1.map(|id| id.to_string())),
            diff,
        })
    }
}

/// Returns a folder name that no tree contains, compared case-insensitively.
fn unused_folder_name(stores: &ObjectStore, trees: impl Iterator<Item = Oid>) -> String {
    let mut taken = vec![];
    for tree in trees.filter_map(|id| stores.find_tree(id)) {
        taken.extend(tree.iter().map(|entry| exclusions::fold_name(entry.name_bytes())));
    }
    let candidate = |index: usize| {
        if index == 0 { BASE_FOLDER.into() } else { format!("{BASE_FOLDER}-{index}") }
    };
    let is_free = |name: &String| !taken.contains(&exclusions::fold_name(name.as_bytes()));
    // Among one more name than are taken, one is unused.
    (0..=taken.len()).map(candidate).find(is_free).unwrap_or_default()
}

/// Whether the checked-out commit is `head` or a descendant of it.
fn is_checked_out(repository: &Repository, pin: &Pin, head: Option<Oid>) -> bool {
    let current = pin.commit.as_deref().and_then(|id| Oid::from_str(id).ok());
    current.zip(head).is_some_and(|(current, head)| {
        current == head || repository.graph_descendant_of(current, head).unwrap_or(false)
    })
}

/// Old versions of the changed files.
fn base_files(deltas: &[TreeDelta]) -> TreeEdits {
    let mut edits = TreeEdits::default();
    let old = deltas.iter().filter_map(|change| Some((&change.path, change.old?)));
    for (path, old) in old.filter(|(_, old)| old.is_file()).take(MAX_BASE_FILES) {
        edits.put_file(path, old.id, false);
    }
    edits
}

/// Converts a diff into tree edits. Removals come first, because a folder may have replaced a file.
fn edits_from_diff(deltas: &[TreeDelta]) -> TreeEdits {
    let mut edits = TreeEdits::default();
    deltas.iter().filter(|change| change.new.is_none()).for_each(|it| edits.remove(&it.path));
    for (path, new) in deltas.iter().filter_map(|change| Some((&change.path, change.new?))) {
        edits.put_entry(path, new.id, new.mode);
    }
    edits
}

fn describe_commit(name: &str, commit: Option<Oid>) -> String {
    let short_id = commit.map(|id| id.to_string().chars().take(12).collect::<String>());
    match short_id {
        Some(short_id) if !name.starts_with(&short_id) => format!("`{name}` (`{short_id}`)"),
        Some(short_id) => format!("`{short_id}`"),
        None => format!("`{name}`"),
    }
}

/// Messages of the commits in `base..head`.
fn commit_messages(
    repository: &Repository,
    commits: (Option<Oid>, Option<Oid>),
) -> Result<Vec<String>, git2::Error> {
    let (Some(base), Some(head)) = commits else { return Ok(vec![]) };
    let mut walk = repository.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL)?;
    walk.push(head)?;
    walk.hide(base)?;
    let mut messages = vec![];
    for id in walk.take(MAX_MESSAGES) {
        let commit = repository.find_commit(id?)?;
        messages.push(String::from_utf8_lossy(commit.message_bytes()).into_owned());
    }
    Ok(messages)
}

fn current_branch(repository: &Repository) -> Option<String> {
    let head = repository.head().ok().filter(git2::Reference::is_branch)?;
    head.shorthand().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo};
    use crate::repo::tree_delta::DiffEntry;
    use std::iter::repeat_n;

    #[test]
    fn old_files_over_the_limit_are_not_included() {
        let repo = TempRepo::new();
        let own_repo = OwnRepo::open_or_create(&repo.home()).unwrap();
        let old = Some(DiffEntry { id: repo.blob(b"x"), mode: FILE_MODE });
        let deletion = |nth: usize| TreeDelta {
            path: format!("{nth:05}").into_bytes(),
            old_path: None,
            old,
            new: None,
        };
        let deltas: Vec<TreeDelta> = (0..=MAX_BASE_FILES).map(deletion).collect();
        let file_count = |deltas: &[TreeDelta]| {
            let tree = base_files(deltas).write(None, &own_repo, None).unwrap();
            own_repo.find_tree(tree).unwrap().len()
        };
        assert_eq!(file_count(&deltas[..MAX_BASE_FILES]), 20_000);
        assert_eq!(file_count(&deltas), 20_000);
    }

    #[test]
    fn messages_over_the_limit_are_not_read() {
        let repo = TempRepo::new();
        let tree = repo.tree([(FILE_MODE, "a.rs", repo.blob(b"x"))]);
        let ids = repo.commit_chain(repeat_n(tree, MAX_MESSAGES + 2));
        let message_count = |head: Oid| {
            let messages = commit_messages(&repo.repository, (Some(ids[0]), Some(head)));
            messages.unwrap().len()
        };
        assert_eq!(message_count(ids[MAX_MESSAGES]), 50);
        assert_eq!(message_count(ids[MAX_MESSAGES + 1]), 50);
    }
}
