//! `auto` context: selects what the topic mentions (files, symbols, libraries, changes). Falls back
//! to uncommitted changes, or to the file tree for questions of architecture.
use super::BriefError;
use super::gather::Gathering;
use super::ground::Meant;
use super::libraries;
use super::pack::Section;
use super::symbols;
use super::topic::Topic;
use super::wanted::cited;
use crate::repo::{DiffRange, ExclusionReason, exclusion_reason};

/// Limit on manifests searched for a library.
const MOST_MANIFESTS: usize = 10;

impl Gathering<'_> {
    /// Adds the context the topic asks for.
    pub(super) fn auto(&mut self, topic: &str) {
        let libraries = libraries::candidates(topic);
        let topic = Topic::read(topic);
        let before = self.told.picked.len();
        let named = self.names(&topic.names) | self.symbols(&topic.symbols);
        let named = named || self.libraries(&libraries);
        let dirty = self.pin.is_some_and(|pin| pin.dirty);
        match &topic.change {
            Some(range) => self.diff_if_any(range),
            None if dirty && !named => {
                self.diff_if_any(&DiffRange::Worktree);
            }
            None => {}
        }
        if topic.architecture && !named && topic.change.is_none() {
            self.tree("the topic is about architecture");
        }
        if topic.history && !self.told.touched.is_empty() {
            // Errors are ignored: without a repository there is no history.
            let _ = self.history();
        }
        if self.told.picked.len() == before {
            self.pick("nothing: the topic names nothing that is there, and nothing has changed");
        }
    }

    /// Adds the files and folders the topic names. Returns whether there are any.
    fn names(&mut self, names: &[String]) -> bool {
        let before = self.pieces.len();
        for name in names {
            let (path, lines) = cited(name).unwrap_or((name, None));
            match self.ground.guess(path) {
                Meant::File(path) if exclusion_reason(path.as_bytes()).is_some() => {
                    let why =
                        exclusion_reason(path.as_bytes()).map_or("", ExclusionReason::describe);
                    self.leave(&path, format!("{why}: `file={path}` would give it"));
                }
                Meant::File(path) => {
                    let shown = self.file(&path, lines, Section::Named, 100);
                    let shown = shown.or_else(|error| match error {
                        BriefError::Beyond { .. } => self.file(&path, None, Section::Named, 100),
                        error => Err(error),
                    });
                    match shown {
                        Ok(true) => self.pick(&format!("{path}: named in the topic")),
                        Err(BriefError::Withheld { why, .. }) => self.leave(&path, why.to_owned()),
                        _ => {}
                    }
                }
                Meant::Folder(folder) if name.contains('/') => {
                    self.folder(&folder, "named in the topic");
                }
                Meant::Several(many) => {
                    self.pick(&format!("not `{name}`: it could be any of {many} files"));
                }
                _ => {}
            }
        }
        self.pieces.len() > before
    }

    /// Adds the definitions of the symbols the topic names. Returns whether any was found.
    fn symbols(&mut self, symbols: &[String]) -> bool {
        if symbols.is_empty() {
            return false;
        }
        let found = symbols::search(&self.ground, symbols);
        for place in &found.places {
            let how = if place.defines { "defines" } else { "uses" };
            let lines = Some((place.first, place.last));
            if self.file(&place.path, lines, Section::Snippets, 80).is_ok_and(|put| put) {
                self.pick(&format!(
                    "{}:{}: {how} `{}`, named in the topic",
                    place.path, place.first, place.symbol
                ));
            }
        }
        if let Some((looked, all)) = found.cut_short {
            self.pick(&format!("(the search ended in time after {looked} of {all} files)"));
        }
        !found.places.is_empty()
    }

    /// Adds the first manifest that depends on a library the topic names, and uses of that library.
    /// Returns whether there is one.
    fn libraries(&mut self, words: &[String]) -> bool {
        let manifests = self.manifests();
        for path in manifests.iter().take(MOST_MANIFESTS) {
            let Ok(text) =
                self.ground.read(path).map(|it| String::from_utf8_lossy(&it).into_owned())
            else {
                continue;
            };
            let Some(word) = libraries::depended_on(&text, words) else { continue };
            if self.file(path, None, Section::Named, 90).is_ok_and(|put| put) {
                self.pick(&format!("{path}: depends on `{word}`, named in the topic"));
            }
            // Package names have dashes, identifiers have underscores.
            self.symbols(&[word.replace('-', "_")]);
            return true;
        }
        false
    }

    /// Adds the diff the topic refers to, or any other diff if that range is empty or invalid.
    fn diff_if_any(&mut self, range: &DiffRange) {
        let why = "the topic speaks of changes, or of nothing else";
        let tried = self.diff(range, why).or_else(|error| match range {
            DiffRange::Auto => Err(error),
            _ => self.diff(&DiffRange::Auto, why),
        });
        if let Err(error) = tried {
            self.pick(&format!("no diff: {error}"));
        }
    }
}
