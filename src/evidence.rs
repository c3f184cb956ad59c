//! Citations: parses references out of model text and looks them up in a pinned tree. A lookup
//! checks whether the cited text is there, never whether it supports a claim. There is no fuzzy
//! matching. Entry points: `extract_with_files` and `CitationChecker`.
//!
//! | file                 | concept                                                             |
//! |----------------------|---------------------------------------------------------------------|
//! | `extract`            | all references of a turn or text, in order, without duplicates      |
//! | `evidence_entry`     | parser for one evidence entry of a claim                            |
//! | `prose_line`         | parser for one line of prose                                        |
//! | `fenced_block`       | parser for the origin of a fenced code block                        |
//! | `markdown`           | splits Markdown into fences, lines and inline code                  |
//! | `location`           | parser for a path with optional line numbers                        |
//! | `symbol_names`       | recognizes code symbols and commit ids                              |
//! | `unverifiable`       | recognizes URLs and benchmark figures                               |
//! | `verification_marks` | strips marks by which a model claims that its citations are checked |
//! | `checker`            | `CitationChecker`, with a cache of the last tree                    |
//! | `loaded_tree`        | a tree with its file list and indexes                               |
//! | `lookup`             | looks up one reference in one tree                                  |
//! | `quote_spot`         | finds the cited text in one file, near its cited lines              |
//! | `tree_search`        | searches the tree for a misplaced or common quote                   |
//! | `removed_lines`      | looks up text that a change under review deletes                    |
//! | `symbol_lookup`      | finds the definition of a symbol in a tree                          |
//! | `path_index`         | resolves a written path to a file of the tree                       |
//! | `quote_variants`     | normalized variants of a quote                                      |
//! | `parallel_find`      | searches many files on two threads                                  |
//! | `source_text`        | a file prepared for searching quotes and symbols                    |
//! | `bloom_index`        | Bloom filter index: which files may contain some words              |
//! | `index_cache`        | LRU cache of these indexes on disk                                  |
//! | `port`               | implements the engine's port for citations                          |
//! | `test_lookup`        | test fixture: loads a tree, and references to look up               |
mod bloom_index;
mod checker;
mod evidence_entry;
mod extract;
mod fenced_block;
mod index_cache;
mod loaded_tree;
mod location;
mod lookup;
mod markdown;
mod parallel_find;
mod path_index;
mod port;
mod prose_line;
mod quote_spot;
mod quote_variants;
mod removed_lines;
mod source_text;
mod symbol_lookup;
mod symbol_names;
#[cfg(test)]
mod test_lookup;
#[cfg(test)]
mod tests;
mod tree_search;
mod unverifiable;
mod verification_marks;

use crate::debate::BaseTree;
pub use checker::CitationChecker;
pub use extract::{extract_from_text, extract_with_files};
pub use verification_marks::strip_verification_marks;

/// A parsed citation before lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Text as written, up to 300 characters.
    pub raw: String,
    /// Id of the claim whose evidence holds it. None in prose.
    pub claim: Option<String>,
    /// Whether it was given as evidence, and not only mentioned in prose.
    pub is_evidence: bool,
    /// What it refers to.
    pub target: CitedTarget,
}

/// What a reference refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CitedTarget {
    /// A path, with optional line numbers and quoted text.
    Location(CitedLocation),
    /// A code symbol, anywhere in the tree.
    Symbol(String),
    /// A commit id or a prefix of one.
    Commit(String),
    /// Something that cannot be looked up in the tree.
    Unverifiable(UnverifiableKind),
}

/// A cited path, with the text claimed to be there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CitedLocation {
    /// Path as written, with `/` as separator.
    pub path: String,
    /// First and last line, 1-based, in ascending order.
    pub lines: Option<(u32, u32)>,
    /// Text claimed to be at this location.
    pub text: Option<CitedText>,
    /// Whether it is certainly meant as a path. `application/json` may be something else.
    pub certain: bool,
}

/// Text claimed to be at a location.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CitedText {
    /// Code or prose, compared without white space. Cut at 60,000 characters.
    Quote(String),
    /// A symbol, which must occur as a whole word.
    Symbol(String),
}

/// Kind of reference that cannot be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnverifiableKind {
    /// A web address.
    Url,
    /// A document, or anything else outside the repository.
    Document,
    /// Benchmark figures.
    Benchmark,
    /// Figures the author claims to have measured, without the output of the run.
    BenchmarkWithoutOutput,
}

/// Options of a lookup.
#[derive(Debug, Clone, Copy)]
pub struct LookupScope<'a> {
    /// Paths the debate is about. They win if a partial path is ambiguous.
    pub preferred_paths: &'a [String],
    /// Folder that relative paths start from, below the root. Empty, or ends in `/`.
    pub folder: &'a str,
    /// Path that never counts as a source: the file being checked.
    pub excluded_path: Option<&'a str>,
    /// Base folder with the old versions of the changed files, if the tree is that of a change.
    pub base: Option<&'a BaseTree>,
    /// Whether a missing index is built.
    pub search: SearchMode,
}

/// How to search the whole tree for text that is not at its cited location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    /// Build the index if it is not cached.
    BuildIndex,
    /// Search only if the index is cached already.
    CachedIndexOnly,
}

impl CitedLocation {
    /// The quote or symbol as written.
    pub fn text_str(&self) -> Option<&str> {
        self.text.as_ref().map(|cited| match cited {
            CitedText::Quote(text) | CitedText::Symbol(text) => text.as_str(),
        })
    }
}
