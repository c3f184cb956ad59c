//! Looks up text that a change under review deletes. It is found in the base folder, which holds
//! the old versions of the changed files, and reported for the file as it is called now.
use super::CitedLocation;
use super::lookup::{CitationLookup, LookupResult};
use super::quote_spot::{QuoteSpot, find_spot};
use super::source_text::SourceText;
use crate::debate::CitationStatus;
use crate::repo::{RepoError, map_line_to_new};

impl CitationLookup<'_> {
    /// Current path of a file in the base folder. None for other files.
    pub(super) fn current_path(&self, file_index: usize) -> Option<String> {
        let base = self.scope.base.filter(|base| !base.folder.is_empty())?;
        let path = self.path(file_index);
        let old_path = path.strip_prefix(base.folder.as_str())?.strip_prefix('/')?;
        let renamed = base.renamed.iter().find(|(from, _)| from == old_path);
        Some(renamed.map_or(old_path, |(_, to)| to).to_owned())
    }

    /// Index of the old version of a file, if the change touches it.
    fn base_file(&self, path: &str) -> Option<usize> {
        let base = self.scope.base.filter(|base| !base.folder.is_empty())?;
        let renamed = base.renamed.iter().find(|(_, to)| to == path);
        let old_path = renamed.map_or(path, |(from, _)| from);
        self.file_index(&format!("{}/{old_path}", base.folder))
    }

    /// Index of the file with exactly this path.
    pub(super) fn file_index(&self, path: &str) -> Option<usize> {
        self.tree.view.files().binary_search_by(|file| file.path.as_str().cmp(path)).ok()
    }

    /// Drops files of the base folder, unless there are no others.
    pub(super) fn drop_base_files(&self, files: Vec<usize>) -> Vec<usize> {
        let current_files: Vec<usize> = files
            .iter()
            .filter(|file_index| self.current_path(**file_index).is_none())
            .copied()
            .collect();
        if current_files.is_empty() { files } else { current_files }
    }

    /// Looks the text up in the old version of a file. None if it is not there, or is still in the
    /// new version.
    pub(super) fn look_up_removed(
        &mut self,
        file_index: usize,
        location: &CitedLocation,
    ) -> Result<Option<LookupResult>, RepoError> {
        let Some(base_index) = self.base_file(&self.path(file_index)) else { return Ok(None) };
        let Ok(text) = self.cached_text(base_index) else { return Ok(None) };
        let Some((spot, parts)) = find_spot(&text, location) else { return Ok(None) };
        let line = spot.line();
        // A line that only moved was not deleted.
        let new_line = self.map_line(base_index, line);
        if self.cached_text(file_index).is_ok_and(|text| is_at_line(&text, location, new_line)) {
            return Ok(None);
        }
        let found_at = format!("{}:{line}", self.path(base_index));
        let result =
            self.result_for_spot(base_index, location, &spot, false).with_location(found_at);
        let result = self.downgrade_weak_quote(result, parts.as_deref(), location)?;
        Ok(Some(LookupResult { removed: Some(new_line), ..result }))
    }

    /// Like `look_up_removed`, if the old text was exactly at the cited lines. Then the deleted
    /// text is meant, wherever else it occurs.
    pub(super) fn look_up_removed_exact(
        &mut self,
        file_index: usize,
        location: &CitedLocation,
        spot: &QuoteSpot,
    ) -> Result<Option<LookupResult>, RepoError> {
        if location.lines.is_none() || matches!(spot, QuoteSpot::Exact(_)) {
            return Ok(None);
        }
        let result = self.look_up_removed(file_index, location)?;
        Ok(result.filter(|result| result.found == CitationStatus::Exact))
    }

    /// Rewrites a result for a file in the base folder, so that it refers to the current file.
    pub(super) fn map_to_current_file(
        &mut self,
        file_index: usize,
        location: &CitedLocation,
        result: LookupResult,
    ) -> LookupResult {
        let Some(path) = self.current_path(file_index) else { return result };
        // Text that is still in the file was not deleted.
        let text =
            self.file_index(&path).and_then(|current_index| self.cached_text(current_index).ok());
        if let Some((spot, _)) = text.and_then(|text| find_spot(&text, location)) {
            let found_at = Some(format!("{path}:{}", spot.line()));
            return LookupResult { path: Some(path), found_at, ..result };
        }
        let text = self.cached_text(file_index).ok();
        let old_line =
            text.and_then(|text| find_spot(&text, location).map(|(spot, _)| spot.line()));
        let line = old_line.or(location.lines.map(|(first, _)| first)).unwrap_or(1);
        let removed = Some(self.map_line(file_index, line));
        let found_at =
            result.found_at.or_else(|| Some(format!("{}:{line}", self.path(file_index))));
        LookupResult { path: Some(path), removed, found_at, ..result }
    }

    /// Maps a line of an old version to the current file. 0 if the file no longer exists.
    fn map_line(&self, base_index: usize, line: u32) -> u32 {
        let view = &self.tree.view;
        let new_path = self.current_path(base_index);
        let new_bytes =
            new_path.and_then(|path| view.find(&path)).and_then(|file| self.read_bytes(file));
        let old_bytes = view.files().get(base_index).and_then(|file| self.read_bytes(file));
        old_bytes
            .zip(new_bytes)
            .and_then(|(old_bytes, new_bytes)| map_line_to_new(&old_bytes, &new_bytes, line))
            .unwrap_or(0)
    }
}

/// Whether the cited text is at one line of a file.
fn is_at_line(text: &SourceText, location: &CitedLocation, line: u32) -> bool {
    let line_location = CitedLocation { lines: Some((line, line)), ..location.clone() };
    matches!(find_spot(text, &line_location), Some((QuoteSpot::Exact(_), _)))
}
