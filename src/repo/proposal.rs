//! A change that is not merged yet, as one tree that can be pinned: what stands there after it, and
//! below one folder what it touches as it stood before. So whoever argues about it can read both,
//! and words the change takes away can be looked up like all others.
use super::changes::{self, Change};
use super::counts::Heeded;
use super::mailed;
use super::patch::Patch;
use super::range::{self, Side};
use super::stores::{Ours, Stores};
use super::{Changes, Pin, Range, RepoError, Trees, absent};
use git2::{Oid, Repository, Sort};
use std::path::Path;

/// What the folder is called in which what a change touches lies as it was before, or how its name
/// begins: nobody may make up what was there before, so it is one that neither side has.
const BEFORE: &str = ".debate-base";

/// Files that are kept as they were.
const MOST_BEFORE: usize = 20_000;
/// Commits whose messages are read.
const MOST_MESSAGES: usize = 50;

/// What is proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// What differs.
    Range(Range),
    /// What a patch makes of a commit; of the last one, if none is named.
    Patch {
        /// As it was written.
        text: Vec<u8>,
        /// What it applies to.
        base: Option<String>,
    },
}

/// A change that is not merged yet.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The tree of it.
    pub pin: Pin,
    /// The folder of that tree in which what it touches lies as it was.
    pub before: String,
    /// What it starts from: the id of a tree, none if it starts from nothing.
    pub old: Option<String>,
    /// What it leads to: the id of a tree, without what was there before.
    pub new: String,
    /// The commits of both, where they are commits.
    pub commits: (Option<String>, Option<String>),
    /// Every file that differs.
    pub changes: Changes,
    /// What its commits say of themselves, the latest first.
    pub messages: Vec<String>,
    /// The branch that is checked out, if one is.
    pub branch: Option<String>,
    /// Whether what is checked out has the new side in it.
    pub checked_out: bool,
}

impl Trees {
    /// Finds out what is proposed. `pin` is what stands in the repository now.
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
        // What was just written is found by whoever looks from now on.
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

/// A name for a folder that none of these trees has, however it is written.
fn free(stores: &Stores, trees: impl Iterator<Item = Oid>) -> String {
    let mut taken = vec![];
    for tree in trees.filter_map(|id| stores.tree(id)) {
        taken.extend(tree.iter().map(|entry| absent::folded(entry.name_bytes())));
    }
    let named = |nth: usize| if nth == 0 { BEFORE.into() } else { format!("{BEFORE}-{nth}") };
    let free = |name: &String| !taken.contains(&absent::folded(name.as_bytes()));
    // Of one more than there are, one is free.
    (0..=taken.len()).map(named).find(free).unwrap_or_default()
}

/// Whether a commit, or what was made of it, is checked out.
fn checked_out(repository: &Repository, pin: &Pin, head: Option<Oid>) -> bool {
    let here = pin.commit.as_deref().and_then(|id| Oid::from_str(id).ok());
    here.zip(head).is_some_and(|(here, head)| {
        here == head || repository.graph_descendant_of(here, head).unwrap_or(false)
    })
}

/// What a change touches, as it was before.
fn before(changed: &[Change]) -> Patch {
    let mut before = Patch::default();
    let old = changed.iter().filter_map(|change| Some((&change.path, change.old?)));
    for (path, old) in old.filter(|(_, old)| old.is_file()).take(MOST_BEFORE) {
        before.put(path, old.id, false);
    }
    before
}

/// Changes as they are applied to a tree. What is gone comes first: a folder may stand where a file
/// was.
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

/// What the commits after one and up to another say.
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
