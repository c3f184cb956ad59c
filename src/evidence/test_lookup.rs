//! Test fixture: loads a pinned tree, and references to look up in it.
use super::loaded_tree::LoadedTree;
use super::{
    CitationChecker, CitedLocation, CitedTarget, CitedText, LookupScope, Reference, SearchMode,
};
use crate::repo::test_repo::TempRepo;
use git2::Oid;
use std::sync::Arc;

/// Scope without preferences. A missing index is built.
pub(super) const BUILD_INDEX_SCOPE: LookupScope<'static> = LookupScope {
    preferred_paths: &[],
    folder: "",
    excluded_path: None,
    base: None,
    search: SearchMode::BuildIndex,
};

pub(super) fn load_tree(repo: &TempRepo, tree: Oid) -> Arc<LoadedTree> {
    let checker = CitationChecker::new(repo.tree_store());
    checker.load_tree(&repo.root(), &tree.to_string()).unwrap()
}

/// Evidence that quotes a file, without line numbers.
pub(super) fn quote_reference(path: &str, quote: &str) -> Reference {
    let text = Some(CitedText::Quote(quote.to_owned()));
    let location = CitedLocation { path: path.to_owned(), lines: None, text, certain: true };
    let target = CitedTarget::Location(location);
    Reference { raw: quote.to_owned(), claim: None, is_evidence: true, target }
}
