//! Looks up one reference in one tree: resolves the file, checks the lines, searches the quote.
//! `CitationLookup` also has methods in `removed_lines` and `symbol_lookup`.
use super::checker::Tree;
use super::contents::{self, Contents};
use super::paths::Meant;
use super::quote::{self, Part};
use super::text::{Text, Wanted};
use super::{Cited, Place, Reference, Scope, Search, Stated, Words, through};
use crate::debate::{Citation, CitationStatus};
use crate::repo::{self, Commit, File, Reader, RepoError, Why};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Lines a quote may be off its cited lines and still count as near.
const NEAR: u32 = 15;
/// Number of files from which a quote counts as too common to prove anything.
const COMMON: usize = 5;
/// Maximum number of files read to disambiguate a path.
const MOST_MEANT: usize = 50;
/// Maximum number of files searched for a quote that may start or end within a word.
const MOST_CUT: usize = 2_000;
/// Maximum number of files searched per check for misplaced quotes.
const MOST_SEARCHED: usize = 20_000;
/// Maximum number of files read to test how common a quote is, in a check without index build.
const MOST_WEIGHED: usize = 2_000;
/// Number of files from which a second thread, with its own repository handle, pays off.
const MANY: usize = 256;
/// Size of the cache of parsed files. It is cleared when full.
const MOST_TEXTS: usize = 64;

/// Maximum length of a quote in a recorded citation, in characters.
const LONGEST_KEPT: usize = 4_000;

/// Looks up references in one tree. Holds the caches and limits of one check.
pub(super) struct Lookup<'a> {
    pub(super) tree: &'a Tree,
    root: &'a Path,
    pub(super) scope: &'a Scope<'a>,
    reader: Reader,
    texts: HashMap<usize, Result<Rc<Text>, Why>>,
    searched: usize,
    weighed: usize,
}

/// Result of looking up one reference.
pub(super) struct Answer {
    pub(super) found: CitationStatus,
    pub(super) path: Option<String>,
    pub(super) found_at: Option<String>,
    pub(super) note: Option<String>,
    /// See [`Citation::removed`].
    pub(super) removed: Option<u32>,
}

/// Where in the cited file a text was found, by line.
pub(super) enum Spot {
    At(u32),
    Near(u32),
    Elsewhere(u32),
}

impl Spot {
    pub(super) fn line(&self) -> u32 {
        match self {
            Spot::At(line) | Spot::Near(line) | Spot::Elsewhere(line) => *line,
        }
    }
}

/// Result of a search over the tree.
enum Searched {
    At(String),
    Nowhere,
    NotDone,
}

impl Answer {
    pub(super) fn new(found: CitationStatus) -> Answer {
        Answer { found, path: None, found_at: None, note: None, removed: None }
    }

    pub(super) fn at(mut self, found_at: impl Into<String>) -> Answer {
        self.found_at = Some(found_at.into());
        self
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Answer {
        self.note = Some(match self.note.take() {
            Some(before) => format!("{before}; {}", note.into()),
            None => note.into(),
        });
        self
    }
}

impl<'a> Lookup<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        root: &'a Path,
        scope: &'a Scope<'a>,
    ) -> Result<Lookup<'a>, RepoError> {
        let reader = tree.view.reader()?;
        Ok(Lookup { tree, root, scope, reader, texts: HashMap::new(), searched: 0, weighed: 0 })
    }

    /// Looks up a reference and returns the citation to record.
    pub(super) fn citation(&mut self, reference: &Reference) -> Result<Citation, RepoError> {
        let mut cited = None;
        let answer = match &reference.cited {
            Cited::Place(place) => {
                cited = Some(place);
                self.place(place, reference.offered)?
            }
            Cited::Name(name) => self.name(name, reference.offered)?,
            Cited::Commit(id) => self.commit(id)?,
            Cited::Stated(Stated::BareBenchmark) => Answer::new(CitationStatus::Unchecked)
                .note("a benchmark claimed without its output"),
            Cited::Stated(_) => Answer::new(CitationStatus::Unchecked).note("stated, not verified"),
        };
        let lines = cited.and_then(|place| place.lines);
        Ok(Citation {
            raw: reference.raw.clone(),
            claim: reference.claim.clone(),
            path: answer.path.or_else(|| cited.map(|place| place.path.clone())),
            line: lines.map(|(first, _)| first),
            end_line: lines.filter(|(first, last)| last > first).map(|(_, last)| last),
            quote: cited
                .and_then(Place::words)
                .map(|words| words.chars().take(LONGEST_KEPT).collect()),
            found: answer.found,
            found_at: answer.found_at,
            note: answer.note,
            removed: answer.removed,
        })
    }

    fn commit(&self, id: &str) -> Result<Answer, RepoError> {
        Ok(match repo::commit(self.root, id)? {
            Commit::Known(_) => Answer::new(CitationStatus::Located),
            Commit::Ambiguous => {
                Answer::new(CitationStatus::Ambiguous).note("several commits begin so")
            }
            Commit::Unknown => Answer::new(CitationStatus::CommitUnknown),
            Commit::Shallow => Answer::new(CitationStatus::Unchecked).note("this clone is shallow"),
            Commit::NoHistory => {
                Answer::new(CitationStatus::Unchecked).note("there is no history here")
            }
        })
    }

    fn place(&mut self, place: &Place, offered: bool) -> Result<Answer, RepoError> {
        let tree = self.tree;
        // A file name can contain any character, so an exact match goes first.
        if let Some(nth) = self.nth(&place.path).filter(|_| self.scope.folder.is_empty()) {
            return self.file(nth, place, offered);
        }
        match tree.paths.meant(&tree.view, &place.path, self.scope.folder) {
            Meant::File(nth) => self.file(nth, place, offered),
            Meant::Nearly(nth) => {
                let answer = self.file(nth, place, offered)?;
                Ok(answer.note(format!("the file is called `{}`", self.path(nth))))
            }
            Meant::Several(all) => match self.there_now(all).as_slice() {
                [only] => self.file(*only, place, offered),
                several => self.one_of(several, place, offered),
            },
            Meant::Folder(path) if place.words.is_none() && place.lines.is_none() => {
                Ok(Answer { path: Some(path), ..Answer::new(CitationStatus::Located) })
            }
            Meant::Folder(path) => {
                let answer = Answer::new(CitationStatus::Unchecked).note("it is a folder");
                Ok(Answer { path: Some(path), ..answer })
            }
            Meant::Nothing if !tree.view.whole() => {
                Ok(Answer::new(CitationStatus::Unchecked).note("not all of the tree is here"))
            }
            Meant::Nothing => Ok(missing(place, offered, self.sounds_like_one(place))),
        }
    }

    /// Whether the text can only be a path: it has a known extension, or starts with an existing
    /// folder.
    fn sounds_like_one(&self, place: &Place) -> bool {
        let path = place.path.trim_start_matches("./").trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        let known = ending.is_some_and(super::place::known_ending) && !super::place::product(name);
        let first = path.split('/').next().unwrap_or_default();
        let (view, paths) = (&self.tree.view, &self.tree.paths);
        let there = path.contains('/') && matches!(paths.meant(view, first, ""), Meant::Folder(_));
        known || there
    }

    /// Disambiguates a path that matches several files: by the quote, else by the paths the debate
    /// is about.
    fn one_of(&mut self, all: &[usize], place: &Place, offered: bool) -> Result<Answer, RepoError> {
        let several = format!("{} files end in `{}`", all.len(), place.path);
        if place.words.is_some() && all.len() <= MOST_MEANT {
            let holds = |it: &mut Self, nth: &usize, exactly: bool| {
                let spot = it.text(*nth).ok().and_then(|text| spot(&text, place).map(|it| it.0));
                spot.is_some_and(|spot| !exactly || matches!(spot, Spot::At(_)))
            };
            for exactly in [false, true] {
                let held: Vec<usize> =
                    all.iter().filter(|nth| holds(self, nth, exactly)).copied().collect();
                if let [only] = held.as_slice() {
                    let answer = self.file(*only, place, offered)?;
                    return Ok(answer.note(format!("{several}, and only this one has the quote")));
                }
            }
        }
        let preferred = |nth: &&usize| self.scope.prefer.contains(&self.path(**nth));
        let about: Vec<usize> = all.iter().filter(preferred).copied().collect();
        if let [only] = about.as_slice() {
            let answer = self.file(*only, place, offered)?;
            return Ok(answer.note(format!("{several}, and the debate is about this one")));
        }
        let shown: Vec<String> = all.iter().take(3).map(|nth| self.path(*nth)).collect();
        Ok(Answer::new(CitationStatus::Ambiguous).at(shown.join(", ")).note(several))
    }

    /// Looks up a location in one file.
    fn file(&mut self, nth: usize, place: &Place, offered: bool) -> Result<Answer, RepoError> {
        let path = self.path(nth);
        let answer = self.inside(nth, place, offered)?;
        Ok(self.told_of_now(nth, place, Answer { path: Some(path), ..answer }))
    }

    fn inside(&mut self, nth: usize, place: &Place, offered: bool) -> Result<Answer, RepoError> {
        if self.excepted(nth) {
            return Ok(Answer::new(CitationStatus::Unchecked)
                .note("what is checked is no source for itself"));
        }
        let text = match self.text(nth) {
            Ok(text) => text,
            Err(why) => {
                // The old version may have been text.
                let before =
                    if place.words.is_some() { self.taken_away(nth, place)? } else { None };
                let unread =
                    || Answer::new(CitationStatus::Unchecked).note(format!("it {}", why.says()));
                return Ok(before.unwrap_or_else(unread));
            }
        };
        let count = format!("the file has {}", counted(text.lines()));
        let outside = place.lines.filter(|(first, last)| *first == 0 || *last > text.lines());
        if place.words.is_none() {
            return Ok(match outside {
                Some(_) => Answer::new(CitationStatus::LineOutOfRange).note(count),
                None => Answer::new(CitationStatus::Located),
            });
        }
        match (spot(&text, place), outside) {
            (Some((spot, parts)), outside) => {
                if let Some(was) = self.stood_there(nth, place, &spot)? {
                    return Ok(was);
                }
                let answer = self.spotted(nth, place, &spot, outside.is_some());
                let answer = if outside.is_some() { answer.note(count) } else { answer };
                self.weighed(answer, parts.as_deref(), place)
            }
            (None, outside) => match self.taken_away(nth, place)? {
                Some(answer) => Ok(answer),
                None if outside.is_some() => {
                    Ok(Answer::new(CitationStatus::LineOutOfRange).note(count))
                }
                None => self.elsewhere(nth, place, offered),
            },
        }
    }

    pub(super) fn spotted(&self, nth: usize, place: &Place, spot: &Spot, outside: bool) -> Answer {
        let at = |line: &u32| format!("{}:{line}", self.path(nth));
        match spot {
            Spot::At(line) if place.lines.is_none() => {
                Answer::new(CitationStatus::Exact).at(at(line))
            }
            Spot::At(_) => Answer::new(CitationStatus::Exact),
            Spot::Near(line) if !outside => Answer::new(CitationStatus::Near).at(at(line)),
            Spot::Near(line) | Spot::Elsewhere(line) => {
                Answer::new(CitationStatus::ElsewhereInFile).at(at(line))
            }
        }
    }

    /// Downgrades a match that is too short or too common to prove anything.
    pub(super) fn weighed(
        &mut self,
        mut answer: Answer,
        parts: Option<&[Part]>,
        place: &Place,
    ) -> Result<Answer, RepoError> {
        match parts {
            Some(parts) if quote::too_short(parts) => answer.found = CitationStatus::TooShort,
            Some(parts) => {
                // In a review the author of the change may add copies of a quote to make it common.
                // So a quote exactly at its cited lines counts, however many copies exist.
                let meant = self.scope.was.is_some()
                    && answer.found == CitationStatus::Exact
                    && place.lines.is_some();
                if !meant
                    && let Some(contents) = self.tree.contents(self.scope.search)?
                    && self.common(parts, &contents)
                {
                    answer.found = CitationStatus::NonDistinctive;
                }
            }
            None if place.words().is_some_and(|name| name.chars().count() < 3) => {
                answer.found = CitationStatus::TooShort;
            }
            None => {}
        }
        Ok(answer)
    }

    /// Whether every line of a quote is in too many files to prove anything.
    fn common(&mut self, parts: &[Part], contents: &Contents) -> bool {
        let lines = parts.iter().flat_map(|part| part.lines.iter().map(String::as_str));
        let mut lines: Vec<(Vec<usize>, Part)> = lines
            .filter_map(Part::line)
            .filter(|part| !quote::too_short(std::slice::from_ref(part)))
            .map(|part| (self.there_now(contents.may_hold(&contents::all_words(&part))), part))
            .collect();
        // Rarest line first. It usually decides without reading a file.
        lines.sort_by_key(|(files, _)| files.len());
        let most = match self.scope.search {
            Search::Whole => MOST_SEARCHED,
            Search::Known => MOST_WEIGHED,
        };
        lines.iter().all(|(files, part)| {
            let wanted = Wanted::Parts(std::slice::from_ref(part));
            let mut holding = 0;
            for nth in files.iter().take_while(|_| files.len() >= COMMON) {
                if holding == COMMON || self.weighed >= most {
                    break;
                }
                self.weighed += 1;
                holding += usize::from(self.probe(*nth).is_some_and(|text| text.holds(wanted)));
            }
            holding == COMMON
        })
    }

    /// Searches the tree for text that is not in the cited file.
    fn elsewhere(&mut self, nth: usize, place: &Place, offered: bool) -> Result<Answer, RepoError> {
        let searched = match &place.words {
            Some(Words::Quote(quote)) => {
                let ways = quote::ways(quote);
                if ways.first().is_none_or(|parts| quote::too_short(parts)) {
                    return Ok(Answer::new(CitationStatus::NotFound));
                }
                self.search(nth, &ways)?
            }
            Some(Words::Name(name)) => {
                let answer = self.name(name, offered || place.lines.is_some())?;
                return Ok(answer);
            }
            None => Searched::Nowhere,
        };
        Ok(match searched {
            Searched::At(at) => Answer::new(CitationStatus::ElsewhereInRepo).at(at),
            Searched::Nowhere => Answer::new(CitationStatus::NotFound),
            Searched::NotDone => Answer::new(CitationStatus::NotSearched),
        })
    }

    /// Searches all files but one for a quote.
    fn search(&mut self, but: usize, ways: &[Vec<Part>]) -> Result<Searched, RepoError> {
        let Some(contents) = self.tree.contents(self.scope.search)? else {
            return Ok(Searched::NotDone);
        };
        for parts in ways {
            let words = contents::words_of(parts);
            // Without a word the index cannot narrow the search to fewer files.
            if words.is_empty() {
                return Ok(Searched::NotDone);
            }
            let mut files = self.in_order(contents.may_hold(&words));
            // Most quotes start and end at a word boundary. One that is cut within a word is
            // searched only if its inner words leave few candidate files.
            let inner = contents::inner_words(parts);
            let cut = if inner.is_empty() { vec![] } else { contents.may_hold(&inner) };
            if cut.len() <= MOST_CUT {
                files
                    .extend(cut.into_iter().filter(|nth| !files.contains(nth)).collect::<Vec<_>>());
            }
            files.retain(|nth| *nth != but && !self.excepted(*nth));
            let room = MOST_SEARCHED.saturating_sub(self.searched).min(files.len());
            let (view, wanted) = (&self.tree.view, Wanted::Parts(parts));
            let other = if room >= MANY { view.reader().ok() } else { None };
            let found = through::first(view, &self.reader, other, &files[..room], wanted);
            self.searched += found.map_or(room, |(at, _)| at + 1);
            if let Some((at, line)) = found {
                return Ok(Searched::At(format!("{}:{line}", self.path(files[at]))));
            }
            if room < files.len() {
                return Ok(Searched::NotDone);
            }
        }
        Ok(Searched::Nowhere)
    }

    /// Sorts files: those the debate is about first, old versions last.
    pub(super) fn in_order(&self, mut files: Vec<usize>) -> Vec<usize> {
        files.sort_by_key(|nth| {
            (self.called_before(*nth).is_some(), !self.scope.prefer.contains(&self.path(*nth)))
        });
        files
    }

    /// Bloom index of the tree. None if it is not cached and must not be built.
    pub(super) fn contents(&self) -> Result<Option<Arc<Contents>>, RepoError> {
        self.tree.contents(self.scope.search)
    }

    pub(super) fn path(&self, nth: usize) -> String {
        self.tree.view.files().get(nth).map(|file| file.path.clone()).unwrap_or_default()
    }

    pub(super) fn excepted(&self, nth: usize) -> bool {
        let file = self.tree.view.files().get(nth);
        file.is_some_and(|file| Some(file.path.as_str()) == self.scope.except)
    }

    /// Parsed text of a cited file, cached because it is often cited again.
    pub(super) fn text(&mut self, nth: usize) -> Result<Rc<Text>, Why> {
        if let Some(known) = self.texts.get(&nth) {
            return known.clone();
        }
        let text = self.read(nth);
        if self.texts.len() >= MOST_TEXTS {
            self.texts.clear();
        }
        self.texts.insert(nth, text.clone());
        text
    }

    /// Parsed text of a file that is only searched. Reads the cache, but does not fill it.
    pub(super) fn probe(&self, nth: usize) -> Option<Rc<Text>> {
        match self.texts.get(&nth) {
            Some(known) => known.clone().ok(),
            None => self.read(nth).ok(),
        }
    }

    pub(super) fn bytes(&self, file: &File) -> Option<Vec<u8>> {
        self.reader.bytes(file).ok()
    }

    fn read(&self, nth: usize) -> Result<Rc<Text>, Why> {
        through::read(&self.tree.view, &self.reader, nth).map(Rc::new)
    }
}

/// Result for a path that does not exist. In prose, without lines or a quote, it may be a file yet
/// to be written, and `redis/stack:7` is not a path at all.
fn missing(place: &Place, offered: bool, sounds_like_one: bool) -> Answer {
    let proposal =
        !offered && place.lines.is_none() && !matches!(place.words, Some(Words::Quote(_)));
    if proposal || !place.sure || !sounds_like_one {
        return Answer::new(CitationStatus::Unchecked).note("not in this repository");
    }
    Answer::new(CitationStatus::NoSuchPath)
}

/// Finds the cited text in a file. Returns the spot and the variant of the quote that matched.
pub(super) fn spot(text: &Text, place: &Place) -> Option<(Spot, Option<Vec<Part>>)> {
    match place.words.as_ref()? {
        Words::Name(name) => {
            let last = super::names::parts(name).last().unwrap_or(name);
            let whole = nearest(text, Wanted::Name(name), place.lines);
            whole
                .or_else(|| nearest(text, Wanted::Name(last), place.lines))
                .map(|spot| (spot, None))
        }
        Words::Quote(quote) => quote::ways(quote).into_iter().find_map(|parts| {
            nearest(text, Wanted::Parts(&parts), place.lines).map(|spot| (spot, Some(parts)))
        }),
    }
}

/// Finds the occurrence nearest to the cited lines.
fn nearest(text: &Text, wanted: Wanted<'_>, lines: Option<(u32, u32)>) -> Option<Spot> {
    let anywhere = || text.first(wanted, 1..=u32::MAX);
    let Some((first, last)) = lines else { return anywhere().map(Spot::At) };
    if let Some(line) = text.first(wanted, first..=last) {
        return Some(Spot::At(line));
    }
    let before = text.last(wanted, first.saturating_sub(NEAR).max(1)..=first.saturating_sub(1));
    let after = text.first(wanted, last.saturating_add(1)..=last.saturating_add(NEAR));
    match (before, after) {
        (Some(before), Some(after)) if after - last < first - before => Some(Spot::Near(after)),
        (Some(line), _) | (None, Some(line)) => Some(Spot::Near(line)),
        (None, None) => anywhere().map(Spot::Elsewhere),
    }
}

fn counted(lines: u32) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}
