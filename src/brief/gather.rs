//! `BriefBuilder`: turns each selected item into pieces, and records what it picked and why.
use super::files::{self, Shown};
use super::ground::{Ground, Meant};
use super::kind::{self, Kind};
use super::pack::{Piece, Section};
use super::wanted::{Span, Wanted, Wish};
use super::{BriefError, Gathered, Given, Omitted, compose, page, review, tree};
use crate::repo::{DiffRange, Pin, RepoError, TreeStore, exclusion_reason};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Limits on manifests shown, and on files read per folder or glob pattern.
const MOST_MANIFESTS: usize = 20;
const MOST_BELOW: usize = 2_000;
/// Files are read up to this multiple of the token budget, so that packing has a choice.
const CHOICE: usize = 4;

/// Builds a brief from the selected items. The caller has already pinned the tree, if possible.
pub fn gather(
    trees: &TreeStore,
    root: &Path,
    folder: &Path,
    pin: Option<&Pin>,
    topic: &str,
    wanted: &Wanted,
    ask: Given,
) -> Result<Gathered, BriefError> {
    if wanted.wishes.is_empty() && wanted.reviewed.is_none() {
        return Ok(Gathered::default());
    }
    let ground = Ground::open(trees, root, folder, pin)?;
    let mut gathering = Gathering {
        trees,
        root,
        pin,
        ground,
        ask,
        budget: wanted.budget(),
        lists: String::new(),
        pieces: vec![],
        seen: BTreeSet::new(),
        told: Gathered::default(),
    };
    if let Some(change) = &wanted.reviewed {
        gathering.reviewed(change)?;
    }
    for wish in &wanted.wishes {
        gathering.wish(wish, topic)?;
    }
    // Last, because it covers the paths all other items touch.
    if wanted.wishes.contains(&Wish::History) {
        gathering.history()?;
    }
    gathering.leave_what_the_pin_lacks();
    let Gathering { budget, lists, pieces, told, ground, .. } = gathering;
    Ok(compose::compose(told, pin, ground.whole, &lists, &pieces, budget))
}

/// State of a brief that is being built.
pub(super) struct Gathering<'a> {
    trees: &'a TreeStore,
    root: &'a Path,
    pub(super) pin: Option<&'a Pin>,
    pub(super) ground: Ground,
    ask: Given,
    budget: usize,
    lists: String,
    pub(super) pieces: Vec<Piece>,
    /// Excerpts already added, to avoid duplicates.
    seen: BTreeSet<(String, Option<Span>)>,
    pub(super) told: Gathered,
}

impl Gathering<'_> {
    fn wish(&mut self, wish: &Wish, topic: &str) -> Result<(), BriefError> {
        match wish {
            Wish::Auto => self.auto(topic),
            Wish::Tree => self.tree("asked for"),
            Wish::Diff(range) => self.diff(range, "asked for")?,
            Wish::History => {}
            Wish::Path { path, lines } => match self.ground.find_named(path) {
                Meant::File(path) => self.named(&path, *lines)?,
                Meant::Folder(folder) if lines.is_none() => self.folder(&folder, "asked for"),
                _ => return Err(BriefError::NoFile { path: path.clone() }),
            },
            Wish::Doc(path) => match self.ground.find_named(path) {
                Meant::File(path) => self.named(&path, None)?,
                _ => return Err(BriefError::NoFile { path: path.clone() }),
            },
            Wish::Folder(path) => match self.ground.find(path) {
                Meant::Folder(folder) => self.folder(&folder, "asked for"),
                _ => return Err(BriefError::NoFile { path: path.clone() }),
            },
            Wish::Glob(pattern) => {
                let paths = self.ground.like(pattern);
                if paths.is_empty() {
                    return Err(BriefError::NoMatch { pattern: pattern.clone() });
                }
                let found = page::many(paths.len(), "file", "files");
                self.pick(&format!("{pattern}: {found} like it"));
                self.several(&paths);
            }
            Wish::Note(text) => {
                let lines = text.lines().map(|line| format!("> {line}\n"));
                self.put(Section::Notes, "a note", 100, lines.collect(), None);
                self.pick("a note of the user");
            }
        }
        Ok(())
    }

    /// Adds a file the user has named.
    fn named(&mut self, path: &str, lines: Option<Span>) -> Result<(), BriefError> {
        if self.file(path, lines, Section::Named, 100)? {
            let lines = lines.map(|(first, last)| format!(":{first}-{last}")).unwrap_or_default();
            self.pick(&format!("{path}{lines}: asked for"));
        }
        Ok(())
    }

    /// Adds an excerpt of a file, or records why not. Returns whether it was added.
    pub(super) fn file(
        &mut self,
        path: &str,
        lines: Option<Span>,
        section: Section,
        value: u64,
    ) -> Result<bool, BriefError> {
        if section != Section::Below && !self.told.touched.iter().any(|known| known == path) {
            self.told.touched.push(path.to_owned());
        }
        if !self.seen.insert((path.to_owned(), lines)) {
            return Ok(false);
        }
        let read = match section {
            Section::Named => self.ground.read_named(path),
            _ => self.ground.read(path),
        };
        let text = match read.and_then(files::text) {
            Ok(text) => text,
            Err(why) if section == Section::Named => {
                return Err(BriefError::Withheld { path: path.to_owned(), why: why.describe() });
            }
            Err(why) => {
                self.leave(path, why.describe().to_owned());
                return Ok(false);
            }
        };
        let many = text.lines().count();
        if lines.is_some_and(|(first, _)| first > many) {
            return Err(BriefError::Beyond { path: path.to_owned(), lines: many });
        }
        let Shown { whole, short } = files::shown(path, &text, lines, self.ask, self.budget);
        self.put(section, path, value, whole, short);
        Ok(true)
    }

    /// Adds the tree of a folder and the files in it.
    pub(super) fn folder(&mut self, folder: &str, why: &str) {
        let paths = self.ground.below(folder);
        let files = page::many(paths.len(), "file", "files");
        self.pick(&format!("{}: {files}, {why}", if folder.is_empty() { "./" } else { folder }));
        self.draw(folder);
        if self.ask == Given::Contents {
            self.several(&paths);
        }
    }

    /// Adds files that were not named one by one, by kind, until the read limit is reached.
    fn several(&mut self, paths: &[String]) {
        let mut order: Vec<(Kind, &String)> =
            paths.iter().map(|path| (kind::kind(path), path)).collect();
        order.sort();
        let mut room = self.budget * CHOICE;
        for (nth, (kind, path)) in order.into_iter().enumerate() {
            let why = match (exclusion_reason(path.as_bytes()), kind::dull(path)) {
                // Instructions for agents are excluded, because the reader of the brief is an
                // agent.
                (Some(why), _) => Some(why.describe()),
                (_, Some(dull)) => Some(dull.says()),
                _ if nth >= MOST_BELOW || room == 0 => {
                    Some("was not read: there is no room for it")
                }
                _ => None,
            };
            if let Some(why) = why {
                self.leave(path, why.to_owned());
                continue;
            }
            let value = match kind {
                Kind::Source => 50,
                Kind::Test => 30,
                Kind::Config => 25,
                Kind::Docs | Kind::Generated => 12,
            };
            let before = self.pieces.len();
            // Without a line range, the only possible error cannot occur.
            let _ = self.file(path, None, Section::Below, value);
            let read: usize = self.pieces[before..].iter().map(|piece| piece.text.len() / 4).sum();
            room = room.saturating_sub(read);
        }
    }

    /// Adds the file tree and the manifests.
    pub(super) fn tree(&mut self, why: &str) {
        self.draw("");
        let manifests = self.manifests();
        let many = page::many(manifests.len(), "manifest", "manifests");
        self.pick(&format!("the file tree and {many}: {why}"));
        for (nth, path) in manifests.iter().enumerate() {
            if nth < MOST_MANIFESTS {
                let value = 60_u64.saturating_sub(5 * depth(path) as u64);
                let _ = self.file(path, None, Section::Manifests, value);
            } else {
                self.leave(path, "is one manifest of too many".to_owned());
            }
        }
    }

    /// All manifests, by depth.
    pub(super) fn manifests(&self) -> Vec<String> {
        let paths = self.ground.paths();
        let manifests =
            paths.into_iter().filter(|path| kind::manifest(path) && kind::dull(path).is_none());
        let mut manifests: Vec<String> = manifests.map(str::to_owned).collect();
        manifests.sort_by_key(|path| (depth(path), path.clone()));
        manifests
    }

    fn draw(&mut self, folder: &str) {
        let sizes = self.ground.sizes();
        let drawn = |room: usize| {
            let (text, depth) = tree::draw(&sizes, folder, room);
            match depth {
                Some(depth) => format!("(to a depth of {depth})\n{text}"),
                None => text,
            }
        };
        let (whole, short) = (drawn(self.budget / 2), drawn(self.budget / 8));
        self.put(
            Section::Tree,
            if folder.is_empty() { "./" } else { folder },
            90,
            whole,
            Some(short),
        );
    }

    pub(super) fn diff(&mut self, range: &DiffRange, why: &str) -> Result<(), BriefError> {
        let no_repository = || RepoError::NoRepository { path: self.root.to_owned() };
        let pin = self.pin.ok_or_else(no_repository)?;
        let changes = self.trees.diff(self.root, pin, range)?;
        let files = match changes.files.len() {
            0 => "nothing has changed".to_owned(),
            many => format!("{} changed", page::many(many, "file", "files")),
        };
        self.pick(&format!("diff of {}: {files}; {why}", changes.description));
        let again = || self.ground.another_reader();
        let believed = !matches!(range, DiffRange::Trees { .. });
        let reader = self.ground.reader();
        let review = review::review(&changes, reader, &again, self.budget, believed);
        self.lists.push_str(&review.list);
        self.pieces.extend(review.pieces);
        self.told.left_out.extend(review.left_out);
        let paths = changes.files.iter().flat_map(|file| file.old_path.iter().chain([&file.path]));
        self.told.touched.extend(paths.cloned());
        self.told.changed.extend(changes.files);
        Ok(())
    }

    pub(super) fn history(&mut self) -> Result<(), BriefError> {
        let no_repository = || RepoError::NoRepository { path: self.root.to_owned() };
        let pin = self.pin.ok_or_else(no_repository)?;
        let (pasts, short) = self.trees.history(self.root, pin, &self.told.touched)?;
        let mut text = String::new();
        for past in &pasts {
            let path = if past.path.is_empty() { "the repository" } else { &past.path };
            let _ = writeln!(text, "`{}`:", page::plain(path));
            for commit in &past.commits {
                let time = jiff::Timestamp::from_second(commit.time).unwrap_or_default();
                let subject = page::plain(&commit.subject);
                let _ = writeln!(
                    text,
                    "  {} {} {}",
                    commit.id,
                    time.strftime("%Y-%m-%d"),
                    page::cut(&subject)
                );
            }
        }
        if short {
            text.push_str("(the walk through the past ended in time; there may be more)\n");
        }
        self.pick(&format!("the last commits of {}", page::many(pasts.len(), "path", "paths")));
        self.put(Section::History, "history", 40, text, None);
        Ok(())
    }

    /// Records uncommitted changes that could not be pinned as omissions.
    fn leave_what_the_pin_lacks(&mut self) {
        for left in self.pin.iter().flat_map(|pin| &pin.left_out) {
            let why = format!("{}, and is not pinned", left.why.describe());
            self.told.left_out.push(Omitted { path: left.path.clone(), why });
        }
    }

    fn put(
        &mut self,
        section: Section,
        path: &str,
        value: u64,
        text: String,
        short: Option<String>,
    ) {
        self.pieces.push(Piece { section, path: path.to_owned(), value, text, short });
    }

    /// Adds text that is always part of the brief, whatever the budget.
    pub(super) fn list(&mut self, text: &str) {
        self.lists.push_str(text);
    }

    pub(super) fn pick(&mut self, line: &str) {
        self.told.picked.push(page::plain(line).into_owned());
    }

    pub(super) fn leave(&mut self, path: &str, why: String) {
        self.told.left_out.push(Omitted { path: path.to_owned(), why });
    }
}

fn depth(path: &str) -> usize {
    path.matches('/').count()
}
