//! What is to be compared with what, as users say it, and the two sides that come of it.
use super::stores::{Stores, Theirs};
use super::{Pin, RepoError};
use git2::{Commit, ErrorCode, Oid, Repository};
use std::path::Path;

/// Which changes are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// Whatever there is: of the working tree, else of the branch, else of the last commit.
    Any,
    /// The pinned tree against the last commit.
    Worktree,
    /// The index against the last commit.
    Staged,
    /// The pinned tree against where the branch left the default one.
    Branch,
    /// A commit against its first parent.
    Commit(String),
    /// One commit against another.
    Between {
        /// The old one.
        base: String,
        /// The new one.
        head: String,
    },
    /// A commit against where it left another.
    Since {
        /// The other.
        base: String,
        /// The new one.
        head: String,
    },
    /// The same, or against the other itself where they have nothing in common: what merging it
    /// would bring.
    Brought {
        /// The other.
        base: String,
        /// The new one.
        head: String,
    },
    /// One tree against another, by their ids: what was compared before and is to be compared again.
    Trees {
        /// What was compared with what, in a few words.
        says: String,
        /// The old one; none is the empty one.
        old: Option<String>,
        /// The new one.
        new: String,
    },
}

/// Names default branches have, where the remote does not say.
const DEFAULTS: &[&str] = &["main", "master", "trunk", "develop"];

/// The two sides of a comparison.
pub(super) struct Sides {
    pub(super) says: String,
    /// None is the empty tree.
    pub(super) old: Option<Oid>,
    pub(super) new: Side,
    /// The commits they belong to, as far as they belong to any.
    pub(super) commits: (Option<Oid>, Option<Oid>),
}

/// The new side of a comparison.
pub(super) enum Side {
    Tree(Oid),
    Index,
}

/// Finds both sides.
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

/// What a commit holds.
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
            // A branch that is only behind has changed nothing.
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
        // A shallow clone ends somewhere, and all there is would seem to be new there.
        if had_parents {
            return Err(RepoError::Shallow { missing: format!("the parent of `{id}`") });
        }
        Ok(Sides::of(format!("commit `{id}`, the first one"), None, commit))
    }

    /// The tree of the last commit, and what to call it.
    fn last(&self) -> Result<(Option<Oid>, String), RepoError> {
        Ok(self.head()?.map_or_else(
            || (None, "nothing: there is no commit yet".to_owned()),
            |head| (Some(head.tree_id()), format!("the last commit, `{}`", short(head.id()))),
        ))
    }

    /// The commit that was pinned, whatever is checked out by now.
    fn head(&self) -> Result<Option<Commit<'a>>, RepoError> {
        let Some(commit) = &self.pin.commit else { return Ok(None) };
        self.named(commit).map(Some)
    }

    fn pinned(&self) -> Result<Oid, RepoError> {
        let gone = |_| RepoError::Gone { tree: self.pin.tree.clone() };
        Oid::from_str(&self.pin.tree).map_err(gone)
    }

    /// A commit by whatever name git knows it.
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

    /// The default branch: what the remote says, else one of the usual names.
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

    /// Where one commit left the other.
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

/// As many digits of an id as people read.
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
