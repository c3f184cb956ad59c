//! Looks up one reference in one tree: resolves the file, checks the lines, searches the quote.
//! `CitationLookup` also has methods in `tree_search`, `removed_lines` and `symbol_lookup`.
use super::bloom_index::BloomIndex;
use super::loaded_tree::LoadedTree;
use super::path_index::ResolvedPath;
use super::quote_spot::{QuoteSpot, find_spot};
use super::source_text::SourceText;
use super::{
    CitedLocation, CitedTarget, CitedText, LookupScope, Reference, UnverifiableKind, parallel_find,
};
use crate::debate::{Citation, CitationStatus};
use crate::repo::{self, CommitLookup, ExclusionReason, RepoError, TreeFile, TreeReader};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Maximum number of files read to disambiguate a path.
const MAX_AMBIGUOUS_FILES: usize = 50;
/// Maximum number of files listed for a path that stays ambiguous.
const MAX_LISTED_FILES: usize = 3;
/// Size of the cache of parsed files. It is cleared when full.
const MAX_CACHED_TEXTS: usize = 64;
/// Maximum length of a quote in a recorded citation, in characters.
const MAX_RECORDED_QUOTE: usize = 4_000;

/// Looks up references in one tree. Holds the caches and limits of one check.
pub(super) struct CitationLookup<'a> {
    pub(super) tree: &'a LoadedTree,
    root: &'a Path,
    pub(super) scope: &'a LookupScope<'a>,
    pub(super) reader: TreeReader,
    text_cache: HashMap<usize, Result<Rc<SourceText>, ExclusionReason>>,
    pub(super) files_searched: usize,
    pub(super) files_weighed: usize,
}

/// Result of looking up one reference.
pub(super) struct LookupResult {
    pub(super) found: CitationStatus,
    pub(super) path: Option<String>,
    pub(super) found_at: Option<String>,
    pub(super) note: Option<String>,
    /// See [`Citation::removed`].
    pub(super) removed: Option<u32>,
}

impl LookupResult {
    pub(super) fn new(found: CitationStatus) -> LookupResult {
        LookupResult { found, path: None, found_at: None, note: None, removed: None }
    }

    pub(super) fn with_location(mut self, found_at: impl Into<String>) -> LookupResult {
        self.found_at = Some(found_at.into());
        self
    }

    pub(super) fn with_note(mut self, note: impl Into<String>) -> LookupResult {
        self.note = Some(match self.note.take() {
            Some(earlier) => format!("{earlier}; {}", note.into()),
            None => note.into(),
        });
        self
    }
}

impl<'a> CitationLookup<'a> {
    pub(super) fn new(
        tree: &'a LoadedTree,
        root: &'a Path,
        scope: &'a LookupScope<'a>,
    ) -> Result<CitationLookup<'a>, RepoError> {
        let reader = tree.view.reader()?;
        Ok(CitationLookup {
            tree,
            root,
            scope,
            reader,
            text_cache: HashMap::new(),
            files_searched: 0,
            files_weighed: 0,
        })
    }

    /// Looks up a reference and returns the citation to record.
    pub(super) fn look_up(&mut self, reference: &Reference) -> Result<Citation, RepoError> {
        let mut cited_location = None;
        let result = match &reference.target {
            CitedTarget::Location(location) => {
                cited_location = Some(location);
                self.look_up_location(location, reference.is_evidence)?
            }
            CitedTarget::Symbol(name) => self.look_up_symbol(name, reference.is_evidence)?,
            CitedTarget::Commit(id) => self.look_up_commit(id)?,
            CitedTarget::Unverifiable(UnverifiableKind::BenchmarkWithoutOutput) => {
                LookupResult::new(CitationStatus::Unchecked)
                    .with_note("a benchmark claimed without its output")
            }
            CitedTarget::Unverifiable(_) => {
                LookupResult::new(CitationStatus::Unchecked).with_note("stated, not verified")
            }
        };
        let lines = cited_location.and_then(|location| location.lines);
        Ok(Citation {
            raw: reference.raw.clone(),
            claim: reference.claim.clone(),
            path: result.path.or_else(|| cited_location.map(|location| location.path.clone())),
            line: lines.map(|(first, _)| first),
            end_line: lines.filter(|(first, last)| last > first).map(|(_, last)| last),
            quote: cited_location
                .and_then(CitedLocation::text_str)
                .map(|text| text.chars().take(MAX_RECORDED_QUOTE).collect()),
            found: result.found,
            found_at: result.found_at,
            note: result.note,
            removed: result.removed,
        })
    }

    fn look_up_commit(&self, id: &str) -> Result<LookupResult, RepoError> {
        Ok(match repo::find_commit(self.root, id)? {
            CommitLookup::Known(_) => LookupResult::new(CitationStatus::Located),
            CommitLookup::Ambiguous => {
                LookupResult::new(CitationStatus::Ambiguous).with_note("several commits begin so")
            }
            CommitLookup::Unknown => LookupResult::new(CitationStatus::CommitUnknown),
            CommitLookup::Shallow => {
                LookupResult::new(CitationStatus::Unchecked).with_note("this clone is shallow")
            }
            CommitLookup::NoHistory => {
                LookupResult::new(CitationStatus::Unchecked).with_note("there is no history here")
            }
        })
    }

    fn look_up_location(
        &mut self,
        location: &CitedLocation,
        is_evidence: bool,
    ) -> Result<LookupResult, RepoError> {
        let tree = self.tree;
        // A file name can contain any character, so an exact match goes first.
        if let Some(file_index) =
            self.file_index(&location.path).filter(|_| self.scope.folder.is_empty())
        {
            return self.look_up_in_file(file_index, location, is_evidence);
        }
        match tree.paths.resolve(&tree.view, &location.path, self.scope.folder) {
            ResolvedPath::File(file_index) => {
                self.look_up_in_file(file_index, location, is_evidence)
            }
            ResolvedPath::CaseInsensitive(file_index) => {
                let result = self.look_up_in_file(file_index, location, is_evidence)?;
                Ok(result.with_note(format!("the file is called `{}`", self.path(file_index))))
            }
            ResolvedPath::Ambiguous(matches) => match self.drop_base_files(matches).as_slice() {
                [only] => self.look_up_in_file(*only, location, is_evidence),
                candidates => self.disambiguate(candidates, location, is_evidence),
            },
            ResolvedPath::Folder(path) if location.text.is_none() && location.lines.is_none() => {
                Ok(LookupResult { path: Some(path), ..LookupResult::new(CitationStatus::Located) })
            }
            ResolvedPath::Folder(path) => {
                let result =
                    LookupResult::new(CitationStatus::Unchecked).with_note("it is a folder");
                Ok(LookupResult { path: Some(path), ..result })
            }
            ResolvedPath::NotFound if !tree.view.is_complete() => {
                Ok(LookupResult::new(CitationStatus::Unchecked)
                    .with_note("not all of the tree is here"))
            }
            ResolvedPath::NotFound => {
                Ok(missing_path_result(location, is_evidence, self.looks_like_path(location)))
            }
        }
    }

    /// Whether the text can only be a path: it has a known extension, or starts with an existing
    /// folder.
    fn looks_like_path(&self, location: &CitedLocation) -> bool {
        let path = location.path.trim_start_matches("./").trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let has_known_extension = extension.is_some_and(super::location::is_known_extension)
            && !super::location::is_product_name(name);
        let first_name = path.split('/').next().unwrap_or_default();
        let (view, paths) = (&self.tree.view, &self.tree.paths);
        let starts_in_folder = path.contains('/')
            && matches!(paths.resolve(view, first_name, ""), ResolvedPath::Folder(_));
        has_known_extension || starts_in_folder
    }

    /// Disambiguates a path that matches several files: by the quote, else by the paths the debate
    /// is about.
    fn disambiguate(
        &mut self,
        candidates: &[usize],
        location: &CitedLocation,
        is_evidence: bool,
    ) -> Result<LookupResult, RepoError> {
        let note = format!("{} files end in `{}`", candidates.len(), location.path);
        if location.text.is_some() && candidates.len() <= MAX_AMBIGUOUS_FILES {
            let has_quote = |lookup: &mut Self, file_index: &usize, exact_only: bool| {
                let spot = lookup
                    .cached_text(*file_index)
                    .ok()
                    .and_then(|text| find_spot(&text, location).map(|(spot, _)| spot));
                spot.is_some_and(|spot| !exact_only || matches!(spot, QuoteSpot::Exact(_)))
            };
            for exact_only in [false, true] {
                let matching: Vec<usize> = candidates
                    .iter()
                    .filter(|file_index| has_quote(self, file_index, exact_only))
                    .copied()
                    .collect();
                if let [only] = matching.as_slice() {
                    let result = self.look_up_in_file(*only, location, is_evidence)?;
                    return Ok(result.with_note(format!("{note}, and only this one has the quote")));
                }
            }
        }
        let is_preferred =
            |file_index: &&usize| self.scope.preferred_paths.contains(&self.path(**file_index));
        let preferred_files: Vec<usize> = candidates.iter().filter(is_preferred).copied().collect();
        if let [only] = preferred_files.as_slice() {
            let result = self.look_up_in_file(*only, location, is_evidence)?;
            return Ok(result.with_note(format!("{note}, and the debate is about this one")));
        }
        let listed: Vec<String> = candidates
            .iter()
            .take(MAX_LISTED_FILES)
            .map(|file_index| self.path(*file_index))
            .collect();
        Ok(LookupResult::new(CitationStatus::Ambiguous)
            .with_location(listed.join(", "))
            .with_note(note))
    }

    /// Looks up a location in one file.
    fn look_up_in_file(
        &mut self,
        file_index: usize,
        location: &CitedLocation,
        is_evidence: bool,
    ) -> Result<LookupResult, RepoError> {
        let path = self.path(file_index);
        let result = self.check_file(file_index, location, is_evidence)?;
        Ok(self.map_to_current_file(
            file_index,
            location,
            LookupResult { path: Some(path), ..result },
        ))
    }

    fn check_file(
        &mut self,
        file_index: usize,
        location: &CitedLocation,
        is_evidence: bool,
    ) -> Result<LookupResult, RepoError> {
        if self.is_excluded(file_index) {
            return Ok(LookupResult::new(CitationStatus::Unchecked)
                .with_note("what is checked is no source for itself"));
        }
        let text = match self.cached_text(file_index) {
            Ok(text) => text,
            Err(reason) => {
                // The old version may have been text.
                let removed_result = if location.text.is_some() {
                    self.look_up_removed(file_index, location)?
                } else {
                    None
                };
                let unreadable = || {
                    LookupResult::new(CitationStatus::Unchecked)
                        .with_note(format!("it {}", reason.describe()))
                };
                return Ok(removed_result.unwrap_or_else(unreadable));
            }
        };
        let length_note = format!("the file has {}", format_line_count(text.line_count()));
        let out_of_range =
            location.lines.filter(|(first, last)| *first == 0 || *last > text.line_count());
        if location.text.is_none() {
            return Ok(match out_of_range {
                Some(_) => LookupResult::new(CitationStatus::LineOutOfRange).with_note(length_note),
                None => LookupResult::new(CitationStatus::Located),
            });
        }
        match (find_spot(&text, location), out_of_range) {
            (Some((spot, parts)), out_of_range) => {
                if let Some(exact_removed) =
                    self.look_up_removed_exact(file_index, location, &spot)?
                {
                    return Ok(exact_removed);
                }
                let result =
                    self.result_for_spot(file_index, location, &spot, out_of_range.is_some());
                let result =
                    if out_of_range.is_some() { result.with_note(length_note) } else { result };
                self.downgrade_weak_quote(result, parts.as_deref(), location)
            }
            (None, out_of_range) => match self.look_up_removed(file_index, location)? {
                Some(result) => Ok(result),
                None if out_of_range.is_some() => {
                    Ok(LookupResult::new(CitationStatus::LineOutOfRange).with_note(length_note))
                }
                None => self.search_elsewhere(file_index, location, is_evidence),
            },
        }
    }

    pub(super) fn result_for_spot(
        &self,
        file_index: usize,
        location: &CitedLocation,
        spot: &QuoteSpot,
        is_out_of_range: bool,
    ) -> LookupResult {
        let at_line = |line: &u32| format!("{}:{line}", self.path(file_index));
        match spot {
            QuoteSpot::Exact(line) if location.lines.is_none() => {
                LookupResult::new(CitationStatus::Exact).with_location(at_line(line))
            }
            QuoteSpot::Exact(_) => LookupResult::new(CitationStatus::Exact),
            QuoteSpot::Near(line) if !is_out_of_range => {
                LookupResult::new(CitationStatus::Near).with_location(at_line(line))
            }
            QuoteSpot::Near(line) | QuoteSpot::Elsewhere(line) => {
                LookupResult::new(CitationStatus::ElsewhereInFile).with_location(at_line(line))
            }
        }
    }

    /// Bloom index of the tree. None if it is not cached and must not be built.
    pub(super) fn index(&self) -> Result<Option<Arc<BloomIndex>>, RepoError> {
        self.tree.index(self.scope.search)
    }

    pub(super) fn path(&self, file_index: usize) -> String {
        self.tree.view.files().get(file_index).map(|file| file.path.clone()).unwrap_or_default()
    }

    pub(super) fn is_excluded(&self, file_index: usize) -> bool {
        let file = self.tree.view.files().get(file_index);
        file.is_some_and(|file| Some(file.path.as_str()) == self.scope.excluded_path)
    }

    /// Parsed text of a cited file, cached because it is often cited again.
    pub(super) fn cached_text(
        &mut self,
        file_index: usize,
    ) -> Result<Rc<SourceText>, ExclusionReason> {
        if let Some(cached) = self.text_cache.get(&file_index) {
            return cached.clone();
        }
        let text = self.read_text(file_index);
        if self.text_cache.len() >= MAX_CACHED_TEXTS {
            self.text_cache.clear();
        }
        self.text_cache.insert(file_index, text.clone());
        text
    }

    /// Parsed text of a file that is only searched. Reads the cache, but does not fill it.
    pub(super) fn peek_text(&self, file_index: usize) -> Option<Rc<SourceText>> {
        match self.text_cache.get(&file_index) {
            Some(cached) => cached.clone().ok(),
            None => self.read_text(file_index).ok(),
        }
    }

    pub(super) fn read_bytes(&self, file: &TreeFile) -> Option<Vec<u8>> {
        self.reader.read_bytes(file).ok()
    }

    fn read_text(&self, file_index: usize) -> Result<Rc<SourceText>, ExclusionReason> {
        parallel_find::read_source_text(&self.tree.view, &self.reader, file_index).map(Rc::new)
    }
}

/// Result for a path that does not exist. In prose, without lines or a quote, it may be a file yet
/// to be written, and `redis/stack:7` is not a path at all.
fn missing_path_result(
    location: &CitedLocation,
    is_evidence: bool,
    looks_like_path: bool,
) -> LookupResult {
    let may_be_proposal = !is_evidence
        && location.lines.is_none()
        && !matches!(location.text, Some(CitedText::Quote(_)));
    if may_be_proposal || !location.certain || !looks_like_path {
        return LookupResult::new(CitationStatus::Unchecked).with_note("not in this repository");
    }
    LookupResult::new(CitationStatus::NoSuchPath)
}

fn format_line_count(lines: u32) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::test_lookup::{BUILD_INDEX_SCOPE, load_tree, quote_reference};
    use crate::repo::test_repo::{FILE_MODE, FOLDER_MODE, TempRepo};

    /// Looks up a quote from `mod.rs`, which is in so many folders. Only one has `only_here`.
    fn look_up_in_folders(count: usize, quote: &str) -> Citation {
        let repo = TempRepo::new();
        let folder = |text: &[u8]| repo.tree([(FILE_MODE, "mod.rs", repo.blob(text))]);
        let (first, other) = (folder(b"fn only_here() {}\n"), folder(b"fn other() {}\n"));
        let folders = (0..count).map(|nth| {
            let id = if nth == 0 { first } else { other };
            (FOLDER_MODE, format!("d{nth:02}"), id)
        });
        let (tree, root) = (load_tree(&repo, repo.tree(folders)), repo.root());
        let mut lookup = CitationLookup::new(&tree, &root, &BUILD_INDEX_SCOPE).unwrap();
        lookup.look_up(&quote_reference("mod.rs", quote)).unwrap()
    }

    #[test]
    fn ambiguous_path_is_resolved_among_50_files() {
        let status = |count: usize| look_up_in_folders(count, "fn only_here() {}").found;
        assert_eq!(status(MAX_AMBIGUOUS_FILES), CitationStatus::Exact);
        assert_eq!(status(MAX_AMBIGUOUS_FILES + 1), CitationStatus::Ambiguous);
        assert_eq!(MAX_AMBIGUOUS_FILES, 50);
    }

    #[test]
    fn ambiguous_path_lists_3_files() {
        let listed = Some("d00/mod.rs, d01/mod.rs, d02/mod.rs".to_owned());
        for count in [MAX_LISTED_FILES, MAX_LISTED_FILES + 1] {
            assert_eq!(look_up_in_folders(count, "fn nowhere() {}").found_at, listed);
        }
    }

    #[test]
    fn recorded_quote_is_cut_at_4_000_characters() {
        let repo = TempRepo::new();
        let id = repo.tree([(FILE_MODE, "a.rs", repo.blob(b"x"))]);
        let (tree, root) = (load_tree(&repo, id), repo.root());
        let mut lookup = CitationLookup::new(&tree, &root, &BUILD_INDEX_SCOPE).unwrap();
        let at_limit = "é".repeat(MAX_RECORDED_QUOTE);
        for quote in [at_limit.clone(), format!("{at_limit}x")] {
            let citation = lookup.look_up(&quote_reference("a.rs", &quote)).unwrap();
            assert!(citation.quote.is_some_and(|recorded| recorded == at_limit));
        }
        assert_eq!(MAX_RECORDED_QUOTE, 4_000);
    }
}
