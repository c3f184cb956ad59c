//! Looks up text that a change under review deletes. It is found in the base folder, which holds
//! the old versions of the changed files, and reported for the file as it is called now.
use super::Place;
use super::lookup::{Answer, Lookup, Spot, spot};
use super::text::Text;
use crate::debate::CitationStatus;
use crate::repo::{RepoError, line_now};

impl Lookup<'_> {
    /// Current path of a file in the base folder. None for other files.
    pub(super) fn called_before(&self, nth: usize) -> Option<String> {
        let was = self.scope.was.filter(|was| !was.folder.is_empty())?;
        let path = self.path(nth);
        let old = path.strip_prefix(was.folder.as_str())?.strip_prefix('/')?;
        let renamed = was.renamed.iter().find(|(from, _)| from == old);
        Some(renamed.map_or(old, |(_, to)| to).to_owned())
    }

    /// Index of the old version of a file, if the change touches it.
    fn as_it_was(&self, path: &str) -> Option<usize> {
        let was = self.scope.was.filter(|was| !was.folder.is_empty())?;
        let renamed = was.renamed.iter().find(|(_, to)| to == path);
        let old = renamed.map_or(path, |(from, _)| from);
        self.nth(&format!("{}/{old}", was.folder))
    }

    /// Index of the file with exactly this path.
    pub(super) fn nth(&self, path: &str) -> Option<usize> {
        self.tree.view.files().binary_search_by(|file| file.path.as_str().cmp(path)).ok()
    }

    /// Drops files of the base folder, unless there are no others.
    pub(super) fn there_now(&self, all: Vec<usize>) -> Vec<usize> {
        let now: Vec<usize> =
            all.iter().filter(|nth| self.called_before(**nth).is_none()).copied().collect();
        if now.is_empty() { all } else { now }
    }

    /// Looks the text up in the old version of a file. None if it is not there, or is still in the
    /// new version.
    pub(super) fn taken_away(
        &mut self,
        nth: usize,
        place: &Place,
    ) -> Result<Option<Answer>, RepoError> {
        let Some(before) = self.as_it_was(&self.path(nth)) else { return Ok(None) };
        let Ok(text) = self.text(before) else { return Ok(None) };
        let Some((spot, parts)) = spot(&text, place) else { return Ok(None) };
        let line = spot.line();
        // A line that only moved was not deleted.
        let now = self.now(before, line);
        if self.text(nth).is_ok_and(|text| stands_at(&text, place, now)) {
            return Ok(None);
        }
        let at = format!("{}:{line}", self.path(before));
        let answer = self.spotted(before, place, &spot, false).at(at);
        let answer = self.weighed(answer, parts.as_deref(), place)?;
        Ok(Some(Answer { removed: Some(now), ..answer }))
    }

    /// Like `look_up_removed`, if the old text was exactly at the cited lines. Then the deleted
    /// text is meant, wherever else it occurs.
    pub(super) fn stood_there(
        &mut self,
        nth: usize,
        place: &Place,
        spot: &Spot,
    ) -> Result<Option<Answer>, RepoError> {
        if place.lines.is_none() || matches!(spot, Spot::At(_)) {
            return Ok(None);
        }
        let was = self.taken_away(nth, place)?;
        Ok(was.filter(|was| was.found == CitationStatus::Exact))
    }

    /// Rewrites a result for a file in the base folder, so that it refers to the current file.
    pub(super) fn told_of_now(&mut self, nth: usize, place: &Place, answer: Answer) -> Answer {
        let Some(path) = self.called_before(nth) else { return answer };
        // Text that is still in the file was not deleted.
        let text = self.nth(&path).and_then(|now| self.text(now).ok());
        if let Some((spot, _)) = text.and_then(|text| spot(&text, place)) {
            let found_at = Some(format!("{path}:{}", spot.line()));
            return Answer { path: Some(path), found_at, ..answer };
        }
        let text = self.text(nth).ok();
        let spotted = text.and_then(|text| spot(&text, place).map(|(spot, _)| spot.line()));
        let line = spotted.or(place.lines.map(|(first, _)| first)).unwrap_or(1);
        let removed = Some(self.now(nth, line));
        let found_at = answer.found_at.or_else(|| Some(format!("{}:{line}", self.path(nth))));
        Answer { path: Some(path), removed, found_at, ..answer }
    }

    /// Maps a line of an old version to the current file. 0 if the file no longer exists.
    fn now(&self, before: usize, line: u32) -> u32 {
        let view = &self.tree.view;
        let called = self.called_before(before);
        let now = called.and_then(|path| view.find(&path)).and_then(|file| self.bytes(file));
        let was = view.files().get(before).and_then(|file| self.bytes(file));
        was.zip(now).and_then(|(was, now)| line_now(&was, &now, line)).unwrap_or(0)
    }
}

/// Whether the cited text is at one line of a file.
fn stands_at(text: &Text, place: &Place, line: u32) -> bool {
    let there = Place { lines: Some((line, line)), ..place.clone() };
    matches!(spot(text, &there), Some((Spot::At(_), _)))
}
