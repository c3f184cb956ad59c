//! View of a pinned tree: lists all files at once and reads contents on demand. `TreeView` holds
//! the list, `TreeReader` reads files with secrets redacted.
use super::stores::Stores;
use super::{LARGEST, RepoError, Trees, Why, cleaned};
use crate::redact::Redactor;
use git2::{Blob, ObjectType, Oid};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Maximum number of files listed. Beyond it the view is marked incomplete.
const MOST_FILES: usize = 200_000;

/// File list of a pinned tree, sorted by path.
pub struct View {
    home: PathBuf,
    root: PathBuf,
    tree: String,
    files: Vec<File>,
    whole: bool,
    gate: Option<Redactor>,
}

/// One entry of a pinned tree other than a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path from the repository root with `/` as separator. Invalid UTF-8 is shown as `�`.
    pub path: String,
    /// Reason why it cannot be read as a file: a link or a submodule.
    pub why: Option<Why>,
    id: Oid,
}

/// Reads files of a view. Not shared: each thread opens its own.
pub struct Reader {
    stores: Stores,
    gate: Option<Redactor>,
}

/// A file that was read.
pub(super) struct Read<'a> {
    /// Contents as stored, not redacted.
    pub(super) blob: Blob<'a>,
    /// Redacted contents, if they differ from the stored ones.
    pub(super) cleaned: Option<Vec<u8>>,
}

impl Trees {
    /// Opens a pinned tree. Lists the files and reads none.
    pub fn view(&self, root: &Path, tree: &str) -> Result<View, RepoError> {
        View::open(self, root, tree)
    }
}

impl View {
    fn open(trees: &Trees, root: &Path, tree: &str) -> Result<View, RepoError> {
        let gone = || RepoError::Gone { tree: tree.to_owned() };
        let id = Oid::from_str(tree).map_err(|_| gone())?;
        let home = &trees.home;
        let stores = Stores::open(home, root)?;
        if stores.header(id).is_none_or(|(_, kind)| kind != ObjectType::Tree) {
            return Err(gone());
        }
        let mut listing = Listing { stores: &stores, files: vec![], whole: true };
        listing.folder("", id);
        let Listing { mut files, whole, .. } = listing;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(View {
            home: home.to_owned(),
            root: root.to_owned(),
            tree: tree.to_owned(),
            files,
            whole,
            gate: trees.gate(tree),
        })
    }

    /// Tree id.
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// All files, sorted by path.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Whether the list is complete. A limit, or a partial clone with missing objects, makes it
    /// incomplete.
    pub fn whole(&self) -> bool {
        self.whole
    }

    /// The file with exactly this path.
    pub fn find(&self, path: &str) -> Option<&File> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(at)
    }

    /// Opens a reader with its own repository handle.
    pub fn reader(&self) -> Result<Reader, RepoError> {
        Ok(Reader { stores: Stores::open(&self.home, &self.root)?, gate: self.gate.clone() })
    }
}

impl File {
    /// Creates an entry, and derives from the mode whether it can be read.
    pub(super) fn new(path: String, mode: i32, id: Oid) -> File {
        let why = match mode & 0o170_000 {
            0o100_000 => None,
            0o120_000 => Some(Why::Link),
            0o160_000 => Some(Why::Submodule),
            _ => Some(Why::Unreadable),
        };
        File { path, why, id }
    }
}

impl Reader {
    /// Size in bytes. None if it is not a file or is missing.
    pub fn size(&self, file: &File) -> Option<u64> {
        let (size, _) = self.stores.header(file.id).filter(|_| file.why.is_none())?;
        Some(size)
    }

    /// Reads a file with secrets redacted, or returns the reason why it cannot be read.
    pub fn bytes(&self, file: &File) -> Result<Vec<u8>, Why> {
        let read = self.read(file)?;
        Ok(read.cleaned.unwrap_or_else(|| read.blob.content().to_owned()))
    }

    /// Like `read_bytes`, but without a copy if nothing is redacted.
    pub(super) fn read(&self, file: &File) -> Result<Read<'_>, Why> {
        if let Some(why) = file.why {
            return Err(why);
        }
        let (size, kind) = self.stores.header(file.id).ok_or(Why::Unreadable)?;
        if kind != ObjectType::Blob {
            return Err(Why::Unreadable);
        }
        if size > LARGEST {
            return Err(Why::TooLarge);
        }
        let blob = self.stores.blob(file.id).ok_or(Why::Unreadable)?;
        let cleaned = match cleaned(self.gate.as_ref(), &file.path, blob.content()) {
            Cow::Owned(cleaned) => Some(cleaned),
            Cow::Borrowed(_) => None,
        };
        Ok(Read { blob, cleaned })
    }
}

impl Read<'_> {
    /// Redacted contents.
    pub(super) fn bytes(&self) -> &[u8] {
        self.cleaned.as_deref().unwrap_or_else(|| self.blob.content())
    }
}

/// State of a listing in progress.
struct Listing<'a> {
    stores: &'a Stores,
    files: Vec<File>,
    whole: bool,
}

impl Listing<'_> {
    /// Lists everything below a folder. The recursion ends at a maximum path length, because a
    /// malicious tree could nest without limit.
    fn folder(&mut self, path: &str, id: Oid) {
        const LONGEST_PATH: usize = 4_096;
        let tree = self.stores.tree(id).filter(|_| path.len() <= LONGEST_PATH);
        let Some(tree) = tree else {
            self.whole = false;
            return;
        };
        for entry in &tree {
            if self.files.len() >= MOST_FILES {
                self.whole = false;
                return;
            }
            let inner = format!("{path}{}", String::from_utf8_lossy(entry.name_bytes()));
            if entry.filemode_raw() & 0o170_000 == 0o040_000 {
                self.folder(&(inner + "/"), entry.id());
            } else {
                self.files.push(File::new(inner, entry.filemode_raw(), entry.id()));
            }
        }
    }
}
