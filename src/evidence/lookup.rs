//! Looks up one reference in one tree: resolves the file, checks the lines, searches the quote.
//! `CitationLookup` also has methods in `removed_lines` and `symbol_lookup`.
use super::bloom_index::{self, BloomIndex};
use super::checker::LoadedTree;
use super::path_index::ResolvedPath;
use super::quote_variants::{self, QuotePart};
use super::source_text::{SearchTerm, SourceText};
use super::{
    CitedLocation, CitedTarget, CitedText, LookupScope, Reference, SearchMode, UnverifiableKind,
    parallel_find,
};
use crate::debate::{Citation, CitationStatus};
use crate::repo::{self, CommitLookup, ExclusionReason, RepoError, TreeFile, TreeReader};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Lines a quote may be off its cited lines and still count as near.
const NEAR_LINES: u32 = 15;
/// Number of files from which a quote counts as too common to prove anything.
const COMMON_FILES: usize = 5;
/// Maximum number of files read to disambiguate a path.
const MAX_AMBIGUOUS_FILES: usize = 50;
/// Maximum number of files searched for a quote that may start or end within a word.
const MAX_CUT_QUOTE_FILES: usize = 2_000;
/// Maximum number of files searched per check for misplaced quotes.
const MAX_FILES_SEARCHED: usize = 20_000;
/// Maximum number of files read to test how common a quote is, in a check without index build.
const MAX_FILES_WEIGHED: usize = 2_000;
/// Number of files from which a second thread, with its own repository handle, pays off.
const MIN_PARALLEL_FILES: usize = 256;
/// Size of the cache of parsed files. It is cleared when full.
const MAX_CACHED_TEXTS: usize = 64;

/// Maximum length of a quote in a recorded citation, in characters.
const MAX_RECORDED_QUOTE: usize = 4_000;

/// Looks up references in one tree. Holds the caches and limits of one check.
pub(super) struct CitationLookup<'a> {
    pub(super) tree: &'a LoadedTree,
    root: &'a Path,
    pub(super) scope: &'a LookupScope<'a>,
    reader: TreeReader,
    text_cache: HashMap<usize, Result<Rc<SourceText>, ExclusionReason>>,
    files_searched: usize,
    files_weighed: usize,
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

/// Where in the cited file a text was found, by line.
pub(super) enum QuoteSpot {
    Exact(u32),
    Near(u32),
    Elsewhere(u32),
}

impl QuoteSpot {
    pub(super) fn line(&self) -> u32 {
        match self {
            QuoteSpot::Exact(line) | QuoteSpot::Near(line) | QuoteSpot::Elsewhere(line) => *line,
        }
    }
}

/// Result of a search over the tree.
enum TreeSearch {
    FoundAt(String),
    NotFound,
    NotSearched,
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
            Some(before) => format!("{before}; {}", note.into()),
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
        let mut cited = None;
        let answer = match &reference.target {
            CitedTarget::Location(place) => {
                cited = Some(place);
                self.look_up_location(place, reference.is_evidence)?
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
        let lines = cited.and_then(|place| place.lines);
        Ok(Citation {
            raw: reference.raw.clone(),
            claim: reference.claim.clone(),
            path: answer.path.or_else(|| cited.map(|place| place.path.clone())),
            line: lines.map(|(first, _)| first),
            end_line: lines.filter(|(first, last)| last > first).map(|(_, last)| last),
            quote: cited
                .and_then(CitedLocation::text_str)
                .map(|words| words.chars().take(MAX_RECORDED_QUOTE).collect()),
            found: answer.found,
            found_at: answer.found_at,
            note: answer.note,
            removed: answer.removed,
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
        place: &CitedLocation,
        offered: bool,
    ) -> Result<LookupResult, RepoError> {
        let tree = self.tree;
        // A file name can contain any character, so an exact match goes first.
        if let Some(nth) = self.file_index(&place.path).filter(|_| self.scope.folder.is_empty()) {
            return self.look_up_in_file(nth, place, offered);
        }
        match tree.paths.resolve(&tree.view, &place.path, self.scope.folder) {
            ResolvedPath::File(nth) => self.look_up_in_file(nth, place, offered),
            ResolvedPath::CaseInsensitive(nth) => {
                let answer = self.look_up_in_file(nth, place, offered)?;
                Ok(answer.with_note(format!("the file is called `{}`", self.path(nth))))
            }
            ResolvedPath::Ambiguous(all) => match self.drop_base_files(all).as_slice() {
                [only] => self.look_up_in_file(*only, place, offered),
                several => self.disambiguate(several, place, offered),
            },
            ResolvedPath::Folder(path) if place.text.is_none() && place.lines.is_none() => {
                Ok(LookupResult { path: Some(path), ..LookupResult::new(CitationStatus::Located) })
            }
            ResolvedPath::Folder(path) => {
                let answer =
                    LookupResult::new(CitationStatus::Unchecked).with_note("it is a folder");
                Ok(LookupResult { path: Some(path), ..answer })
            }
            ResolvedPath::NotFound if !tree.view.is_complete() => {
                Ok(LookupResult::new(CitationStatus::Unchecked)
                    .with_note("not all of the tree is here"))
            }
            ResolvedPath::NotFound => {
                Ok(missing_path_result(place, offered, self.looks_like_path(place)))
            }
        }
    }

    /// Whether the text can only be a path: it has a known extension, or starts with an existing
    /// folder.
    fn looks_like_path(&self, place: &CitedLocation) -> bool {
        let path = place.path.trim_start_matches("./").trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        let known = ending.is_some_and(super::location::is_known_extension)
            && !super::location::is_product_name(name);
        let first = path.split('/').next().unwrap_or_default();
        let (view, paths) = (&self.tree.view, &self.tree.paths);
        let there =
            path.contains('/') && matches!(paths.resolve(view, first, ""), ResolvedPath::Folder(_));
        known || there
    }

    /// Disambiguates a path that matches several files: by the quote, else by the paths the debate
    /// is about.
    fn disambiguate(
        &mut self,
        all: &[usize],
        place: &CitedLocation,
        offered: bool,
    ) -> Result<LookupResult, RepoError> {
        let several = format!("{} files end in `{}`", all.len(), place.path);
        if place.text.is_some() && all.len() <= MAX_AMBIGUOUS_FILES {
            let holds = |it: &mut Self, nth: &usize, exactly: bool| {
                let spot = it
                    .cached_text(*nth)
                    .ok()
                    .and_then(|text| find_spot(&text, place).map(|it| it.0));
                spot.is_some_and(|spot| !exactly || matches!(spot, QuoteSpot::Exact(_)))
            };
            for exactly in [false, true] {
                let held: Vec<usize> =
                    all.iter().filter(|nth| holds(self, nth, exactly)).copied().collect();
                if let [only] = held.as_slice() {
                    let answer = self.look_up_in_file(*only, place, offered)?;
                    return Ok(
                        answer.with_note(format!("{several}, and only this one has the quote"))
                    );
                }
            }
        }
        let preferred = |nth: &&usize| self.scope.preferred_paths.contains(&self.path(**nth));
        let about: Vec<usize> = all.iter().filter(preferred).copied().collect();
        if let [only] = about.as_slice() {
            let answer = self.look_up_in_file(*only, place, offered)?;
            return Ok(answer.with_note(format!("{several}, and the debate is about this one")));
        }
        let shown: Vec<String> = all.iter().take(3).map(|nth| self.path(*nth)).collect();
        Ok(LookupResult::new(CitationStatus::Ambiguous)
            .with_location(shown.join(", "))
            .with_note(several))
    }

    /// Looks up a location in one file.
    fn look_up_in_file(
        &mut self,
        nth: usize,
        place: &CitedLocation,
        offered: bool,
    ) -> Result<LookupResult, RepoError> {
        let path = self.path(nth);
        let answer = self.check_file(nth, place, offered)?;
        Ok(self.map_to_current_file(nth, place, LookupResult { path: Some(path), ..answer }))
    }

    fn check_file(
        &mut self,
        nth: usize,
        place: &CitedLocation,
        offered: bool,
    ) -> Result<LookupResult, RepoError> {
        if self.is_excluded(nth) {
            return Ok(LookupResult::new(CitationStatus::Unchecked)
                .with_note("what is checked is no source for itself"));
        }
        let text = match self.cached_text(nth) {
            Ok(text) => text,
            Err(why) => {
                // The old version may have been text.
                let before =
                    if place.text.is_some() { self.look_up_removed(nth, place)? } else { None };
                let unread = || {
                    LookupResult::new(CitationStatus::Unchecked)
                        .with_note(format!("it {}", why.describe()))
                };
                return Ok(before.unwrap_or_else(unread));
            }
        };
        let count = format!("the file has {}", format_line_count(text.line_count()));
        let outside = place.lines.filter(|(first, last)| *first == 0 || *last > text.line_count());
        if place.text.is_none() {
            return Ok(match outside {
                Some(_) => LookupResult::new(CitationStatus::LineOutOfRange).with_note(count),
                None => LookupResult::new(CitationStatus::Located),
            });
        }
        match (find_spot(&text, place), outside) {
            (Some((spot, parts)), outside) => {
                if let Some(was) = self.look_up_removed_exact(nth, place, &spot)? {
                    return Ok(was);
                }
                let answer = self.result_for_spot(nth, place, &spot, outside.is_some());
                let answer = if outside.is_some() { answer.with_note(count) } else { answer };
                self.downgrade_weak_quote(answer, parts.as_deref(), place)
            }
            (None, outside) => match self.look_up_removed(nth, place)? {
                Some(answer) => Ok(answer),
                None if outside.is_some() => {
                    Ok(LookupResult::new(CitationStatus::LineOutOfRange).with_note(count))
                }
                None => self.search_elsewhere(nth, place, offered),
            },
        }
    }

    pub(super) fn result_for_spot(
        &self,
        nth: usize,
        place: &CitedLocation,
        spot: &QuoteSpot,
        outside: bool,
    ) -> LookupResult {
        let at = |line: &u32| format!("{}:{line}", self.path(nth));
        match spot {
            QuoteSpot::Exact(line) if place.lines.is_none() => {
                LookupResult::new(CitationStatus::Exact).with_location(at(line))
            }
            QuoteSpot::Exact(_) => LookupResult::new(CitationStatus::Exact),
            QuoteSpot::Near(line) if !outside => {
                LookupResult::new(CitationStatus::Near).with_location(at(line))
            }
            QuoteSpot::Near(line) | QuoteSpot::Elsewhere(line) => {
                LookupResult::new(CitationStatus::ElsewhereInFile).with_location(at(line))
            }
        }
    }

    /// Downgrades a match that is too short or too common to prove anything.
    pub(super) fn downgrade_weak_quote(
        &mut self,
        mut answer: LookupResult,
        parts: Option<&[QuotePart]>,
        place: &CitedLocation,
    ) -> Result<LookupResult, RepoError> {
        match parts {
            Some(parts) if quote_variants::is_too_short(parts) => {
                answer.found = CitationStatus::TooShort
            }
            Some(parts) => {
                // In a review the author of the change may add copies of a quote to make it common.
                // So a quote exactly at its cited lines counts, however many copies exist.
                let meant = self.scope.base.is_some()
                    && answer.found == CitationStatus::Exact
                    && place.lines.is_some();
                if !meant
                    && let Some(contents) = self.tree.index(self.scope.search)?
                    && self.is_common(parts, &contents)
                {
                    answer.found = CitationStatus::NonDistinctive;
                }
            }
            None if place.text_str().is_some_and(|name| name.chars().count() < 3) => {
                answer.found = CitationStatus::TooShort;
            }
            None => {}
        }
        Ok(answer)
    }

    /// Whether every line of a quote is in too many files to prove anything.
    fn is_common(&mut self, parts: &[QuotePart], contents: &BloomIndex) -> bool {
        let lines = parts.iter().flat_map(|part| part.lines.iter().map(String::as_str));
        let mut lines: Vec<(Vec<usize>, QuotePart)> = lines
            .filter_map(QuotePart::from_line)
            .filter(|part| !quote_variants::is_too_short(std::slice::from_ref(part)))
            .map(|part| {
                (
                    self.drop_base_files(contents.candidates(&bloom_index::hash_part_words(&part))),
                    part,
                )
            })
            .collect();
        // Rarest line first. It usually decides without reading a file.
        lines.sort_by_key(|(files, _)| files.len());
        let most = match self.scope.search {
            SearchMode::BuildIndex => MAX_FILES_SEARCHED,
            SearchMode::CachedIndexOnly => MAX_FILES_WEIGHED,
        };
        lines.iter().all(|(files, part)| {
            let wanted = SearchTerm::Parts(std::slice::from_ref(part));
            let mut holding = 0;
            for nth in files.iter().take_while(|_| files.len() >= COMMON_FILES) {
                if holding == COMMON_FILES || self.files_weighed >= most {
                    break;
                }
                self.files_weighed += 1;
                holding +=
                    usize::from(self.peek_text(*nth).is_some_and(|text| text.contains(wanted)));
            }
            holding == COMMON_FILES
        })
    }

    /// Searches the tree for text that is not in the cited file.
    fn search_elsewhere(
        &mut self,
        nth: usize,
        place: &CitedLocation,
        offered: bool,
    ) -> Result<LookupResult, RepoError> {
        let searched = match &place.text {
            Some(CitedText::Quote(quote)) => {
                let ways = quote_variants::quote_variants(quote);
                if ways.first().is_none_or(|parts| quote_variants::is_too_short(parts)) {
                    return Ok(LookupResult::new(CitationStatus::NotFound));
                }
                self.search_tree(nth, &ways)?
            }
            Some(CitedText::Symbol(name)) => {
                let answer = self.look_up_symbol(name, offered || place.lines.is_some())?;
                return Ok(answer);
            }
            None => TreeSearch::NotFound,
        };
        Ok(match searched {
            TreeSearch::FoundAt(at) => {
                LookupResult::new(CitationStatus::ElsewhereInRepo).with_location(at)
            }
            TreeSearch::NotFound => LookupResult::new(CitationStatus::NotFound),
            TreeSearch::NotSearched => LookupResult::new(CitationStatus::NotSearched),
        })
    }

    /// Searches all files but one for a quote.
    fn search_tree(
        &mut self,
        but: usize,
        ways: &[Vec<QuotePart>],
    ) -> Result<TreeSearch, RepoError> {
        let Some(contents) = self.tree.index(self.scope.search)? else {
            return Ok(TreeSearch::NotSearched);
        };
        for parts in ways {
            let words = bloom_index::hash_quote_words(parts);
            // Without a word the index cannot narrow the search to fewer files.
            if words.is_empty() {
                return Ok(TreeSearch::NotSearched);
            }
            let mut files = self.sort_by_preference(contents.candidates(&words));
            // Most quotes start and end at a word boundary. One that is cut within a word is
            // searched only if its inner words leave few candidate files.
            let inner = bloom_index::hash_inner_words(parts);
            let cut = if inner.is_empty() { vec![] } else { contents.candidates(&inner) };
            if cut.len() <= MAX_CUT_QUOTE_FILES {
                files
                    .extend(cut.into_iter().filter(|nth| !files.contains(nth)).collect::<Vec<_>>());
            }
            files.retain(|nth| *nth != but && !self.is_excluded(*nth));
            let room = MAX_FILES_SEARCHED.saturating_sub(self.files_searched).min(files.len());
            let (view, wanted) = (&self.tree.view, SearchTerm::Parts(parts));
            let other = if room >= MIN_PARALLEL_FILES { view.reader().ok() } else { None };
            let found =
                parallel_find::find_first_file(view, &self.reader, other, &files[..room], wanted);
            self.files_searched += found.map_or(room, |(at, _)| at + 1);
            if let Some((at, line)) = found {
                return Ok(TreeSearch::FoundAt(format!("{}:{line}", self.path(files[at]))));
            }
            if room < files.len() {
                return Ok(TreeSearch::NotSearched);
            }
        }
        Ok(TreeSearch::NotFound)
    }

    /// Sorts files: those the debate is about first, old versions last.
    pub(super) fn sort_by_preference(&self, mut files: Vec<usize>) -> Vec<usize> {
        files.sort_by_key(|nth| {
            (
                self.current_path(*nth).is_some(),
                !self.scope.preferred_paths.contains(&self.path(*nth)),
            )
        });
        files
    }

    /// Bloom index of the tree. None if it is not cached and must not be built.
    pub(super) fn index(&self) -> Result<Option<Arc<BloomIndex>>, RepoError> {
        self.tree.index(self.scope.search)
    }

    pub(super) fn path(&self, nth: usize) -> String {
        self.tree.view.files().get(nth).map(|file| file.path.clone()).unwrap_or_default()
    }

    pub(super) fn is_excluded(&self, nth: usize) -> bool {
        let file = self.tree.view.files().get(nth);
        file.is_some_and(|file| Some(file.path.as_str()) == self.scope.excluded_path)
    }

    /// Parsed text of a cited file, cached because it is often cited again.
    pub(super) fn cached_text(&mut self, nth: usize) -> Result<Rc<SourceText>, ExclusionReason> {
        if let Some(known) = self.text_cache.get(&nth) {
            return known.clone();
        }
        let text = self.read_text(nth);
        if self.text_cache.len() >= MAX_CACHED_TEXTS {
            self.text_cache.clear();
        }
        self.text_cache.insert(nth, text.clone());
        text
    }

    /// Parsed text of a file that is only searched. Reads the cache, but does not fill it.
    pub(super) fn peek_text(&self, nth: usize) -> Option<Rc<SourceText>> {
        match self.text_cache.get(&nth) {
            Some(known) => known.clone().ok(),
            None => self.read_text(nth).ok(),
        }
    }

    pub(super) fn read_bytes(&self, file: &TreeFile) -> Option<Vec<u8>> {
        self.reader.read_bytes(file).ok()
    }

    fn read_text(&self, nth: usize) -> Result<Rc<SourceText>, ExclusionReason> {
        parallel_find::read_source_text(&self.tree.view, &self.reader, nth).map(Rc::new)
    }
}

/// Result for a path that does not exist. In prose, without lines or a quote, it may be a file yet
/// to be written, and `redis/stack:7` is not a path at all.
fn missing_path_result(
    place: &CitedLocation,
    offered: bool,
    sounds_like_one: bool,
) -> LookupResult {
    let proposal =
        !offered && place.lines.is_none() && !matches!(place.text, Some(CitedText::Quote(_)));
    if proposal || !place.certain || !sounds_like_one {
        return LookupResult::new(CitationStatus::Unchecked).with_note("not in this repository");
    }
    LookupResult::new(CitationStatus::NoSuchPath)
}

/// Finds the cited text in a file. Returns the spot and the variant of the quote that matched.
pub(super) fn find_spot(
    text: &SourceText,
    place: &CitedLocation,
) -> Option<(QuoteSpot, Option<Vec<QuotePart>>)> {
    match place.text.as_ref()? {
        CitedText::Symbol(name) => {
            let last = super::symbol_names::symbol_parts(name).last().unwrap_or(name);
            let whole = find_nearest(text, SearchTerm::Symbol(name), place.lines);
            whole
                .or_else(|| find_nearest(text, SearchTerm::Symbol(last), place.lines))
                .map(|spot| (spot, None))
        }
        CitedText::Quote(quote) => {
            quote_variants::quote_variants(quote).into_iter().find_map(|parts| {
                find_nearest(text, SearchTerm::Parts(&parts), place.lines)
                    .map(|spot| (spot, Some(parts)))
            })
        }
    }
}

/// Finds the occurrence nearest to the cited lines.
fn find_nearest(
    text: &SourceText,
    wanted: SearchTerm<'_>,
    lines: Option<(u32, u32)>,
) -> Option<QuoteSpot> {
    let anywhere = || text.find_first(wanted, 1..=u32::MAX);
    let Some((first, last)) = lines else { return anywhere().map(QuoteSpot::Exact) };
    if let Some(line) = text.find_first(wanted, first..=last) {
        return Some(QuoteSpot::Exact(line));
    }
    let before =
        text.find_last(wanted, first.saturating_sub(NEAR_LINES).max(1)..=first.saturating_sub(1));
    let after = text.find_first(wanted, last.saturating_add(1)..=last.saturating_add(NEAR_LINES));
    match (before, after) {
        (Some(before), Some(after)) if after - last < first - before => {
            Some(QuoteSpot::Near(after))
        }
        (Some(line), _) | (None, Some(line)) => Some(QuoteSpot::Near(line)),
        (None, None) => anywhere().map(QuoteSpot::Elsewhere),
    }
}

fn format_line_count(lines: u32) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}
