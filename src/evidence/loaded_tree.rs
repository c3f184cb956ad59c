//! A pinned tree, loaded for lookups. `checker` keeps the last one, `lookup` reads it.
use super::SearchMode;
use super::bloom_index::BloomIndex;
use super::index_cache::IndexCache;
use super::path_index::PathIndex;
use crate::repo::{RepoError, TreeStore, TreeView};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A tree to look up references in: file list, path index, and Bloom index once it is built.
pub(super) struct LoadedTree {
    index_cache: IndexCache,
    root: PathBuf,
    pub(super) view: TreeView,
    pub(super) paths: PathIndex,
    index: Mutex<Option<Arc<BloomIndex>>>,
}

impl LoadedTree {
    pub(super) fn load(trees: &TreeStore, root: &Path, id: &str) -> Result<LoadedTree, RepoError> {
        let view = trees.view(root, id)?;
        let paths = PathIndex::new(&view, root);
        let (index_cache, root) = (IndexCache::new(trees), root.to_owned());
        Ok(LoadedTree { index_cache, root, view, paths, index: Mutex::default() })
    }

    /// Whether this is the tree with this id, loaded from this repository.
    pub(super) fn is_tree(&self, root: &Path, id: &str) -> bool {
        self.view.tree() == id && self.root == root
    }

    /// Bloom index of the tree, loaded from the cache. On a cache miss it is built, or None if
    /// `search` does not allow that.
    pub(super) fn index(&self, search: SearchMode) -> Result<Option<Arc<BloomIndex>>, RepoError> {
        // A panic while it is locked leaves valid data behind.
        let mut cached = self.index.lock().unwrap_or_else(PoisonError::into_inner);
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
