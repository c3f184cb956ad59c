//! `CitationChecker`: looks up references in pinned trees, and caches the last tree used.
use super::contents::{self, Contents};
use super::kept::Shelf;
use super::lookup::Lookup;
use super::paths::Paths;
use super::{Reference, Scope, Search};
use crate::debate::Citation;
use crate::engine::ContextError;
use crate::repo::{RepoError, Trees, View};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Looks up references in pinned trees. Cheap to clone. Clones share the cache.
#[derive(Clone)]
pub struct Checker {
    trees: Trees,
    last: Arc<Mutex<Option<Arc<Tree>>>>,
}

/// A cached tree: file list, path index, and Bloom index once it is built.
pub(super) struct Tree {
    kept: Shelf,
    root: PathBuf,
    pub(super) view: View,
    pub(super) paths: Paths,
    contents: Mutex<Option<Arc<Contents>>>,
}

impl Checker {
    /// Creates a checker. Its index cache is in the home folder of `trees`. Touches no file yet.
    pub fn new(trees: Trees) -> Checker {
        Checker { trees, last: Arc::default() }
    }

    /// Looks up references in a pinned tree of the repository around `root`, in order.
    pub fn check(
        &self,
        root: &Path,
        tree: &str,
        references: &[Reference],
        scope: &Scope<'_>,
    ) -> Result<Vec<Citation>, RepoError> {
        let tree = self.tree(root, tree)?;
        let mut lookup = Lookup::new(&tree, root, scope)?;
        references.iter().map(|reference| lookup.citation(reference)).collect()
    }

    /// Reads a file of a pinned tree with secrets redacted, as debaters may see it.
    pub fn shown(&self, root: &Path, tree: &str, path: &str) -> Result<String, ContextError> {
        let told = |error: &dyn std::fmt::Display| ContextError(error.to_string());
        let tree = self.tree(root, tree).map_err(|error| told(&error))?;
        let gone = || ContextError(format!("there is no `{path}` in this tree"));
        let file = tree.view.find(path).ok_or_else(gone)?;
        let reader = tree.view.reader().map_err(|error| told(&error))?;
        let bytes = contents::readable(&reader, file)
            .map_err(|why| ContextError(format!("`{path}` {}, and is not shown", why.says())))?;
        if bytes.contains(&0) {
            return Err(ContextError(format!("`{path}` is not text, and is not shown")));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn tree(&self, root: &Path, id: &str) -> Result<Arc<Tree>, RepoError> {
        let mut last = held(&self.last);
        if let Some(tree) = last.as_ref().filter(|tree| tree.view.tree() == id && tree.root == root)
        {
            return Ok(tree.clone());
        }
        let view = self.trees.view(root, id)?;
        let paths = Paths::new(&view, root);
        let (kept, root) = (Shelf::of(&self.trees), root.to_owned());
        let tree = Arc::new(Tree { kept, root, view, paths, contents: Mutex::default() });
        Ok(last.insert(tree).clone())
    }
}

impl Tree {
    /// Bloom index of the tree, loaded from the cache. On a cache miss it is built, or None if
    /// `search` does not allow that.
    pub(super) fn contents(&self, search: Search) -> Result<Option<Arc<Contents>>, RepoError> {
        let mut held = held(&self.contents);
        if let Some(contents) = held.as_ref() {
            return Ok(Some(contents.clone()));
        }
        let (id, files) = (self.view.tree(), self.view.files().len());
        let contents = match (self.kept.load(id, files), search) {
            (Some(contents), _) => contents,
            (None, Search::Known) => return Ok(None),
            (None, Search::Whole) => {
                let contents = Contents::build(&self.view)?;
                self.kept.save(id, &contents);
                contents
            }
        };
        Ok(Some(held.insert(Arc::new(contents)).clone()))
    }
}

/// Locks a mutex and ignores poisoning: a panic while it is locked leaves valid data behind.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
