//! Searches the whole tree through the Bloom index: for a quote that is not in its cited file, and
//! for how many files share a quote. Methods of `CitationLookup`.
use super::bloom_index::{self, BloomIndex};
use super::lookup::{CitationLookup, LookupResult};
use super::quote_variants::{self, QuotePart};
use super::source_text::SearchTerm;
use super::symbol_names::MIN_SYMBOL_CHARS;
use super::{CitedLocation, CitedText, SearchMode, parallel_find};
use crate::debate::CitationStatus;
use crate::repo::RepoError;

/// Number of files from which a quote counts as too common to prove anything.
const COMMON_FILES: usize = 5;
/// Maximum number of files searched for a quote that may start or end within a word.
const MAX_CUT_QUOTE_FILES: usize = 2_000;
/// Maximum number of files searched per check for misplaced quotes.
const MAX_FILES_SEARCHED: usize = 20_000;
/// Maximum number of files read to test how common a quote is, in a check without index build.
const MAX_FILES_WEIGHED: usize = 2_000;
/// Number of files from which a second thread, with its own repository handle, pays off.
const MIN_PARALLEL_FILES: usize = 256;

/// Result of a search over the tree.
enum TreeSearch {
    FoundAt(String),
    NotFound,
    NotSearched,
}

impl CitationLookup<'_> {
    /// Downgrades a match that is too short or too common to prove anything.
    pub(super) fn downgrade_weak_quote(
        &mut self,
        mut result: LookupResult,
        parts: Option<&[QuotePart]>,
        location: &CitedLocation,
    ) -> Result<LookupResult, RepoError> {
        match parts {
            Some(parts) if quote_variants::is_too_short(parts) => {
                result.found = CitationStatus::TooShort
            }
            Some(parts) => {
                // In a review the author of the change may add copies of a quote to make it common.
                // So a quote exactly at its cited lines counts, however many copies exist.
                let is_exact_citation = self.scope.base.is_some()
                    && result.found == CitationStatus::Exact
                    && location.lines.is_some();
                if !is_exact_citation
                    && let Some(index) = self.tree.index(self.scope.search)?
                    && self.is_common(parts, &index)
                {
                    result.found = CitationStatus::NonDistinctive;
                }
            }
            None if location.text_str().is_some_and(is_short_symbol) => {
                result.found = CitationStatus::TooShort;
            }
            None => {}
        }
        Ok(result)
    }

    /// Whether every line of a quote is in too many files to prove anything.
    fn is_common(&mut self, parts: &[QuotePart], index: &BloomIndex) -> bool {
        let lines = parts.iter().flat_map(|part| part.lines.iter().map(String::as_str));
        let mut lines: Vec<(Vec<usize>, QuotePart)> = lines
            .filter_map(QuotePart::from_line)
            .filter(|part| !quote_variants::is_too_short(std::slice::from_ref(part)))
            .map(|part| {
                (self.drop_base_files(index.candidates(&bloom_index::hash_part_words(&part))), part)
            })
            .collect();
        // Rarest line first. It usually decides without reading a file.
        lines.sort_by_key(|(files, _)| files.len());
        let max_files = match self.scope.search {
            SearchMode::BuildIndex => MAX_FILES_SEARCHED,
            SearchMode::CachedIndexOnly => MAX_FILES_WEIGHED,
        };
        lines.iter().all(|(files, part)| {
            let term = SearchTerm::Parts(std::slice::from_ref(part));
            let mut match_count = 0;
            for file_index in files.iter().take_while(|_| files.len() >= COMMON_FILES) {
                if match_count == COMMON_FILES || self.files_weighed >= max_files {
                    break;
                }
                self.files_weighed += 1;
                match_count += usize::from(
                    self.peek_text(*file_index).is_some_and(|text| text.contains(term)),
                );
            }
            match_count == COMMON_FILES
        })
    }

    /// Searches the tree for text that is not in the cited file.
    pub(super) fn search_elsewhere(
        &mut self,
        file_index: usize,
        location: &CitedLocation,
        is_evidence: bool,
    ) -> Result<LookupResult, RepoError> {
        let search = match &location.text {
            Some(CitedText::Quote(quote)) => {
                let variants = quote_variants::quote_variants(quote);
                if variants.first().is_none_or(|parts| quote_variants::is_too_short(parts)) {
                    return Ok(LookupResult::new(CitationStatus::NotFound));
                }
                self.search_tree(file_index, &variants)?
            }
            Some(CitedText::Symbol(name)) => {
                let result = self.look_up_symbol(name, is_evidence || location.lines.is_some())?;
                return Ok(result);
            }
            None => TreeSearch::NotFound,
        };
        Ok(match search {
            TreeSearch::FoundAt(found_at) => {
                LookupResult::new(CitationStatus::ElsewhereInRepo).with_location(found_at)
            }
            TreeSearch::NotFound => LookupResult::new(CitationStatus::NotFound),
            TreeSearch::NotSearched => LookupResult::new(CitationStatus::NotSearched),
        })
    }

    /// Searches all files but one for a quote.
    fn search_tree(
        &mut self,
        excluded: usize,
        variants: &[Vec<QuotePart>],
    ) -> Result<TreeSearch, RepoError> {
        let Some(index) = self.tree.index(self.scope.search)? else {
            return Ok(TreeSearch::NotSearched);
        };
        for parts in variants {
            let hashes = bloom_index::hash_quote_words(parts);
            // Without a word the index cannot narrow the search to fewer files.
            if hashes.is_empty() {
                return Ok(TreeSearch::NotSearched);
            }
            let mut files = self.sort_by_preference(index.candidates(&hashes));
            // Most quotes start and end at a word boundary. One that is cut within a word is
            // searched only if its inner words leave few candidate files.
            let inner_hashes = bloom_index::hash_inner_words(parts);
            let cut_candidates =
                if inner_hashes.is_empty() { vec![] } else { index.candidates(&inner_hashes) };
            if cut_candidates.len() <= MAX_CUT_QUOTE_FILES {
                files.extend(
                    cut_candidates
                        .into_iter()
                        .filter(|file_index| !files.contains(file_index))
                        .collect::<Vec<_>>(),
                );
            }
            files.retain(|file_index| *file_index != excluded && !self.is_excluded(*file_index));
            let budget = MAX_FILES_SEARCHED.saturating_sub(self.files_searched).min(files.len());
            let (view, term) = (&self.tree.view, SearchTerm::Parts(parts));
            let second_reader =
                if budget >= MIN_PARALLEL_FILES { view.reader().ok() } else { None };
            let found = parallel_find::find_first_file(
                view,
                &self.reader,
                second_reader,
                &files[..budget],
                term,
            );
            self.files_searched += found.map_or(budget, |(position, _)| position + 1);
            if let Some((position, line)) = found {
                return Ok(TreeSearch::FoundAt(format!("{}:{line}", self.path(files[position]))));
            }
            if budget < files.len() {
                return Ok(TreeSearch::NotSearched);
            }
        }
        Ok(TreeSearch::NotFound)
    }

    /// Sorts files: those the debate is about first, old versions last.
    fn sort_by_preference(&self, mut files: Vec<usize>) -> Vec<usize> {
        files.sort_by_key(|file_index| {
            (
                self.current_path(*file_index).is_some(),
                !self.scope.preferred_paths.contains(&self.path(*file_index)),
            )
        });
        files
    }
}

fn is_short_symbol(name: &str) -> bool {
    name.chars().count() < MIN_SYMBOL_CHARS
}
