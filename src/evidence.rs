//! Citations: parses references out of model text and looks them up in a pinned tree. A lookup
//! checks whether the cited text is there, never whether it supports a claim. There is no fuzzy
//! matching. Entry points: `extract` and `CitationChecker`.
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
//! | `lookup`             | looks up one reference in one tree                                  |
//! | `removed_lines`      | looks up text that a change under review deletes                    |
//! | `symbol_lookup`      | finds the definition of a symbol in a tree                          |
//! | `path_index`         | resolves a written path to a file of the tree                       |
//! | `quote_variants`     | normalized variants of a quote                                      |
//! | `parallel_find`      | searches many files on two threads                                  |
//! | `source_text`        | a file prepared for searching quotes and symbols                    |
//! | `bloom_index`        | Bloom filter index: which files may contain some words              |
//! | `index_cache`        | LRU cache of these indexes on disk                                  |
//! | `port`               | implements the engine's port for citations                          |
mod before;
mod checker;
mod contents;
mod entry;
mod fence;
mod kept;
mod line;
mod lookup;
mod markdown;
mod names;
mod paths;
mod place;
mod port;
mod quote;
mod reading;
mod stated;
mod symbol;
mod tags;
mod text;
mod through;

use crate::debate::BaseTree;
pub use checker::Checker;
pub use reading::{read, read_about, read_text};
pub use tags::strip_tags;

/// A parsed citation before lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Text as written, up to 300 characters.
    pub raw: String,
    /// Id of the claim whose evidence holds it. None in prose.
    pub claim: Option<String>,
    /// Whether it was given as evidence, and not only mentioned in prose.
    pub offered: bool,
    /// What it refers to.
    pub cited: Cited,
}

/// What a reference refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cited {
    /// A path, with optional line numbers and quoted text.
    Place(Place),
    /// A code symbol, anywhere in the tree.
    Name(String),
    /// A commit id or a prefix of one.
    Commit(String),
    /// Something that cannot be looked up in the tree.
    Stated(Stated),
}

/// A cited path, with the text claimed to be there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Path as written, with `/` as separator.
    pub path: String,
    /// First and last line, 1-based, in ascending order.
    pub lines: Option<(u32, u32)>,
    /// Text claimed to be at this location.
    pub words: Option<Words>,
    /// Whether it is certainly meant as a path. `application/json` may be something else.
    pub sure: bool,
}

/// Text claimed to be at a location.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Words {
    /// Code or prose, compared without white space. Cut at 60,000 characters.
    Quote(String),
    /// A symbol, which must occur as a whole word.
    Name(String),
}

/// Kind of reference that cannot be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stated {
    /// A web address.
    Address,
    /// A document, or anything else outside the repository.
    Document,
    /// Benchmark figures.
    Benchmark,
    /// Figures the author claims to have measured, without the output of the run.
    BareBenchmark,
}

/// Options of a lookup.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// Paths the debate is about. They win if a partial path is ambiguous.
    pub prefer: &'a [String],
    /// Folder that relative paths start from, below the root. Empty, or ends in `/`.
    pub folder: &'a str,
    /// Path that never counts as a source: the file being checked.
    pub except: Option<&'a str>,
    /// Base folder with the old versions of the changed files, if the tree is that of a change.
    pub was: Option<&'a BaseTree>,
    /// Whether a missing index is built.
    pub search: Search,
}

/// How to search the whole tree for text that is not at its cited location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Build the index if it is not cached.
    Whole,
    /// Search only if the index is cached already.
    Known,
}

impl Place {
    /// The quote or symbol as written.
    pub fn words(&self) -> Option<&str> {
        self.words.as_ref().map(|words| match words {
            Words::Quote(text) | Words::Name(text) => text.as_str(),
        })
    }
}
