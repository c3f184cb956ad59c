//! `CitationChecker`: looks up references in pinned trees, and caches the last tree used.
use super::bloom_index;
use super::loaded_tree::LoadedTree;
use super::lookup::CitationLookup;
use super::{LookupScope, Reference};
use crate::debate::Citation;
use crate::engine::ContextError;
use crate::repo::{RepoError, TreeStore};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Looks up references in pinned trees. Cheap to clone. Clones share the cache.
#[derive(Clone)]
pub struct CitationChecker {
    trees: TreeStore,
    last_tree: Arc<Mutex<Option<Arc<LoadedTree>>>>,
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
        let mut last = self.last_tree.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = last.as_ref().filter(|tree| tree.is_tree(root, id)) {
            return Ok(tree.clone());
        }
        let tree = Arc::new(LoadedTree::load(&self.trees, root, id)?);
        Ok(last.insert(tree).clone())
    }
}
