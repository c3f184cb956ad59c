//! `auto` context: selects what the topic mentions (files, symbols, libraries, changes). Falls back
//! to uncommitted changes, or to the file tree for questions of architecture.
use super::BriefError;
use super::builder::BriefBuilder;
use super::libraries;
use super::pack::BriefSection;
use super::selection::split_line_range;
use super::source_tree::PathMatch;
use super::symbols;
use super::topic_hints::TopicHints;
use crate::repo::{DiffRange, ExclusionReason, exclusion_reason};

/// Limit on manifests searched for a library.
const MAX_SEARCHED_MANIFESTS: usize = 10;

impl BriefBuilder<'_> {
    /// Adds the context the topic asks for.
    pub(super) fn add_auto_context(&mut self, topic: &str) {
        let libraries = libraries::library_candidates(topic);
        let topic = TopicHints::parse(topic);
        let before = self.brief.picked.len();
        let named = self.add_named_paths(&topic.names) | self.add_symbols(&topic.symbols);
        let named = named || self.add_libraries(&libraries);
        let dirty = self.pin.is_some_and(|pin| pin.dirty);
        match &topic.change {
            Some(range) => self.try_add_diff(range),
            None if dirty && !named => {
                self.try_add_diff(&DiffRange::Worktree);
            }
            None => {}
        }
        if topic.architecture && !named && topic.change.is_none() {
            self.add_tree("the topic is about architecture");
        }
        if topic.history && !self.brief.touched_paths.is_empty() {
            // Errors are ignored: without a repository there is no history.
            let _ = self.add_history();
        }
        if self.brief.picked.len() == before {
            self.record_pick(
                "nothing: the topic names nothing that is there, and nothing has changed",
            );
        }
    }

    /// Adds the files and folders the topic names. Returns whether there are any.
    fn add_named_paths(&mut self, names: &[String]) -> bool {
        let before = self.pieces.len();
        for name in names {
            let (path, lines) = split_line_range(name).unwrap_or((name, None));
            match self.source_tree.resolve_name(path) {
                PathMatch::File(path) if exclusion_reason(path.as_bytes()).is_some() => {
                    let why =
                        exclusion_reason(path.as_bytes()).map_or("", ExclusionReason::describe);
                    self.record_omission(&path, format!("{why}: `file={path}` would give it"));
                }
                PathMatch::File(path) => {
                    let shown = self.add_file(&path, lines, BriefSection::NamedFiles, 100);
                    let shown = shown.or_else(|error| match error {
                        BriefError::LinesOutOfRange { .. } => {
                            self.add_file(&path, None, BriefSection::NamedFiles, 100)
                        }
                        error => Err(error),
                    });
                    match shown {
                        Ok(true) => self.record_pick(&format!("{path}: named in the topic")),
                        Err(BriefError::Withheld { why, .. }) => {
                            self.record_omission(&path, why.to_owned())
                        }
                        _ => {}
                    }
                }
                PathMatch::Folder(folder) if name.contains('/') => {
                    self.add_folder(&folder, "named in the topic");
                }
                PathMatch::Ambiguous(many) => {
                    self.record_pick(&format!("not `{name}`: it could be any of {many} files"));
                }
                _ => {}
            }
        }
        self.pieces.len() > before
    }

    /// Adds the definitions of the symbols the topic names. Returns whether any was found.
    fn add_symbols(&mut self, symbols: &[String]) -> bool {
        if symbols.is_empty() {
            return false;
        }
        let found = symbols::find_symbols(&self.source_tree, symbols);
        for place in &found.locations {
            let how = if place.is_definition { "defines" } else { "uses" };
            let lines = Some((place.first_line, place.last_line));
            if self.add_file(&place.path, lines, BriefSection::Snippets, 80).is_ok_and(|put| put) {
                self.record_pick(&format!(
                    "{}:{}: {how} `{}`, named in the topic",
                    place.path, place.first_line, place.symbol
                ));
            }
        }
        if let Some((looked, all)) = found.cut_short {
            self.record_pick(&format!("(the search ended in time after {looked} of {all} files)"));
        }
        !found.locations.is_empty()
    }

    /// Adds the first manifest that depends on a library the topic names, and uses of that library.
    /// Returns whether there is one.
    fn add_libraries(&mut self, words: &[String]) -> bool {
        let manifests = self.find_manifests();
        for path in manifests.iter().take(MAX_SEARCHED_MANIFESTS) {
            let Ok(text) =
                self.source_tree.read(path).map(|it| String::from_utf8_lossy(&it).into_owned())
            else {
                continue;
            };
            let Some(word) = libraries::find_dependency(&text, words) else { continue };
            if self.add_file(path, None, BriefSection::NamedFiles, 90).is_ok_and(|put| put) {
                self.record_pick(&format!("{path}: depends on `{word}`, named in the topic"));
            }
            // Package names have dashes, identifiers have underscores.
            self.add_symbols(&[word.replace('-', "_")]);
            return true;
        }
        false
    }

    /// Adds the diff the topic refers to, or any other diff if that range is empty or invalid.
    fn try_add_diff(&mut self, range: &DiffRange) {
        let why = "the topic speaks of changes, or of nothing else";
        let tried = self.add_diff(range, why).or_else(|error| match range {
            DiffRange::Auto => Err(error),
            _ => self.add_diff(&DiffRange::Auto, why),
        });
        if let Err(error) = tried {
            self.record_pick(&format!("no diff: {error}"));
        }
    }
}
