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
                result.found = CitationStatus::TooShort;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::LookupScope;
    use crate::evidence::test_lookup::{BUILD_INDEX_SCOPE, load_tree, quote_reference};
    use crate::repo::test_repo::{FILE_MODE, TempRepo};
    use git2::Oid;

    /// Writes a tree of so many files with equal contents.
    fn equal_files(repo: &TempRepo, count: usize, text: &[u8]) -> Oid {
        let id = repo.blob(text);
        repo.tree((0..count).map(|nth| (FILE_MODE, format!("f{nth:04}.rs"), id)))
    }

    /// Looks up a quote, after so many files were searched and weighed in the same check.
    fn look_up_quote(
        repo: &TempRepo,
        tree: Oid,
        search: SearchMode,
        files_used: usize,
        (path, quote): (&str, &str),
    ) -> CitationStatus {
        let (tree, root) = (load_tree(repo, tree), repo.root());
        assert!(tree.index(SearchMode::BuildIndex).unwrap().is_some());
        let scope = LookupScope { search, ..BUILD_INDEX_SCOPE };
        let mut lookup = CitationLookup::new(&tree, &root, &scope).unwrap();
        (lookup.files_searched, lookup.files_weighed) = (files_used, files_used);
        lookup.look_up(&quote_reference(path, quote)).unwrap().found
    }

    #[test]
    fn quote_in_5_files_is_too_common() {
        let repo = TempRepo::new();
        let status = |file_count: usize| {
            let tree = equal_files(&repo, file_count, b"let shared_line = 1;\n");
            let quote = ("f0000.rs", "let shared_line = 1;");
            look_up_quote(&repo, tree, SearchMode::BuildIndex, 0, quote)
        };
        assert_eq!(status(COMMON_FILES - 1), CitationStatus::Exact);
        assert_eq!(status(COMMON_FILES), CitationStatus::NonDistinctive);
        assert_eq!(COMMON_FILES, 5);
    }

    #[test]
    fn files_read_to_weigh_a_quote_are_limited() {
        let repo = TempRepo::new();
        let tree = equal_files(&repo, COMMON_FILES, b"let shared_line = 1;\n");
        for (search, max_files) in [
            (SearchMode::CachedIndexOnly, MAX_FILES_WEIGHED),
            (SearchMode::BuildIndex, MAX_FILES_SEARCHED),
        ] {
            let status = |files_left: usize| {
                let quote = ("f0000.rs", "let shared_line = 1;");
                look_up_quote(&repo, tree, search, max_files - files_left, quote)
            };
            assert_eq!(status(COMMON_FILES), CitationStatus::NonDistinctive);
            assert_eq!(status(COMMON_FILES - 1), CitationStatus::Exact);
        }
        assert_eq!(MAX_FILES_WEIGHED, 2_000);
    }

    #[test]
    fn files_searched_for_misplaced_quotes_are_limited() {
        let repo = TempRepo::new();
        let (cited, other) = (repo.blob(b"fn a() {}\n"), repo.blob(b"let other_line = 1;\n"));
        let tree = repo.tree([(FILE_MODE, "a.rs", cited), (FILE_MODE, "b.rs", other)]);
        let status = |files_used: usize| {
            let quote = ("a.rs", "let other_line = 1;");
            look_up_quote(&repo, tree, SearchMode::BuildIndex, files_used, quote)
        };
        assert_eq!(status(MAX_FILES_SEARCHED - 1), CitationStatus::ElsewhereInRepo);
        assert_eq!(status(MAX_FILES_SEARCHED), CitationStatus::NotSearched);
        assert_eq!(MAX_FILES_SEARCHED, 20_000);
    }

    #[test]
    fn quote_cut_within_a_word_is_searched_in_2_000_files() {
        let repo = TempRepo::new();
        let (cited, other) =
            (repo.blob(b"{}\n"), repo.blob(b"call_one(shared_word, second_word);\n"));
        let status = |file_count: usize| {
            let files = (0..file_count).map(|nth| (FILE_MODE, format!("f{nth:04}.rs"), other));
            let tree = repo.tree([(FILE_MODE, "a.rs".to_owned(), cited)].into_iter().chain(files));
            let quote = ("a.rs", "all_one(shared_word, second_wor");
            look_up_quote(&repo, tree, SearchMode::BuildIndex, 0, quote)
        };
        assert_eq!(status(MAX_CUT_QUOTE_FILES), CitationStatus::ElsewhereInRepo);
        assert_eq!(status(MAX_CUT_QUOTE_FILES + 1), CitationStatus::NotFound);
        assert_eq!(MAX_CUT_QUOTE_FILES, 2_000);
    }
}
