//! Looks up text that a change under review deletes. It is found in the base folder, which holds
//! the old versions of the changed files, and reported for the file as it is called now.
use super::CitedLocation;
use super::lookup::{CitationLookup, LookupResult, QuoteSpot, find_spot};
use super::source_text::SourceText;
use crate::debate::CitationStatus;
use crate::repo::{RepoError, map_line_to_new};

impl CitationLookup<'_> {
    /// Current path of a file in the base folder. None for other files.
    pub(super) fn current_path(&self, nth: usize) -> Option<String> {
        let was = self.scope.base.filter(|was| !was.folder.is_empty())?;
        let path = self.path(nth);
        let old = path.strip_prefix(was.folder.as_str())?.strip_prefix('/')?;
        let renamed = was.renamed.iter().find(|(from, _)| from == old);
        Some(renamed.map_or(old, |(_, to)| to).to_owned())
    }

    /// Index of the old version of a file, if the change touches it.
    fn base_file(&self, path: &str) -> Option<usize> {
        let was = self.scope.base.filter(|was| !was.folder.is_empty())?;
        let renamed = was.renamed.iter().find(|(_, to)| to == path);
        let old = renamed.map_or(path, |(from, _)| from);
        self.file_index(&format!("{}/{old}", was.folder))
    }

    /// Index of the file with exactly this path.
    pub(super) fn file_index(&self, path: &str) -> Option<usize> {
        self.tree.view.files().binary_search_by(|file| file.path.as_str().cmp(path)).ok()
    }

    /// Drops files of the base folder, unless there are no others.
    pub(super) fn drop_base_files(&self, all: Vec<usize>) -> Vec<usize> {
        let now: Vec<usize> =
            all.iter().filter(|nth| self.current_path(**nth).is_none()).copied().collect();
        if now.is_empty() { all } else { now }
    }

    /// Looks the text up in the old version of a file. None if it is not there, or is still in the
    /// new version.
    pub(super) fn look_up_removed(
        &mut self,
        nth: usize,
        place: &CitedLocation,
    ) -> Result<Option<LookupResult>, RepoError> {
        let Some(before) = self.base_file(&self.path(nth)) else { return Ok(None) };
        let Ok(text) = self.cached_text(before) else { return Ok(None) };
        let Some((spot, parts)) = find_spot(&text, place) else { return Ok(None) };
        let line = spot.line();
        // A line that only moved was not deleted.
        let now = self.map_line(before, line);
        if self.cached_text(nth).is_ok_and(|text| is_at_line(&text, place, now)) {
            return Ok(None);
        }
        let at = format!("{}:{line}", self.path(before));
        let answer = self.result_for_spot(before, place, &spot, false).with_location(at);
        let answer = self.downgrade_weak_quote(answer, parts.as_deref(), place)?;
        Ok(Some(LookupResult { removed: Some(now), ..answer }))
    }

    /// Like `look_up_removed`, if the old text was exactly at the cited lines. Then the deleted
    /// text is meant, wherever else it occurs.
    pub(super) fn look_up_removed_exact(
        &mut self,
        nth: usize,
        place: &CitedLocation,
        spot: &QuoteSpot,
    ) -> Result<Option<LookupResult>, RepoError> {
        if place.lines.is_none() || matches!(spot, QuoteSpot::Exact(_)) {
            return Ok(None);
        }
        let was = self.look_up_removed(nth, place)?;
        Ok(was.filter(|was| was.found == CitationStatus::Exact))
    }

    /// Rewrites a result for a file in the base folder, so that it refers to the current file.
    pub(super) fn map_to_current_file(
        &mut self,
        nth: usize,
        place: &CitedLocation,
        answer: LookupResult,
    ) -> LookupResult {
        let Some(path) = self.current_path(nth) else { return answer };
        // Text that is still in the file was not deleted.
        let text = self.file_index(&path).and_then(|now| self.cached_text(now).ok());
        if let Some((spot, _)) = text.and_then(|text| find_spot(&text, place)) {
            let found_at = Some(format!("{path}:{}", spot.line()));
            return LookupResult { path: Some(path), found_at, ..answer };
        }
        let text = self.cached_text(nth).ok();
        let spotted = text.and_then(|text| find_spot(&text, place).map(|(spot, _)| spot.line()));
        let line = spotted.or(place.lines.map(|(first, _)| first)).unwrap_or(1);
        let removed = Some(self.map_line(nth, line));
        let found_at = answer.found_at.or_else(|| Some(format!("{}:{line}", self.path(nth))));
        LookupResult { path: Some(path), removed, found_at, ..answer }
    }

    /// Maps a line of an old version to the current file. 0 if the file no longer exists.
    fn map_line(&self, before: usize, line: u32) -> u32 {
        let view = &self.tree.view;
        let called = self.current_path(before);
        let now = called.and_then(|path| view.find(&path)).and_then(|file| self.read_bytes(file));
        let was = view.files().get(before).and_then(|file| self.read_bytes(file));
        was.zip(now).and_then(|(was, now)| map_line_to_new(&was, &now, line)).unwrap_or(0)
    }
}

/// Whether the cited text is at one line of a file.
fn is_at_line(text: &SourceText, place: &CitedLocation, line: u32) -> bool {
    let there = CitedLocation { lines: Some((line, line)), ..place.clone() };
    matches!(find_spot(text, &there), Some((QuoteSpot::Exact(_), _)))
}
