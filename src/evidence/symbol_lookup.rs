//! Finds a code symbol in a tree. Prefers its definition to a mention. The entry point is
//! `CitationLookup::look_up_symbol`. `lookup` calls it for a cited symbol, and `tree_search` for a
//! symbol that is not in the cited file.
use super::lookup::{CitationLookup, LookupResult};
use super::source_text::SourceText;
use super::{bloom_index, symbol_names};
use crate::debate::CitationStatus;
use crate::repo::RepoError;

/// Keywords before the name in a definition.
const DEFINITION_KEYWORDS: &[&str] = &[
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "type",
    "const",
    "static",
    "let",
    "var",
    "val",
    "function",
    "func",
    "fun",
    "impl",
    "mod",
    "module",
    "macro_rules",
    "define",
    "union",
    "record",
    "object",
    "protocol",
    "namespace",
    "package",
    "sub",
    "proc",
    "typedef",
    "defmodule",
    "defp",
    "defmacro",
    "data",
    "newtype",
    "table",
    "view",
    "extension",
];

/// Keywords before a name that is used, not defined.
const USAGE_KEYWORDS: &[&str] = &[
    "return", "if", "while", "else", "await", "new", "throw", "case", "in", "not", "and", "or",
    "assert", "yield", "use", "import", "from", "match", "for", "unless", "when", "do",
];

/// Maximum number of files searched for a definition after a mention was found.
const MAX_FILES_READ: usize = 400;
/// Maximum number of mentions checked per file.
const MAX_MENTIONS: usize = 500;

/// An occurrence of a symbol in a file.
struct SymbolMatch {
    line: u32,
    is_definition: bool,
}

impl CitationLookup<'_> {
    /// Looks up a symbol: first in the files the debate is about, then by the Bloom index.
    pub(super) fn look_up_symbol(
        &mut self,
        name: &str,
        is_evidence: bool,
    ) -> Result<LookupResult, RepoError> {
        let files = self.tree.view.files();
        let preferred =
            self.scope.preferred_paths.iter().filter_map(|path| {
                files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()
            });
        let preferred: Vec<usize> = preferred.collect();
        let mut mention = None;
        if let Some(result) = self.find_definition(name, &preferred, &mut mention) {
            return Ok(result);
        }
        if let Some(index) = self.index()? {
            let hashes = bloom_index::hash_symbol_words(name);
            if hashes.is_empty() {
                return Ok(LookupResult::new(CitationStatus::TooShort));
            }
            let candidates = index.candidates(&hashes);
            if let Some(result) = self.find_definition(name, &candidates, &mut mention) {
                return Ok(result);
            }
        } else if mention.is_none() {
            return Ok(LookupResult::new(CitationStatus::NotSearched));
        }
        Ok(match mention {
            Some(location) => LookupResult::new(CitationStatus::ElsewhereInRepo)
                .with_location(location)
                .with_note("mentioned"),
            None if is_evidence => LookupResult::new(CitationStatus::NotFound),
            None => {
                LookupResult::new(CitationStatus::Unchecked).with_note("not in this repository")
            }
        })
    }

    /// Finds the first file that defines the symbol. Stores the first mention in `mention`.
    fn find_definition(
        &self,
        name: &str,
        files: &[usize],
        mention: &mut Option<String>,
    ) -> Option<LookupResult> {
        for (files_read, file_index) in files.iter().enumerate() {
            if self.is_excluded(*file_index) || mention.is_some() && files_read >= MAX_FILES_READ {
                continue;
            }
            let Some(found) = self.peek_text(*file_index).and_then(|text| find_symbol(&text, name))
            else {
                continue;
            };
            let location = format!("{}:{}", self.path(*file_index), found.line);
            if found.is_definition {
                return Some(
                    LookupResult::new(CitationStatus::ElsewhereInRepo)
                        .with_location(location)
                        .with_note("defined"),
                );
            }
            mention.get_or_insert(location);
        }
        None
    }
}

/// Finds a symbol in a file. For a qualified symbol all its parts must occur.
fn find_symbol(text: &SourceText, name: &str) -> Option<SymbolMatch> {
    let parts: Vec<&str> =
        symbol_names::symbol_parts(name).filter(|part| !is_self_keyword(part)).collect();
    let last = parts.last()?;
    let has_all_parts = parts.iter().all(|part| text.mentions(part, 1).next().is_some());
    let mut mentions = text.mentions(last, 1).take(MAX_MENTIONS).filter(|_| has_all_parts);
    if let Some((line, _)) = mentions.find(|(_, offset)| is_definition_at(text, *offset, last)) {
        return Some(SymbolMatch { line, is_definition: true });
    }
    let mention = text.mentions(name, 1).next();
    // A mention needs the qualified symbol in one piece.
    mention.map(|(line, _)| SymbolMatch { line, is_definition: false })
}

fn is_self_keyword(part: &str) -> bool {
    matches!(part, "self" | "this" | "Self" | "crate" | "super")
}

/// Whether an occurrence is a definition, by the keywords before it.
fn is_definition_at(text: &SourceText, offset: usize, name: &str) -> bool {
    let (before, after) = text.line_around(offset);
    let after = &after[name.len().min(after.len())..];
    let trimmed = before.trim();
    if ["//", "#!", "* ", "--", "\"", "'"].iter().any(|mark| trimmed.starts_with(mark)) {
        return false;
    }
    let mut words = trimmed.rsplit(|c: char| !c.is_alphanumeric() && c != '_');
    let mut words = words.by_ref().filter(|word| !matches!(*word, "" | "mut" | "ref"));
    let nearest = words.next().unwrap_or_default();
    let is_adjacent = trimmed.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '!');
    if DEFINITION_KEYWORDS.contains(&nearest) && is_adjacent {
        return true;
    }
    // A Go method has its receiver before the name. In other languages only a type may precede it.
    if trimmed.starts_with("func (") && trimmed.ends_with(')') {
        return true;
    }
    let has_type_prefix = trimmed.chars().all(|c| c.is_alphanumeric() || "_ <>*&[]:,~".contains(c));
    let first_word = trimmed.split(' ').next().unwrap_or_default();
    let has_body = after.trim_start().starts_with('(') && after.trim_end().ends_with('{');
    has_body
        && has_type_prefix
        && !USAGE_KEYWORDS.contains(&first_word)
        && !USAGE_KEYWORDS.contains(&nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::test_lookup::{BUILD_INDEX_SCOPE, load_tree};
    use crate::repo::test_repo::{FILE_MODE, TempRepo};

    #[test]
    fn definition_is_searched_in_400_files() {
        let repo = TempRepo::new();
        let mention = repo.blob(b"x = some_symbol;\n");
        let definition = (FILE_MODE, "z.rs".to_owned(), repo.blob(b"fn some_symbol() {}\n"));
        let note = |file_count: usize| {
            let mentions = (1..file_count).map(|nth| (FILE_MODE, format!("m{nth:03}.rs"), mention));
            let id = repo.tree(mentions.chain([definition.clone()]));
            let (tree, root) = (load_tree(&repo, id), repo.root());
            let mut lookup = CitationLookup::new(&tree, &root, &BUILD_INDEX_SCOPE).unwrap();
            lookup.look_up_symbol("some_symbol", true).unwrap().note.unwrap()
        };
        assert_eq!(note(MAX_FILES_READ), "defined");
        assert_eq!(note(MAX_FILES_READ + 1), "mentioned");
        assert_eq!(MAX_FILES_READ, 400);
    }

    #[test]
    fn definition_is_searched_among_500_mentions() {
        let is_definition = |mention_count: usize| {
            let mentions = "x = some_symbol;\n".repeat(mention_count - 1);
            let text = SourceText::new(format!("{mentions}fn some_symbol() {{}}\n").as_bytes());
            find_symbol(&text.unwrap(), "some_symbol").unwrap().is_definition
        };
        assert!(is_definition(MAX_MENTIONS));
        assert!(!is_definition(MAX_MENTIONS + 1));
        assert_eq!(MAX_MENTIONS, 500);
    }
}
