//! A pinned tree, to be looked into: every file by name at once, and what stands in one when it is
//! asked for.
use super::stores::Stores;
use super::{LARGEST, RepoError, Trees, Why, cleaned};
use crate::redact::Redactor;
use git2::{Blob, ObjectType, Oid};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Files that are listed: what lies beyond is said to be more than there is room for.
const MOST_FILES: usize = 200_000;

/// Every file of a pinned tree, sorted by path.
pub struct View {
    home: PathBuf,
    root: PathBuf,
    tree: String,
    files: Vec<File>,
    whole: bool,
    gate: Option<Redactor>,
}

/// One entry of a pinned tree that is no folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// From the root of the repository, with `/` between names; what is not UTF-8 is shown as `�`.
    pub path: String,
    /// What it is, if it cannot be read as a file: a link, or a repository of its own.
    pub why: Option<Why>,
    id: Oid,
}

/// Reads files of a view. One for each thread.
pub struct Reader {
    stores: Stores,
    gate: Option<Redactor>,
}

/// A file that was read.
pub(super) struct Read<'a> {
    /// As it is kept.
    pub(super) blob: Blob<'a>,
    /// What may be shown of it, if that is not all.
    pub(super) cleaned: Option<Vec<u8>>,
}

impl Trees {
    /// Opens a pinned tree for looking into. Lists names; reads no file.
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

    /// The id of the tree.
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// Every file, sorted by path.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Whether all of the tree could be listed: in a partial clone some of it may not be there.
    pub fn whole(&self) -> bool {
        self.whole
    }

    /// The file of exactly this path.
    pub fn find(&self, path: &str) -> Option<&File> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(at)
    }

    /// Something to read files with.
    pub fn reader(&self) -> Result<Reader, RepoError> {
        Ok(Reader { stores: Stores::open(&self.home, &self.root)?, gate: self.gate.clone() })
    }
}

impl File {
    /// An entry of a tree, by its mode.
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
    /// How many bytes a file has. None if it is none, or is not there.
    pub fn size(&self, file: &File) -> Option<u64> {
        let (size, _) = self.stores.header(file.id).filter(|_| file.why.is_none())?;
        Some(size)
    }

    /// What stands in a file, without what is secret in it; or why that cannot be told.
    pub fn bytes(&self, file: &File) -> Result<Vec<u8>, Why> {
        let read = self.read(file)?;
        Ok(read.cleaned.unwrap_or_else(|| read.blob.content().to_owned()))
    }

    /// The same, without a copy of what is not secret at all.
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
    /// What may be shown of it.
    pub(super) fn bytes(&self) -> &[u8] {
        self.cleaned.as_deref().unwrap_or_else(|| self.blob.content())
    }
}

/// A list in the making.
struct Listing<'a> {
    stores: &'a Stores,
    files: Vec<File>,
    whole: bool,
}

impl Listing<'_> {
    /// Everything below a folder. Nothing in a tree says how deep it is, so the paths do: no path
    /// is longer than a system would have.
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
