//! Pins an unmerged change as one tree: the new state, plus a base folder with the old version of
//! every file the change touches. So debaters can read both, and citations of deleted lines can be
//! looked up like any other.
use super::changes::{self, Change};
use super::counts::Heeded;
use super::mailed;
use super::patch::Patch;
use super::range::{self, Side};
use super::stores::{Ours, Stores};
use super::{Changes, Pin, Range, RepoError, Trees, absent};
use git2::{Oid, Repository, Sort};
use std::path::Path;

/// Name of the base folder, or its prefix. The name must be in neither tree, so that the author of
/// the change cannot forge old versions.
const BEFORE: &str = ".debate-base";

/// Maximum number of old files included.
const MOST_BEFORE: usize = 20_000;
/// Maximum number of commit messages read.
const MOST_MESSAGES: usize = 50;

/// Where the change comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A comparison of two states.
    Range(Range),
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
pub struct Proposal {
    /// Pin of the new state with the base folder added.
    pub pin: Pin,
    /// Name of the base folder in that tree.
    pub before: String,
    /// Tree id of the old state. None if the change starts from nothing.
    pub old: Option<String>,
    /// Tree id of the new state, without the base folder.
    pub new: String,
    /// Commits of the old and the new state, if they are commits.
    pub commits: (Option<String>, Option<String>),
    /// Diff from the old to the new state.
    pub changes: Changes,
    /// Commit messages of the change, newest first.
    pub messages: Vec<String>,
    /// Name of the checked-out branch. None if HEAD is detached.
    pub branch: Option<String>,
    /// Whether the checked-out commit contains the new commit.
    pub checked_out: bool,
}

impl Trees {
    /// Resolves a change, writes its tree and returns it pinned. `pin` is the current state of the
    /// repository.
    pub fn proposal(&self, root: &Path, pin: &Pin, asked: &Asked) -> Result<Proposal, RepoError> {
        let stores = Stores::open(&self.home, root)?;
        let theirs = stores.theirs().ok_or_else(|| RepoError::no_repository(root))?;
        let ours = Ours::made(&self.home)?;
        let sides = match asked {
            Asked::Range(range) => range::sides(&stores, root, pin, range)?,
            Asked::Patch { text, base } => {
                let onto = base.clone().or(pin.commit.clone()).unwrap_or("HEAD".into());
                let mut sides = range::sides(&stores, root, pin, &Range::Commit(onto.clone()))?;
                let Side::Tree(before) = sides.new else {
                    return Err(RepoError::no_revision(&onto));
                };
                let patch = mailed::read(root, (&onto, before), text, &ours)?;
                let after = patch.write(Some(theirs), &ours, Some(before))?;
                sides.says = format!("a patch to {}", named(&onto, sides.commits.1));
                sides.commits = (sides.commits.1, None);
                range::Sides { old: Some(before), new: Side::Tree(after), ..sides }
            }
        };
        let new = match sides.new {
            Side::Tree(new) => new,
            Side::Index => {
                let staged = changes::staged(&stores, root, sides.old)?;
                applied(&staged).write(Some(theirs), &ours, sides.old)?
            }
        };
        // Reopened, so that the objects just written are found.
        let stores = Stores::open(&self.home, root)?;
        let (raw, whole) = changes::between(&stores, sides.old, new);
        let before = before(&raw);
        let changes = self.counted((&stores, root), sides.says, raw, whole, Heeded::No);
        let folder = free(&stores, [sides.old, Some(new)].into_iter().flatten());
        let mut all = Patch::default();
        all.instead(folder.as_bytes(), before);
        let tree = all.write(Some(theirs), &ours, Some(new))?;
        let commits = (sides.commits.0, sides.commits.1);
        Ok(Proposal {
            pin: Pin {
                tree: tree.to_string(),
                commit: commits.1.map(|id| id.to_string()).or(pin.commit.clone()),
                dirty: false,
                left_out: vec![],
            },
            before: folder,
            old: sides.old.map(|id| id.to_string()),
            new: new.to_string(),
            messages: messages(&theirs.repository, commits).unwrap_or_default(),
            branch: branch(&theirs.repository),
            checked_out: checked_out(&theirs.repository, pin, commits.1),
            commits: (commits.0.map(|id| id.to_string()), commits.1.map(|id| id.to_string())),
            changes,
        })
    }
}

/// Returns a folder name that no tree contains, compared case-insensitively.
fn free(stores: &Stores, trees: impl Iterator<Item = Oid>) -> String {
    let mut taken = vec![];
    for tree in trees.filter_map(|id| stores.tree(id)) {
        taken.extend(tree.iter().map(|entry| absent::folded(entry.name_bytes())));
    }
    let named = |nth: usize| if nth == 0 { BEFORE.into() } else { format!("{BEFORE}-{nth}") };
    let free = |name: &String| !taken.contains(&absent::folded(name.as_bytes()));
    // Among one more name than are taken, one is unused.
    (0..=taken.len()).map(named).find(free).unwrap_or_default()
}

/// Whether the checked-out commit is `head` or a descendant of it.
fn checked_out(repository: &Repository, pin: &Pin, head: Option<Oid>) -> bool {
    let here = pin.commit.as_deref().and_then(|id| Oid::from_str(id).ok());
    here.zip(head).is_some_and(|(here, head)| {
        here == head || repository.graph_descendant_of(here, head).unwrap_or(false)
    })
}

/// Old versions of the changed files.
fn before(changed: &[Change]) -> Patch {
    let mut before = Patch::default();
    let old = changed.iter().filter_map(|change| Some((&change.path, change.old?)));
    for (path, old) in old.filter(|(_, old)| old.is_file()).take(MOST_BEFORE) {
        before.put(path, old.id, false);
    }
    before
}

/// Converts a diff into tree edits. Removals come first, because a folder may have replaced a file.
fn applied(changed: &[Change]) -> Patch {
    let mut patch = Patch::default();
    changed.iter().filter(|change| change.new.is_none()).for_each(|it| patch.remove(&it.path));
    for (path, new) in changed.iter().filter_map(|change| Some((&change.path, change.new?))) {
        patch.enter(path, new.id, new.mode);
    }
    patch
}

fn named(onto: &str, commit: Option<Oid>) -> String {
    let digits = commit.map(|id| id.to_string().chars().take(12).collect::<String>());
    match digits {
        Some(digits) if !onto.starts_with(&digits) => format!("`{onto}` (`{digits}`)"),
        Some(digits) => format!("`{digits}`"),
        None => format!("`{onto}`"),
    }
}

/// Messages of the commits in `base..head`.
fn messages(
    repository: &Repository,
    commits: (Option<Oid>, Option<Oid>),
) -> Result<Vec<String>, git2::Error> {
    let (Some(base), Some(head)) = commits else { return Ok(vec![]) };
    let mut walk = repository.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL)?;
    walk.push(head)?;
    walk.hide(base)?;
    let mut messages = vec![];
    for id in walk.take(MOST_MESSAGES) {
        let commit = repository.find_commit(id?)?;
        messages.push(String::from_utf8_lossy(commit.message_bytes()).into_owned());
    }
    Ok(messages)
}

fn branch(repository: &Repository) -> Option<String> {
    let head = repository.head().ok().filter(git2::Reference::is_branch)?;
    head.shorthand().ok().map(str::to_owned)
}
