//! Object lookup in two git repositories: the user's, which is only read, and a bare one of our own
//! (`trees.git`) for objects that are in no commit yet. They are not linked as alternates, so no
//! config can make git write our objects to the user's repository.
use super::{RepoError, disk};
use crate::secure_fs;
use git2::{
    Blob, ErrorCode, ObjectType, OdbLookupFlags, Oid, Repository, RepositoryInitOptions, Tree, opts,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Path length in bytes at which walks over a tree stop, because a malicious tree can nest without
/// end.
pub(super) const MAX_TREE_PATH_BYTES: usize = 4_096;

/// The user's repository.
pub(super) struct UserRepo {
    pub(super) repository: Repository,
    /// Top folder of the working tree, canonicalized.
    pub(super) top: PathBuf,
}

/// Our own bare repository, in the user's home folder for debates.
pub(super) struct OwnRepo {
    repository: Repository,
    path: PathBuf,
}

/// Both object stores, as far as they exist. Reads query our own first.
pub(super) struct ObjectStore {
    own_repo: Option<OwnRepo>,
    user_repo: Option<UserRepo>,
}

/// Disables hash verification on read. Thousands of objects are read, and a corrupt one would be
/// corrupt for git, too.
fn disable_hash_verification() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| opts::strict_hash_verification(false));
}

impl UserRepo {
    /// Finds the repository around a folder. None if there is none, or if it is bare.
    pub(super) fn discover(folder: &Path) -> Result<Option<UserRepo>, RepoError> {
        disable_hash_verification();
        let Ok(folder) = dunce::canonicalize(folder) else { return Ok(None) };
        // Searched here and not by libgit2: only the nearest `.git` is valid for this folder.
        let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
        let Some(top) = folder.ancestors().find(has_git) else { return Ok(None) };
        let repository = match Repository::open(top) {
            Ok(repository) => repository,
            // An empty `.git` folder is not a repository, but a `.git` file that points nowhere is
            // an error.
            Err(error) if error.code() == ErrorCode::NotFound && top.join(".git").is_dir() => {
                return Ok(None);
            }
            Err(error) => return Err(RepoError::from_git(top, &error)),
        };
        let Some(workdir) = repository.workdir() else { return Ok(None) };
        // `core.worktree` must not choose which folder is read.
        if dunce::canonicalize(workdir).ok().as_deref() != Some(top) {
            return Err(RepoError::WorktreeElsewhere { path: top.to_owned() });
        }
        Ok(Some(UserRepo { repository, top: top.to_owned() }))
    }
}

/// Folder that paths are relative to: the top of the repository around `root`, or `root` itself.
pub fn toplevel(root: &Path) -> Result<PathBuf, RepoError> {
    match UserRepo::discover(root)? {
        Some(user_repo) => Ok(user_repo.top),
        None if disk::is_bare_repository(root) => Err(RepoError::Bare { path: root.to_owned() }),
        None => Ok(dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned())),
    }
}

impl OwnRepo {
    fn path(home: &Path) -> PathBuf {
        home.join("trees.git")
    }

    /// Opens it if it exists.
    fn open_existing(home: &Path) -> Result<Option<OwnRepo>, RepoError> {
        let path = OwnRepo::path(home);
        path.exists().then(|| OwnRepo::open(path)).transpose()
    }

    /// Opens it, and creates it if missing.
    pub(super) fn open_or_create(home: &Path) -> Result<OwnRepo, RepoError> {
        let path = OwnRepo::path(home);
        if !path.exists() {
            OwnRepo::create(home, &path)?;
        }
        OwnRepo::open(path)
    }

    fn open(path: PathBuf) -> Result<OwnRepo, RepoError> {
        disable_hash_verification();
        let opened = Repository::open_bare(&path);
        let repository = opened.map_err(|error| RepoError::from_own_store(&path, &error))?;
        Ok(OwnRepo { repository, path })
    }

    /// Creates it in a temporary folder and renames it into place, so that it is always complete.
    fn create(home: &Path, path: &Path) -> Result<(), RepoError> {
        secure_fs::create_private_dir(home).map_err(RepoError::io_at(home))?;
        let temp_dir = tempfile::Builder::new().prefix("trees.git.tmp-").tempdir_in(home);
        let temp_dir = temp_dir.map_err(RepoError::io_at(home))?;
        let mut options = RepositoryInitOptions::new();
        options.bare(true).external_template(false).initial_head("main");
        let created = Repository::init_opts(temp_dir.path(), &options);
        created.map_err(|error| RepoError::from_own_store(path, &error))?;
        // libgit2 creates it readable for all users.
        disk::make_private(temp_dir.path()).map_err(RepoError::io_at(path))?;
        match fs::rename(temp_dir.path(), path) {
            Err(error) if !path.exists() => Err(RepoError::io_at(path)(error)),
            // Another process may have created it first, which is as good.
            _ => Ok(()),
        }
    }

    /// Reads a tree object. None if it is missing here.
    pub(super) fn find_tree(&self, id: Oid) -> Option<Tree<'_>> {
        self.has_valid_object(id, ObjectType::Tree)
            .then(|| self.repository.find_tree(id).ok())
            .flatten()
    }

    /// Whether the object exists and its hash is valid. Without the check a forged object here
    /// could replace one of the user's repository.
    fn has_valid_object(&self, id: Oid, kind: ObjectType) -> bool {
        let odb = self.repository.odb().ok().filter(|_| self.has_object(id));
        let found = odb.as_ref().and_then(|odb| odb.read(id).ok());
        found.is_some_and(|object| {
            object.kind() == kind
                && Oid::hash_object(kind, object.data()).is_ok_and(|hash| hash == id)
        })
    }

    /// Whether the object exists. Does not rescan the disk, because the store is small.
    fn has_object(&self, id: Oid) -> bool {
        self.repository.odb().is_ok_and(|odb| odb.exists_ext(id, OdbLookupFlags::NO_REFRESH))
    }

    /// Writes an object and returns its id.
    pub(super) fn write_object(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, RepoError> {
        let written = self.repository.odb().and_then(|odb| odb.write(kind, bytes));
        written.map_err(|error| RepoError::from_own_store(&self.path, &error))
    }
}

impl ObjectStore {
    pub(super) fn open(home: &Path, root: &Path) -> Result<ObjectStore, RepoError> {
        Ok(ObjectStore {
            own_repo: OwnRepo::open_existing(home)?,
            user_repo: UserRepo::discover(root)?,
        })
    }

    /// The user's repository, if there is one.
    pub(super) fn user_repo(&self) -> Option<&UserRepo> {
        self.user_repo.as_ref()
    }

    /// Its libgit2 handle.
    pub(super) fn repository(&self) -> Option<&Repository> {
        self.user_repo.as_ref().map(|user_repo| &user_repo.repository)
    }

    /// Size and type of an object. None if it is in neither store.
    pub(super) fn object_header(&self, id: Oid) -> Option<(u64, ObjectType)> {
        let own_repo = self
            .own_repo
            .as_ref()
            .filter(|own_repo| own_repo.has_object(id))
            .map(|own_repo| &own_repo.repository);
        let odb = own_repo.or(self.repository())?.odb().ok()?;
        odb.read_header(id).ok().map(|(size, kind)| (size as u64, kind))
    }

    /// Reads a file. None if it is missing or invalid.
    pub(super) fn find_blob(&self, id: Oid) -> Option<Blob<'_>> {
        self.repository_with(id, ObjectType::Blob)?.find_blob(id).ok()
    }

    /// Like `find_blob`, but copies the contents.
    pub(super) fn read_blob(&self, id: Oid) -> Option<Vec<u8>> {
        Some(self.find_blob(id)?.content().to_owned())
    }

    /// Reads a folder. None if it is missing or invalid.
    pub(super) fn find_tree(&self, id: Oid) -> Option<Tree<'_>> {
        self.repository_with(id, ObjectType::Tree)?.find_tree(id).ok()
    }

    /// The repository that holds the object. Our own is queried first.
    fn repository_with(&self, id: Oid, kind: ObjectType) -> Option<&Repository> {
        let own_repo =
            self.own_repo.as_ref().filter(|own_repo| own_repo.has_valid_object(id, kind));
        own_repo.map(|own_repo| &own_repo.repository).or(self.repository())
    }
}
