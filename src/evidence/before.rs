//! Words a change takes away: they stand in a file as it was before, which lies in a folder of its
//! own in the tree of a change. Whoever cites them means the file they were in.
use super::Place;
use super::lookup::{Answer, Lookup, Spot, spot};
use super::text::Text;
use crate::debate::Found;
use crate::repo::{RepoError, line_now};

impl Lookup<'_> {
    /// What a file is called now that lies there as it was before.
    pub(super) fn called_before(&self, nth: usize) -> Option<String> {
        let was = self.scope.was.filter(|was| !was.folder.is_empty())?;
        let path = self.path(nth);
        let old = path.strip_prefix(was.folder.as_str())?.strip_prefix('/')?;
        let renamed = was.renamed.iter().find(|(from, _)| from == old);
        Some(renamed.map_or(old, |(_, to)| to).to_owned())
    }

    /// The file of this path as it was before, if the change touches it.
    fn as_it_was(&self, path: &str) -> Option<usize> {
        let was = self.scope.was.filter(|was| !was.folder.is_empty())?;
        let renamed = was.renamed.iter().find(|(_, to)| to == path);
        let old = renamed.map_or(path, |(from, _)| from);
        self.nth(&format!("{}/{old}", was.folder))
    }

    /// The file of exactly this path.
    pub(super) fn nth(&self, path: &str) -> Option<usize> {
        self.tree.view.files().binary_search_by(|file| file.path.as_str().cmp(path)).ok()
    }

    /// Those of several files that are there now, if any is.
    pub(super) fn there_now(&self, all: Vec<usize>) -> Vec<usize> {
        let now: Vec<usize> =
            all.iter().filter(|nth| self.called_before(**nth).is_none()).copied().collect();
        if now.is_empty() { all } else { now }
    }

    /// What was cited, if it stands in a file as that was before, and was taken away.
    pub(super) fn taken_away(
        &mut self,
        nth: usize,
        place: &Place,
    ) -> Result<Option<Answer>, RepoError> {
        let Some(before) = self.as_it_was(&self.path(nth)) else { return Ok(None) };
        let Ok(text) = self.text(before) else { return Ok(None) };
        let Some((spot, parts)) = spot(&text, place) else { return Ok(None) };
        let line = spot.line();
        // A line that only moved is where it is now.
        let now = self.now(before, line);
        if self.text(nth).is_ok_and(|text| stands_at(&text, place, now)) {
            return Ok(None);
        }
        let at = format!("{}:{line}", self.path(before));
        let answer = self.spotted(before, place, &spot, false).at(at);
        let answer = self.weighed(answer, parts.as_deref(), place)?;
        Ok(Some(Answer { removed: Some(now), ..answer }))
    }

    /// What was cited, if the words stood exactly at the cited lines before, and do not now: then those
    /// are meant, wherever else they stand.
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
        Ok(was.filter(|was| was.found == Found::Exact))
    }

    /// What was cited in a file as it was before, told of the file it is about.
    pub(super) fn told_of_now(&mut self, nth: usize, place: &Place, answer: Answer) -> Answer {
        let Some(path) = self.called_before(nth) else { return answer };
        // What still stands there was not taken away.
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

    /// Where a line of a file as it was before is now, or would be; 0 if the file is not there.
    fn now(&self, before: usize, line: u32) -> u32 {
        let view = &self.tree.view;
        let called = self.called_before(before);
        let now = called.and_then(|path| view.find(&path)).and_then(|file| self.bytes(file));
        let was = view.files().get(before).and_then(|file| self.bytes(file));
        was.zip(now).and_then(|(was, now)| line_now(&was, &now, line)).unwrap_or(0)
    }
}

/// Whether the words of a place stand at one line of a text.
fn stands_at(text: &Text, place: &Place, line: u32) -> bool {
    let there = Place { lines: Some((line, line)), ..place.clone() };
    matches!(spot(text, &there), Some((Spot::At(_), _)))
}
