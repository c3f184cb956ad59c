//! Where objects are: in the user's repository, which is only read, and in a bare one of our own,
//! which holds what is not in any commit yet. They are two stores and stay two: nothing of ours
//! can end up in the user's, whatever either is set up to do.
use super::{RepoError, disk, plain};
use crate::private;
use git2::{
    Blob, ErrorCode, ObjectType, OdbLookupFlags, Oid, Repository, RepositoryInitOptions, Tree, opts,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The user's repository and the folder its files are in.
pub(super) struct Theirs {
    pub(super) repository: Repository,
    /// Absolute, without links.
    pub(super) top: PathBuf,
}

/// Our own.
pub(super) struct Ours {
    repository: Repository,
    path: PathBuf,
}

/// Both, as far as there are any.
pub(super) struct Stores {
    ours: Option<Ours>,
    theirs: Option<Theirs>,
}

/// Objects are read by the thousand, and a wrong one would be wrong in git as well.
fn trust_hashes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| opts::strict_hash_verification(false));
}

impl Theirs {
    /// The repository a folder is in. None if there is none, or one that has no files.
    pub(super) fn around(folder: &Path) -> Result<Option<Theirs>, RepoError> {
        trust_hashes();
        let Ok(folder) = dunce::canonicalize(folder) else { return Ok(None) };
        // Not left to libgit2: beyond the first `.git` nothing is the repository of this folder.
        let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
        let Some(top) = folder.ancestors().find(has_git) else { return Ok(None) };
        let repository = match Repository::open(top) {
            Ok(repository) => repository,
            // An empty `.git` makes no repository; one that leads nowhere is a broken one.
            Err(error) if error.code() == ErrorCode::NotFound && top.join(".git").is_dir() => {
                return Ok(None);
            }
            Err(error) => return Err(RepoError::broken(top, &error)),
        };
        let Some(files) = repository.workdir() else { return Ok(None) };
        // A repository must not choose which folder is read.
        if dunce::canonicalize(files).ok().as_deref() != Some(top) {
            return Err(RepoError::Elsewhere { path: top.to_owned() });
        }
        Ok(Some(Theirs { repository, top: top.to_owned() }))
    }
}

/// The folder paths are relative to: the one of the repository around a folder, or the folder.
pub fn top(root: &Path) -> Result<PathBuf, RepoError> {
    match Theirs::around(root)? {
        Some(theirs) => Ok(theirs.top),
        None if plain::bare(root) => Err(RepoError::Bare { path: root.to_owned() }),
        None => Ok(dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned())),
    }
}

impl Ours {
    fn path(home: &Path) -> PathBuf {
        home.join("trees.git")
    }

    /// Opens it, if it was ever made.
    fn existing(home: &Path) -> Result<Option<Ours>, RepoError> {
        let path = Ours::path(home);
        path.exists().then(|| Ours::open(path)).transpose()
    }

    /// Opens it, and makes it if need be.
    pub(super) fn made(home: &Path) -> Result<Ours, RepoError> {
        let path = Ours::path(home);
        if !path.exists() {
            Ours::make(home, &path)?;
        }
        Ours::open(path)
    }

    fn open(path: PathBuf) -> Result<Ours, RepoError> {
        trust_hashes();
        let opened = Repository::open_bare(&path);
        let repository = opened.map_err(|error| RepoError::store(&path, &error))?;
        Ok(Ours { repository, path })
    }

    /// Made aside and moved to its place, so that it is whole whenever it is there.
    fn make(home: &Path, path: &Path) -> Result<(), RepoError> {
        private::folder(home).map_err(RepoError::disk(home))?;
        let draft = tempfile::Builder::new().prefix("trees.git.tmp-").tempdir_in(home);
        let draft = draft.map_err(RepoError::disk(home))?;
        let mut options = RepositoryInitOptions::new();
        options.bare(true).external_template(false).initial_head("main");
        let made = Repository::init_opts(draft.path(), &options);
        made.map_err(|error| RepoError::store(path, &error))?;
        // libgit2 has opened it to everybody.
        disk::keep_private(draft.path()).map_err(RepoError::disk(path))?;
        match fs::rename(draft.path(), path) {
            Err(error) if !path.exists() => Err(RepoError::disk(path)(error)),
            // Or somebody else was faster, and theirs is as good.
            _ => Ok(()),
        }
    }

    /// A folder that is kept here. None if it is not.
    pub(super) fn tree(&self, id: Oid) -> Option<Tree<'_>> {
        self.holds(id, ObjectType::Tree).then(|| self.repository.find_tree(id).ok()).flatten()
    }

    /// Whether it has something under its own name. Whatever is asked here first could otherwise be
    /// given in the place of what is meant.
    fn holds(&self, id: Oid, kind: ObjectType) -> bool {
        let odb = self.repository.odb().ok().filter(|_| self.has(id));
        let found = odb.as_ref().and_then(|odb| odb.read(id).ok());
        found.is_some_and(|it| {
            it.kind() == kind && Oid::hash_object(kind, it.data()).is_ok_and(|own| own == id)
        })
    }

    /// It is small, and can tell at once that it has not got something.
    fn has(&self, id: Oid) -> bool {
        self.repository.odb().is_ok_and(|odb| odb.exists_ext(id, OdbLookupFlags::NO_REFRESH))
    }

    /// Keeps an object, and returns its id.
    pub(super) fn keep(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, RepoError> {
        let kept = self.repository.odb().and_then(|odb| odb.write(kind, bytes));
        kept.map_err(|error| RepoError::store(&self.path, &error))
    }
}

impl Stores {
    pub(super) fn open(home: &Path, root: &Path) -> Result<Stores, RepoError> {
        Ok(Stores { ours: Ours::existing(home)?, theirs: Theirs::around(root)? })
    }

    /// The user's repository, if there is one.
    pub(super) fn theirs(&self) -> Option<&Theirs> {
        self.theirs.as_ref()
    }

    /// The same, as git has it.
    pub(super) fn repository(&self) -> Option<&Repository> {
        self.theirs.as_ref().map(|theirs| &theirs.repository)
    }

    /// The size and kind of an object. None if it is nowhere.
    pub(super) fn header(&self, id: Oid) -> Option<(u64, ObjectType)> {
        let ours = self.ours.as_ref().filter(|ours| ours.has(id)).map(|ours| &ours.repository);
        let odb = ours.or(self.repository())?.odb().ok()?;
        odb.read_header(id).ok().map(|(size, kind)| (size as u64, kind))
    }

    /// What a file holds. None if it cannot be read.
    pub(super) fn blob(&self, id: Oid) -> Option<Blob<'_>> {
        self.holder(id, ObjectType::Blob)?.find_blob(id).ok()
    }

    /// The same, to be kept.
    pub(super) fn bytes(&self, id: Oid) -> Option<Vec<u8>> {
        Some(self.blob(id)?.content().to_owned())
    }

    /// What a folder holds. None if it cannot be read.
    pub(super) fn tree(&self, id: Oid) -> Option<Tree<'_>> {
        self.holder(id, ObjectType::Tree)?.find_tree(id).ok()
    }

    /// Ours is asked first.
    fn holder(&self, id: Oid, kind: ObjectType) -> Option<&Repository> {
        let ours = self.ours.as_ref().filter(|ours| ours.holds(id, kind));
        ours.map(|ours| &ours.repository).or(self.repository())
    }
}
