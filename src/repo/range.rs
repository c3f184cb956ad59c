//! Diff ranges: what the user wants to compare, resolved to an old and a new tree. Entry point:
//! `resolve_range`.
use super::stores::{Stores, Theirs};
use super::{Pin, RepoError};
use git2::{Commit, ErrorCode, Oid, Repository};
use std::path::Path;

/// What to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// The first that has changes: working tree, branch, last commit.
    Any,
    /// The pinned tree against the last commit.
    Worktree,
    /// The index against the last commit.
    Staged,
    /// The pinned tree against the merge base with the default branch.
    Branch,
    /// A commit against its first parent.
    Commit(String),
    /// One commit against another, like `git diff BASE..HEAD`.
    Between {
        /// Old commit.
        base: String,
        /// New commit.
        head: String,
    },
    /// A commit against its merge base with another, like `git diff BASE...HEAD`.
    Since {
        /// Commit to merge into.
        base: String,
        /// New commit.
        head: String,
    },
    /// Like `MergeBase`, but like `Between` if there is no merge base. Shows what a merge would
    /// bring.
    Brought {
        /// Commit to merge into.
        base: String,
        /// New commit.
        head: String,
    },
    /// Two trees by id, to repeat an earlier comparison.
    Trees {
        /// What is compared, for messages.
        says: String,
        /// Old tree id. None is the empty tree.
        old: Option<String>,
        /// New tree id.
        new: String,
    },
}

/// Default branch names tried if the remote has no HEAD.
const DEFAULTS: &[&str] = &["main", "master", "trunk", "develop"];

/// Resolved range.
pub(super) struct Sides {
    pub(super) says: String,
    /// None is the empty tree.
    pub(super) old: Option<Oid>,
    pub(super) new: Side,
    /// Commits of the old and the new side, if they are commits.
    pub(super) commits: (Option<Oid>, Option<Oid>),
}

pub(super) enum Side {
    Tree(Oid),
    Index,
}

/// Resolves a range to its two sides.
pub(super) fn sides(
    stores: &Stores,
    root: &Path,
    pin: &Pin,
    range: &Range,
) -> Result<Sides, RepoError> {
    let theirs = stores.theirs().ok_or_else(|| RepoError::no_repository(root))?;
    let finding = Finding { theirs, repository: &theirs.repository, pin };
    match range {
        Range::Any => finding.any(),
        Range::Worktree => finding.worktree(),
        Range::Staged => {
            let (old, named) = finding.last()?;
            let says = format!("what is staged against {named}");
            let commits = (finding.head()?.map(|head| head.id()), None);
            Ok(Sides { says, old, new: Side::Index, commits })
        }
        Range::Branch => finding.branch(),
        Range::Commit(name) => Finding::commit(&finding.named(name)?),
        Range::Between { base, head } => finding.between(base, head),
        Range::Since { base, head } => finding.since(base, head),
        Range::Brought { base, head } => match finding.since(base, head) {
            Err(RepoError::Strangers { .. }) => finding.between(base, head),
            found => found,
        },
        Range::Trees { says, old, new } => trees(says, old.as_deref(), new),
    }
}

fn trees(says: &str, old: Option<&str>, new: &str) -> Result<Sides, RepoError> {
    let id =
        |text: &str| Oid::from_str(text).map_err(|_| RepoError::NoId { given: text.to_owned() });
    let (old, new) = (old.map(id).transpose()?, Side::Tree(id(new)?));
    Ok(Sides { says: says.to_owned(), old, new, commits: (None, None) })
}

/// Pins the tree of a commit.
pub(super) fn commit(root: &Path, name: &str) -> Result<Pin, RepoError> {
    let theirs = Theirs::around(root)?.ok_or_else(|| RepoError::no_repository(root))?;
    let pin = Pin { tree: String::new(), commit: None, dirty: false, left_out: vec![] };
    let finding = Finding { theirs: &theirs, repository: &theirs.repository, pin: &pin };
    let commit = finding.named(name)?;
    let (tree, id) = (commit.tree_id().to_string(), commit.id().to_string());
    Ok(Pin { tree, commit: Some(id), dirty: false, left_out: vec![] })
}

impl Sides {
    fn of(says: String, old: Option<&Commit<'_>>, new: &Commit<'_>) -> Sides {
        Sides {
            says,
            old: old.map(Commit::tree_id),
            new: Side::Tree(new.tree_id()),
            commits: (old.map(Commit::id), Some(new.id())),
        }
    }
}

struct Finding<'a> {
    theirs: &'a Theirs,
    repository: &'a Repository,
    pin: &'a Pin,
}

impl<'a> Finding<'a> {
    fn any(&self) -> Result<Sides, RepoError> {
        if self.pin.dirty || self.head()?.is_none() {
            return self.worktree();
        }
        let away = |default: &Commit<'_>| Some(default.id().to_string()) != self.pin.commit;
        if self.default().is_some_and(|(_, default)| away(&default)) {
            let sides = self.branch()?;
            // A branch that is only behind has no changes.
            if !matches!(sides.new, Side::Tree(new) if Some(new) == sides.old) {
                return Ok(sides);
            }
        }
        match self.head()? {
            Some(head) => Finding::commit(&head),
            None => self.worktree(),
        }
    }

    fn worktree(&self) -> Result<Sides, RepoError> {
        let (old, named) = self.last()?;
        let says = format!("the working tree against {named}");
        let commits = (self.head()?.map(|head| head.id()), None);
        Ok(Sides { says, old, new: Side::Tree(self.pinned()?), commits })
    }

    fn between(&self, base: &str, head: &str) -> Result<Sides, RepoError> {
        let (old, new) = (self.named(base)?, self.named(head)?);
        let says = format!("{} against {}", called(head, new.id()), called(base, old.id()));
        Ok(Sides::of(says, Some(&old), &new))
    }

    fn since(&self, base: &str, head: &str) -> Result<Sides, RepoError> {
        let (other, new) = (self.named(base)?, self.named(head)?);
        let old = self.parting(&other, base, &new, head)?;
        let (head, base) = (called(head, new.id()), called(base, other.id()));
        let says = if old.id() == other.id() {
            format!("{head} against {base}")
        } else {
            format!("{head} against where it left {base}, at `{}`", short(old.id()))
        };
        Ok(Sides::of(says, Some(&old), &new))
    }

    fn branch(&self) -> Result<Sides, RepoError> {
        let (name, default) = self.default().ok_or_else(|| RepoError::NoDefault {
            path: self.theirs.top.clone(),
            names: DEFAULTS.join("`, `"),
        })?;
        let head = self.head()?.ok_or_else(|| RepoError::no_revision("HEAD"))?;
        let old = self.parting(&default, &name, &head, "HEAD")?;
        let also = if self.pin.dirty { ", with what is not committed yet," } else { "" };
        let says =
            format!("this branch{also} against where it left `{name}`, at `{}`", short(old.id()));
        let commits = (Some(old.id()), (!self.pin.dirty).then(|| head.id()));
        Ok(Sides { says, old: Some(old.tree_id()), new: Side::Tree(self.pinned()?), commits })
    }

    fn commit(commit: &Commit<'_>) -> Result<Sides, RepoError> {
        let id = short(commit.id());
        let had_parents = commit.raw_header_bytes().windows(8).any(|part| part == b"\nparent ");
        if let Ok(parent) = commit.parent(0) {
            let says = format!("commit `{id}` against its parent `{}`", short(parent.id()));
            return Ok(Sides::of(says, Some(&parent), commit));
        }
        // At the boundary of a shallow clone the parent is missing, and all files would look added.
        if had_parents {
            return Err(RepoError::Shallow { missing: format!("the parent of `{id}`") });
        }
        Ok(Sides::of(format!("commit `{id}`, the first one"), None, commit))
    }

    /// Tree of the last commit, with a description.
    fn last(&self) -> Result<(Option<Oid>, String), RepoError> {
        Ok(self.head()?.map_or_else(
            || (None, "nothing: there is no commit yet".to_owned()),
            |head| (Some(head.tree_id()), format!("the last commit, `{}`", short(head.id()))),
        ))
    }

    /// The pinned commit, even if another one is checked out by now.
    fn head(&self) -> Result<Option<Commit<'a>>, RepoError> {
        let Some(commit) = &self.pin.commit else { return Ok(None) };
        self.named(commit).map(Some)
    }

    fn pinned(&self) -> Result<Oid, RepoError> {
        let gone = |_| RepoError::Gone { tree: self.pin.tree.clone() };
        Oid::from_str(&self.pin.tree).map_err(gone)
    }

    /// Finds a commit by any revision syntax git parses.
    fn named(&self, name: &str) -> Result<Commit<'a>, RepoError> {
        let name = if name.is_empty() || name == "HEAD" {
            self.pin.commit.as_deref().unwrap_or("HEAD")
        } else {
            name
        };
        let found = self.repository.revparse_single(name);
        let found = found.and_then(|object| object.peel_to_commit());
        found.map_err(|_| {
            if self.repository.is_shallow() {
                RepoError::Shallow { missing: format!("`{name}`") }
            } else {
                RepoError::no_revision(name)
            }
        })
    }

    /// The default branch: `origin/HEAD`, else the first known name that exists.
    fn default(&self) -> Option<(String, Commit<'a>)> {
        let remote = self.repository.find_reference("refs/remotes/origin/HEAD").ok();
        let remote = remote.and_then(|head| head.resolve().ok());
        let remote = remote.and_then(|head| {
            Some((head.shorthand().ok()?.to_owned(), head.peel_to_commit().ok()?))
        });
        remote.or_else(|| {
            let names = DEFAULTS.iter().flat_map(|name| {
                [
                    (format!("refs/remotes/origin/{name}"), format!("origin/{name}")),
                    (format!("refs/heads/{name}"), (*name).to_owned()),
                ]
            });
            names.into_iter().find_map(|(whole, name)| {
                let found = self.repository.find_reference(&whole).ok()?;
                Some((name, found.peel_to_commit().ok()?))
            })
        })
    }

    /// Merge base of two commits.
    fn parting(
        &self,
        one: &Commit<'_>,
        one_name: &str,
        other: &Commit<'_>,
        other_name: &str,
    ) -> Result<Commit<'a>, RepoError> {
        let base = self.repository.merge_base(one.id(), other.id());
        let base = base.and_then(|base| self.repository.find_commit(base));
        base.map_err(|error| {
            let names = (one_name.to_owned(), other_name.to_owned());
            if self.repository.is_shallow() {
                let missing = format!("where `{}` and `{}` parted", names.0, names.1);
                RepoError::Shallow { missing }
            } else if error.code() == ErrorCode::NotFound {
                RepoError::Strangers { one: names.0, other: names.1 }
            } else {
                RepoError::broken(&self.theirs.top, &error)
            }
        })
    }
}

/// First 12 digits of an id.
fn short(id: Oid) -> String {
    id.to_string().chars().take(12).collect()
}

fn called(name: &str, id: Oid) -> String {
    let short = short(id);
    let name = if name.is_empty() { "HEAD" } else { name };
    if id.to_string().starts_with(name) {
        format!("`{short}`")
    } else {
        format!("`{name}` (`{short}`)")
    }
}
