//! Finds a code symbol in a tree. Prefers its definition to a mention.
use super::lookup::{Answer, Lookup};
use super::text::Text;
use super::{contents, names};
use crate::debate::CitationStatus;
use crate::repo::RepoError;

/// Keywords before the name in a definition.
const DEFINES: &[&str] = &[
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
const USES: &[&str] = &[
    "return", "if", "while", "else", "await", "new", "throw", "case", "in", "not", "and", "or",
    "assert", "yield", "use", "import", "from", "match", "for", "unless", "when", "do",
];

/// Maximum number of files searched for a definition after a mention was found.
const MOST_READ: usize = 400;
/// Maximum number of mentions checked per file.
const MOST_MENTIONS: usize = 500;

/// An occurrence of a symbol in a file.
struct Stands {
    line: u32,
    defined: bool,
}

impl Lookup<'_> {
    /// Looks up a symbol: first in the files the debate is about, then by the Bloom index.
    pub(super) fn name(&mut self, name: &str, offered: bool) -> Result<Answer, RepoError> {
        let files = self.tree.view.files();
        let preferred =
            self.scope.prefer.iter().filter_map(|path| {
                files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()
            });
        let preferred: Vec<usize> = preferred.collect();
        let mut mention = None;
        if let Some(answer) = self.defined(name, &preferred, &mut mention) {
            return Ok(answer);
        }
        if let Some(contents) = self.contents()? {
            let words = contents::words_of_name(name);
            if words.is_empty() {
                return Ok(Answer::new(CitationStatus::TooShort));
            }
            let candidates = contents.may_hold(&words);
            if let Some(answer) = self.defined(name, &candidates, &mut mention) {
                return Ok(answer);
            }
        } else if mention.is_none() {
            return Ok(Answer::new(CitationStatus::NotSearched));
        }
        Ok(match mention {
            Some(at) => Answer::new(CitationStatus::ElsewhereInRepo).at(at).note("mentioned"),
            None if offered => Answer::new(CitationStatus::NotFound),
            None => Answer::new(CitationStatus::Unchecked).note("not in this repository"),
        })
    }

    /// Finds the first file that defines the symbol. Stores the first mention in `mention`.
    fn defined(&self, name: &str, files: &[usize], mention: &mut Option<String>) -> Option<Answer> {
        for (read, nth) in files.iter().enumerate() {
            if self.excepted(*nth) || mention.is_some() && read >= MOST_READ {
                continue;
            }
            let Some(stands) = self.probe(*nth).and_then(|text| stands(&text, name)) else {
                continue;
            };
            let at = format!("{}:{}", self.path(*nth), stands.line);
            if stands.defined {
                return Some(Answer::new(CitationStatus::ElsewhereInRepo).at(at).note("defined"));
            }
            mention.get_or_insert(at);
        }
        None
    }
}

/// Finds a symbol in a file. For a qualified symbol all its parts must occur.
fn stands(text: &Text, name: &str) -> Option<Stands> {
    let parts: Vec<&str> = names::parts(name).filter(|part| !self_like(part)).collect();
    let last = parts.last()?;
    let all = parts.iter().all(|part| text.mentions(part, 1).next().is_some());
    let mut mentions = text.mentions(last, 1).take(MOST_MENTIONS).filter(|_| all);
    if let Some((line, _)) = mentions.find(|(_, at)| defines(text, *at, last)) {
        return Some(Stands { line, defined: true });
    }
    let whole = text.mentions(name, 1).next();
    // A mention needs the qualified symbol in one piece.
    whole.map(|(line, _)| Stands { line, defined: false })
}

fn self_like(part: &str) -> bool {
    matches!(part, "self" | "this" | "Self" | "crate" | "super")
}

/// Whether an occurrence is a definition, by the keywords before it.
fn defines(text: &Text, at: usize, name: &str) -> bool {
    let (before, after) = text.around(at);
    let after = &after[name.len().min(after.len())..];
    let trimmed = before.trim();
    if ["//", "#!", "* ", "--", "\"", "'"].iter().any(|mark| trimmed.starts_with(mark)) {
        return false;
    }
    let mut words = trimmed.rsplit(|c: char| !c.is_alphanumeric() && c != '_');
    let mut words = words.by_ref().filter(|word| !matches!(*word, "" | "mut" | "ref"));
    let nearest = words.next().unwrap_or_default();
    let adjoining = trimmed.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '!');
    if DEFINES.contains(&nearest) && adjoining {
        return true;
    }
    // A Go method has its receiver before the name. In other languages only a type may precede it.
    if trimmed.starts_with("func (") && trimmed.ends_with(')') {
        return true;
    }
    let typed = trimmed.chars().all(|c| c.is_alphanumeric() || "_ <>*&[]:,~".contains(c));
    let first = trimmed.split(' ').next().unwrap_or_default();
    let body = after.trim_start().starts_with('(') && after.trim_end().ends_with('{');
    body && typed && !USES.contains(&first) && !USES.contains(&nearest)
}
