//! `auto` context (`BriefBuilder::add_auto_context`): adds the files and symbols the topic names,
//! or else a library it names, plus the diff and the history it asks for. A topic that names none
//! of these and asks for no diff gets the uncommitted changes, if there are any, and the file tree
//! if it is about architecture.
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
        let has_named = self.add_named_paths(&topic.names) | self.add_symbols(&topic.symbols);
        let has_named = has_named || self.add_libraries(&libraries);
        let dirty = self.pin.is_some_and(|pin| pin.dirty);
        match &topic.change {
            Some(range) => self.try_add_diff(range),
            None if dirty && !has_named => {
                self.try_add_diff(&DiffRange::Worktree);
            }
            None => {}
        }
        if topic.architecture && !has_named && topic.change.is_none() {
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

    /// Adds the files and folders the topic names. Returns whether any was added.
    fn add_named_paths(&mut self, names: &[String]) -> bool {
        let before = self.pieces.len();
        for name in names {
            let (path, lines) = split_line_range(name).unwrap_or((name, None));
            match self.source_tree.resolve_name(path) {
                PathMatch::File(path) if exclusion_reason(path.as_bytes()).is_some() => {
                    let reason =
                        exclusion_reason(path.as_bytes()).map_or("", ExclusionReason::describe);
                    self.record_omission(&path, format!("{reason}: `file={path}` would give it"));
                }
                PathMatch::File(path) => {
                    let result = self.add_file(&path, lines, BriefSection::NamedFiles, 100);
                    let result = result.or_else(|error| match error {
                        BriefError::LinesOutOfRange { .. } => {
                            self.add_file(&path, None, BriefSection::NamedFiles, 100)
                        }
                        error => Err(error),
                    });
                    match result {
                        Ok(true) => self.record_pick(&format!("{path}: named in the topic")),
                        Err(BriefError::Withheld { why: reason, .. }) => {
                            self.record_omission(&path, reason.to_owned());
                        }
                        _ => {}
                    }
                }
                PathMatch::Folder(folder) if name.contains('/') => {
                    self.add_folder(&folder, "named in the topic");
                }
                PathMatch::Ambiguous(count) => {
                    self.record_pick(&format!("not `{name}`: it could be any of {count} files"));
                }
                _ => {}
            }
        }
        self.pieces.len() > before
    }

    /// Adds the definitions of symbols, or uses of those without a definition. Returns whether any
    /// was found.
    fn add_symbols(&mut self, symbols: &[String]) -> bool {
        if symbols.is_empty() {
            return false;
        }
        let found = symbols::find_symbols(&self.source_tree, symbols);
        for location in &found.locations {
            let verb = if location.is_definition { "defines" } else { "uses" };
            let lines = Some((location.first_line, location.last_line));
            if self
                .add_file(&location.path, lines, BriefSection::Snippets, 80)
                .is_ok_and(|added| added)
            {
                self.record_pick(&format!(
                    "{}:{}: {verb} `{}`, named in the topic",
                    location.path, location.first_line, location.symbol
                ));
            }
        }
        if let Some((searched, total)) = found.cut_short {
            self.record_pick(&format!(
                "(the search ended in time after {searched} of {total} files)"
            ));
        }
        !found.locations.is_empty()
    }

    /// Adds the first manifest (such as `Cargo.toml`) that depends on a library the topic names,
    /// and code that defines or uses its name. Returns whether such a manifest was found.
    fn add_libraries(&mut self, words: &[String]) -> bool {
        let manifests = self.find_manifests();
        for path in manifests.iter().take(MAX_SEARCHED_MANIFESTS) {
            let Ok(text) = self
                .source_tree
                .read(path)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            else {
                continue;
            };
            let Some(word) = libraries::find_dependency(&text, words) else { continue };
            if self.add_file(path, None, BriefSection::NamedFiles, 90).is_ok_and(|added| added) {
                self.record_pick(&format!("{path}: depends on `{word}`, named in the topic"));
            }
            // Package names have dashes, identifiers have underscores.
            self.add_symbols(&[word.replace('-', "_")]);
            return true;
        }
        false
    }

    /// Adds the diff of a range, or that of [`DiffRange::Auto`] if the range cannot be resolved. An
    /// empty diff is no error.
    fn try_add_diff(&mut self, range: &DiffRange) {
        let reason = "the topic speaks of changes, or of nothing else";
        let result = self.add_diff(range, reason).or_else(|error| match range {
            DiffRange::Auto => Err(error),
            _ => self.add_diff(&DiffRange::Auto, reason),
        });
        if let Err(error) = result {
            self.record_pick(&format!("no diff: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brief::{BriefDetail, BriefSelection, build_brief};
    use crate::repo::TreeStore;
    use std::fs;

    #[test]
    fn manifests_searched_for_a_library_are_limited() {
        assert_eq!(MAX_SEARCHED_MANIFESTS, 10);
        // Only the last of these manifests depends on the library.
        let finds_library = |manifests: usize| {
            let folder = tempfile::tempdir().unwrap();
            for number in 1..=manifests {
                let package = folder.path().join(format!("package{number:02}"));
                fs::create_dir(&package).unwrap();
                let library = if number == manifests { "rusqlite" } else { "serde" };
                let manifest = format!("[dependencies]\n{library} = \"1\"\n");
                fs::write(package.join("Cargo.toml"), manifest).unwrap();
            }
            let (root, topic) = (folder.path(), "Should we use sqlx or rusqlite?");
            let trees = TreeStore::new(&root.join("home"));
            let (selection, detail) =
                (BriefSelection::parse("auto").unwrap(), BriefDetail::Contents);
            let brief = build_brief(&trees, root, root, None, topic, &selection, detail).unwrap();
            brief.picked.iter().any(|line| line.contains("depends on `rusqlite`"))
        };
        assert!(finds_library(MAX_SEARCHED_MANIFESTS));
        assert!(!finds_library(MAX_SEARCHED_MANIFESTS + 1));
    }
}
