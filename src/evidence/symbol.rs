//! A name of code, somewhere in a tree: best where it is defined.
use super::lookup::{Answer, Lookup};
use super::text::Text;
use super::{contents, names};
use crate::debate::Found;
use crate::repo::RepoError;

/// Words a definition has before the name.
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

/// Words that stand before a name that is used.
const USES: &[&str] = &[
    "return", "if", "while", "else", "await", "new", "throw", "case", "in", "not", "and", "or",
    "assert", "yield", "use", "import", "from", "match", "for", "unless", "when", "do",
];

/// Files that are read for a definition once a mention was found.
const MOST_READ: usize = 400;
/// Mentions in one file that are looked at.
const MOST_MENTIONS: usize = 500;

/// Where a name stands in a file.
struct Stands {
    line: u32,
    defined: bool,
}

impl Lookup<'_> {
    /// What a name comes to: in the files the debate is about, then anywhere.
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
                return Ok(Answer::new(Found::TooShort));
            }
            let candidates = contents.may_hold(&words);
            if let Some(answer) = self.defined(name, &candidates, &mut mention) {
                return Ok(answer);
            }
        } else if mention.is_none() {
            return Ok(Answer::new(Found::NotSearched));
        }
        Ok(match mention {
            Some(at) => Answer::new(Found::ElsewhereInRepo).at(at).note("mentioned"),
            None if offered => Answer::new(Found::NotFound),
            None => Answer::new(Found::Unchecked).note("not in this repository"),
        })
    }

    /// The first of some files that defines a name. The first that only mentions it is kept.
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
                return Some(Answer::new(Found::ElsewhereInRepo).at(at).note("defined"));
            }
            mention.get_or_insert(at);
        }
        None
    }
}

/// Where a name stands in a file. A name of several parts may stand there in one piece, or all of
/// its parts do.
fn stands(text: &Text, name: &str) -> Option<Stands> {
    let parts: Vec<&str> = names::parts(name).filter(|part| !self_like(part)).collect();
    let last = parts.last()?;
    let all = parts.iter().all(|part| text.mentions(part, 1).next().is_some());
    let mut mentions = text.mentions(last, 1).take(MOST_MENTIONS).filter(|_| all);
    if let Some((line, _)) = mentions.find(|(_, at)| defines(text, *at, last)) {
        return Some(Stands { line, defined: true });
    }
    let whole = text.mentions(name, 1).next();
    // Parts in one file that are never together are no mention of the whole.
    whole.map(|(line, _)| Stands { line, defined: false })
}

fn self_like(part: &str) -> bool {
    matches!(part, "self" | "this" | "Self" | "crate" | "super")
}

/// Whether a mention is a definition, by the words before it.
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
    // A method of Go has its receiver in between, one of other languages only its type before it.
    if trimmed.starts_with("func (") && trimmed.ends_with(')') {
        return true;
    }
    let typed = trimmed.chars().all(|c| c.is_alphanumeric() || "_ <>*&[]:,~".contains(c));
    let first = trimmed.split(' ').next().unwrap_or_default();
    let body = after.trim_start().starts_with('(') && after.trim_end().ends_with('{');
    body && typed && !USES.contains(&first) && !USES.contains(&nearest)
}
