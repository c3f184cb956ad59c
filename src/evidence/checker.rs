//! `CitationChecker`: looks up references in pinned trees, and caches the last tree used.
use super::bloom_index::{self, BloomIndex};
use super::index_cache::IndexCache;
use super::lookup::CitationLookup;
use super::path_index::PathIndex;
use super::{LookupScope, Reference, SearchMode};
use crate::debate::Citation;
use crate::engine::ContextError;
use crate::repo::{RepoError, TreeStore, TreeView};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Looks up references in pinned trees. Cheap to clone. Clones share the cache.
#[derive(Clone)]
pub struct CitationChecker {
    trees: TreeStore,
    last_tree: Arc<Mutex<Option<Arc<LoadedTree>>>>,
}

/// A cached tree: file list, path index, and Bloom index once it is built.
pub(super) struct LoadedTree {
    index_cache: IndexCache,
    root: PathBuf,
    pub(super) view: TreeView,
    pub(super) paths: PathIndex,
    index: Mutex<Option<Arc<BloomIndex>>>,
}

impl CitationChecker {
    /// Creates a checker. Its index cache is in the home folder of `trees`. Touches no file yet.
    pub fn new(trees: TreeStore) -> CitationChecker {
        CitationChecker { trees, last_tree: Arc::default() }
    }

    /// Looks up references in a pinned tree of the repository around `root`, in order.
    pub fn check(
        &self,
        root: &Path,
        tree: &str,
        references: &[Reference],
        scope: &LookupScope<'_>,
    ) -> Result<Vec<Citation>, RepoError> {
        let started = Instant::now();
        let tree = self.load_tree(root, tree)?;
        let mut lookup = CitationLookup::new(&tree, root, scope)?;
        let citations: Vec<Citation> = references
            .iter()
            .map(|reference| lookup.look_up(reference))
            .collect::<Result<_, RepoError>>()?;
        let elapsed_ms = started.elapsed().as_millis();
        tracing::debug!(count = citations.len(), elapsed_ms, "citations checked");
        Ok(citations)
    }

    /// Reads a file of a pinned tree with secrets redacted, as debaters may see it.
    pub fn read_file(&self, root: &Path, tree: &str, path: &str) -> Result<String, ContextError> {
        let to_error = |error: &dyn std::fmt::Display| ContextError(error.to_string());
        let tree = self.load_tree(root, tree).map_err(|error| to_error(&error))?;
        let not_found = || ContextError(format!("there is no `{path}` in the pinned tree"));
        let file = tree.view.find(path).ok_or_else(not_found)?;
        let reader = tree.view.reader().map_err(|error| to_error(&error))?;
        let bytes = bloom_index::read_searchable(&reader, file).map_err(|reason| {
            ContextError(format!("`{path}` {}, and is not shown", reason.describe()))
        })?;
        if bytes.contains(&0) {
            return Err(ContextError(format!("`{path}` is not text, and is not shown")));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn load_tree(&self, root: &Path, id: &str) -> Result<Arc<LoadedTree>, RepoError> {
        let mut last = lock(&self.last_tree);
        if let Some(tree) = last.as_ref().filter(|tree| tree.view.tree() == id && tree.root == root)
        {
            return Ok(tree.clone());
        }
        let view = self.trees.view(root, id)?;
        let paths = PathIndex::new(&view, root);
        let (index_cache, root) = (IndexCache::new(&self.trees), root.to_owned());
        let tree = Arc::new(LoadedTree { index_cache, root, view, paths, index: Mutex::default() });
        Ok(last.insert(tree).clone())
    }
}

impl LoadedTree {
    /// Bloom index of the tree, loaded from the cache. On a cache miss it is built, or None if
    /// `search` does not allow that.
    pub(super) fn index(&self, search: SearchMode) -> Result<Option<Arc<BloomIndex>>, RepoError> {
        let mut cached = lock(&self.index);
        if let Some(index) = cached.as_ref() {
            return Ok(Some(index.clone()));
        }
        let (id, files) = (self.view.tree(), self.view.files().len());
        let index = match (self.index_cache.load(id, files), search) {
            (Some(index), _) => index,
            (None, SearchMode::CachedIndexOnly) => return Ok(None),
            (None, SearchMode::BuildIndex) => {
                let started = Instant::now();
                let index = BloomIndex::build(&self.view)?;
                let elapsed_ms = started.elapsed().as_millis();
                tracing::debug!(tree = id, files, elapsed_ms, "bloom index built");
                self.index_cache.save(id, &index);
                index
            }
        };
        Ok(Some(cached.insert(Arc::new(index)).clone()))
    }
}

/// Locks a mutex and ignores poisoning: a panic while it is locked leaves valid data behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
