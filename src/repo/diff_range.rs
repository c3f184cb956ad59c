//! Diff ranges: what the user wants to compare, resolved to an old and a new tree. Entry point:
//! `resolve_range`.
use super::object_store::{ObjectStore, UserRepo};
use super::{Pin, RepoError, TreeStore};
use git2::{Commit, ErrorCode, Oid, Repository};
use std::path::Path;

/// What to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffRange {
    /// The first that has changes: working tree, branch, last commit.
    Auto,
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
    MergeBase {
        /// Commit to merge into.
        base: String,
        /// New commit.
        head: String,
    },
    /// Like `MergeBase`, but like `Between` if there is no merge base. Shows what a merge would
    /// bring.
    MergeBaseOrBetween {
        /// Commit to merge into.
        base: String,
        /// New commit.
        head: String,
    },
    /// Two trees by id, to repeat an earlier comparison.
    Trees {
        /// What is compared, for messages.
        description: String,
        /// Old tree id. None is the empty tree.
        old: Option<String>,
        /// New tree id.
        new: String,
    },
}

/// Default branch names tried if the remote has no HEAD.
const DEFAULT_BRANCHES: &[&str] = &["main", "master", "trunk", "develop"];

/// Resolved range.
pub(super) struct DiffSides {
    pub(super) description: String,
    /// None is the empty tree.
    pub(super) old: Option<Oid>,
    pub(super) new: NewSide,
    /// Commits of the old and the new side, if they are commits.
    pub(super) commits: (Option<Oid>, Option<Oid>),
}

pub(super) enum NewSide {
    Tree(Oid),
    Index,
}

/// Resolves a range to its two sides.
pub(super) fn resolve_range(
    stores: &ObjectStore,
    root: &Path,
    pin: &Pin,
    range: &DiffRange,
) -> Result<DiffSides, RepoError> {
    let user_repo = stores.user_repo().ok_or_else(|| RepoError::no_repository(root))?;
    let resolver = RangeResolver { user_repo, repository: &user_repo.repository, pin };
    match range {
        DiffRange::Auto => resolver.auto_sides(),
        DiffRange::Worktree => resolver.worktree_sides(),
        DiffRange::Staged => {
            let (old, head_name) = resolver.head_tree()?;
            let description = format!("what is staged against {head_name}");
            let commits = (resolver.pinned_commit()?.map(|head| head.id()), None);
            Ok(DiffSides { description, old, new: NewSide::Index, commits })
        }
        DiffRange::Branch => resolver.branch_sides(),
        DiffRange::Commit(name) => RangeResolver::parent_sides(&resolver.find_commit(name)?),
        DiffRange::Between { base, head } => resolver.commit_sides(base, head),
        DiffRange::MergeBase { base, head } => resolver.merge_base_sides(base, head),
        DiffRange::MergeBaseOrBetween { base, head } => {
            match resolver.merge_base_sides(base, head) {
                Err(RepoError::NoMergeBase { .. }) => resolver.commit_sides(base, head),
                found => found,
            }
        }
        DiffRange::Trees { description, old, new } => {
            sides_from_trees(description, old.as_deref(), new)
        }
    }
}

fn sides_from_trees(
    description: &str,
    old: Option<&str>,
    new: &str,
) -> Result<DiffSides, RepoError> {
    let id = |text: &str| {
        Oid::from_str(text).map_err(|_| RepoError::InvalidTreeId { given: text.to_owned() })
    };
    let (old, new) = (old.map(id).transpose()?, NewSide::Tree(id(new)?));
    Ok(DiffSides { description: description.to_owned(), old, new, commits: (None, None) })
}

impl TreeStore {
    /// Pins the tree of a commit, given by any name git resolves.
    pub fn pin_commit(&self, root: &Path, name: &str) -> Result<Pin, RepoError> {
        pin_commit(root, name)
    }
}

fn pin_commit(root: &Path, name: &str) -> Result<Pin, RepoError> {
    let user_repo = UserRepo::discover(root)?.ok_or_else(|| RepoError::no_repository(root))?;
    let pin = Pin { tree: String::new(), commit: None, dirty: false, left_out: vec![] };
    let resolver =
        RangeResolver { user_repo: &user_repo, repository: &user_repo.repository, pin: &pin };
    let commit = resolver.find_commit(name)?;
    let (tree, id) = (commit.tree_id().to_string(), commit.id().to_string());
    Ok(Pin { tree, commit: Some(id), dirty: false, left_out: vec![] })
}

impl DiffSides {
    fn from_commits(description: String, old: Option<&Commit<'_>>, new: &Commit<'_>) -> DiffSides {
        DiffSides {
            description,
            old: old.map(Commit::tree_id),
            new: NewSide::Tree(new.tree_id()),
            commits: (old.map(Commit::id), Some(new.id())),
        }
    }
}

struct RangeResolver<'a> {
    user_repo: &'a UserRepo,
    repository: &'a Repository,
    pin: &'a Pin,
}

impl<'a> RangeResolver<'a> {
    fn auto_sides(&self) -> Result<DiffSides, RepoError> {
        if self.pin.dirty || self.pinned_commit()?.is_none() {
            return self.worktree_sides();
        }
        let is_other_commit =
            |default: &Commit<'_>| Some(default.id().to_string()) != self.pin.commit;
        if self.default_branch().is_some_and(|(_, default)| is_other_commit(&default)) {
            let sides = self.branch_sides()?;
            // A branch that is only behind has no changes.
            if !matches!(sides.new, NewSide::Tree(new) if Some(new) == sides.old) {
                return Ok(sides);
            }
        }
        match self.pinned_commit()? {
            Some(head) => RangeResolver::parent_sides(&head),
            None => self.worktree_sides(),
        }
    }

    fn worktree_sides(&self) -> Result<DiffSides, RepoError> {
        let (old, head_name) = self.head_tree()?;
        let description = format!("the working tree against {head_name}");
        let commits = (self.pinned_commit()?.map(|head| head.id()), None);
        Ok(DiffSides { description, old, new: NewSide::Tree(self.pinned_tree()?), commits })
    }

    fn commit_sides(&self, base: &str, head: &str) -> Result<DiffSides, RepoError> {
        let (old, new) = (self.find_commit(base)?, self.find_commit(head)?);
        let description = format!(
            "{} against {}",
            describe_commit(head, new.id()),
            describe_commit(base, old.id())
        );
        Ok(DiffSides::from_commits(description, Some(&old), &new))
    }

    fn merge_base_sides(&self, base: &str, head: &str) -> Result<DiffSides, RepoError> {
        let (base_commit, new) = (self.find_commit(base)?, self.find_commit(head)?);
        let old = self.merge_base(&base_commit, base, &new, head)?;
        let (head, base) =
            (describe_commit(head, new.id()), describe_commit(base, base_commit.id()));
        let description = if old.id() == base_commit.id() {
            format!("{head} against {base}")
        } else {
            format!("{head} against where it left {base}, at `{}`", short_id(old.id()))
        };
        Ok(DiffSides::from_commits(description, Some(&old), &new))
    }

    fn branch_sides(&self) -> Result<DiffSides, RepoError> {
        let (name, default) = self.default_branch().ok_or_else(|| RepoError::NoDefaultBranch {
            path: self.user_repo.top.clone(),
            names: DEFAULT_BRANCHES.join("`, `"),
        })?;
        let head = self.pinned_commit()?.ok_or_else(|| RepoError::unknown_revision("HEAD"))?;
        let old = self.merge_base(&default, &name, &head, "HEAD")?;
        let uncommitted = if self.pin.dirty { ", with what is not committed yet," } else { "" };
        let description = format!(
            "this branch{uncommitted} against where it left `{name}`, at `{}`",
            short_id(old.id())
        );
        let commits = (Some(old.id()), (!self.pin.dirty).then(|| head.id()));
        Ok(DiffSides {
            description,
            old: Some(old.tree_id()),
            new: NewSide::Tree(self.pinned_tree()?),
            commits,
        })
    }

    fn parent_sides(commit: &Commit<'_>) -> Result<DiffSides, RepoError> {
        let id = short_id(commit.id());
        let had_parents = commit.raw_header_bytes().windows(8).any(|part| part == b"\nparent ");
        if let Ok(parent) = commit.parent(0) {
            let description =
                format!("commit `{id}` against its parent `{}`", short_id(parent.id()));
            return Ok(DiffSides::from_commits(description, Some(&parent), commit));
        }
        // At the boundary of a shallow clone the parent is missing, and all files would look added.
        if had_parents {
            return Err(RepoError::Shallow { missing: format!("the parent of `{id}`") });
        }
        Ok(DiffSides::from_commits(format!("commit `{id}`, the first one"), None, commit))
    }

    /// Tree of the last commit, with a description.
    fn head_tree(&self) -> Result<(Option<Oid>, String), RepoError> {
        Ok(self.pinned_commit()?.map_or_else(
            || (None, "nothing: there is no commit yet".to_owned()),
            |head| (Some(head.tree_id()), format!("the last commit, `{}`", short_id(head.id()))),
        ))
    }

    /// The pinned commit, even if another one is checked out by now.
    fn pinned_commit(&self) -> Result<Option<Commit<'a>>, RepoError> {
        let Some(commit) = &self.pin.commit else { return Ok(None) };
        self.find_commit(commit).map(Some)
    }

    fn pinned_tree(&self) -> Result<Oid, RepoError> {
        let missing = |_| RepoError::TreeMissing { tree: self.pin.tree.clone() };
        Oid::from_str(&self.pin.tree).map_err(missing)
    }

    /// Finds a commit by any revision syntax git parses.
    fn find_commit(&self, name: &str) -> Result<Commit<'a>, RepoError> {
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
                RepoError::unknown_revision(name)
            }
        })
    }

    /// The default branch: `origin/HEAD`, else the first known name that exists.
    fn default_branch(&self) -> Option<(String, Commit<'a>)> {
        let remote = self.repository.find_reference("refs/remotes/origin/HEAD").ok();
        let remote = remote.and_then(|head| head.resolve().ok());
        let remote = remote.and_then(|head| {
            Some((head.shorthand().ok()?.to_owned(), head.peel_to_commit().ok()?))
        });
        remote.or_else(|| {
            let names = DEFAULT_BRANCHES.iter().flat_map(|name| {
                [
                    (format!("refs/remotes/origin/{name}"), format!("origin/{name}")),
                    (format!("refs/heads/{name}"), (*name).to_owned()),
                ]
            });
            names.into_iter().find_map(|(reference, name)| {
                let found = self.repository.find_reference(&reference).ok()?;
                Some((name, found.peel_to_commit().ok()?))
            })
        })
    }

    /// Merge base of two commits.
    fn merge_base(
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
                let missing = format!("the merge base of `{}` and `{}`", names.0, names.1);
                RepoError::Shallow { missing }
            } else if error.code() == ErrorCode::NotFound {
                RepoError::NoMergeBase { one: names.0, other: names.1 }
            } else {
                RepoError::from_git(&self.user_repo.top, &error)
            }
        })
    }
}

/// First 12 digits of an id.
fn short_id(id: Oid) -> String {
    id.to_string().chars().take(12).collect()
}

fn describe_commit(name: &str, id: Oid) -> String {
    let short = short_id(id);
    let name = if name.is_empty() { "HEAD" } else { name };
    if id.to_string().starts_with(name) {
        format!("`{short}`")
    } else {
        format!("`{name}` (`{short}`)")
    }
}
