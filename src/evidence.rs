//! Citations: read from a text, and looked up in a pinned tree. What is looked up is whether the
//! words stand there, never whether they support anything. Nothing is matched by likeness.
//!
//! | file       | concept                                                              |
//! |------------|----------------------------------------------------------------------|
//! | `reading`  | everything a turn or a text cites, in order, once                    |
//! | `entry`    | one evidence entry of a claim                                        |
//! | `line`     | one line of prose: places, quotes, names, and what belongs to what   |
//! | `fence`    | a fenced block, and the place it is said to be from                  |
//! | `markdown` | fences and inline code                                               |
//! | `place`    | a path, perhaps with lines                                           |
//! | `names`    | names of code and ids of commits                                     |
//! | `stated`   | what can only be stated here: addresses, benchmarks                  |
//! | `tags`     | marks a model writes to pretend that it was checked                  |
//! | `checker`  | looks references up, and remembers the tree looked into last         |
//! | `lookup`   | one reference in one tree                                            |
//! | `before`   | words a change takes away                                            |
//! | `symbol`   | a name in one tree                                                   |
//! | `paths`    | which file a written path means                                      |
//! | `quote`    | what is quoted, in the ways it may be meant                          |
//! | `through`  | the first of many files that holds something                         |
//! | `text`     | a file, to find quotes and names in                                  |
//! | `contents` | which files of a tree may hold some words                            |
//! | `kept`     | such indexes on disk                                                 |
//! | `port`     | the same, as the engine asks for it                                  |
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

use crate::debate::Was;
pub use checker::Checker;
pub use reading::{read, read_about, read_text};
pub use tags::strip_tags;

/// What was cited, before it is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// As it was written, up to 300 characters.
    pub raw: String,
    /// The claim it was offered for, if it stood in one's evidence.
    pub claim: Option<String>,
    /// Whether it was offered as evidence; otherwise it only stands in the prose.
    pub offered: bool,
    /// What it names.
    pub cited: Cited,
}

/// What a reference names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cited {
    /// A path, perhaps with lines and with words that are said to stand there.
    Place(Place),
    /// A name of code, wherever it is.
    Name(String),
    /// A commit, by the beginning of its id.
    Commit(String),
    /// Something that cannot be looked up here.
    Stated(Stated),
}

/// A path, and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// As written, with `/` between names.
    pub path: String,
    /// The first and the last line, in this order.
    pub lines: Option<(u32, u32)>,
    /// What is said to stand there.
    pub words: Option<Words>,
    /// Whether it can only have been meant as a path: `application/json` can be something else.
    pub sure: bool,
}

/// What is said to stand at a place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Words {
    /// Code or prose, as it stands there but for white space. Up to 4,000 characters.
    Quote(String),
    /// A name, which has to stand there as a word of its own.
    Name(String),
}

/// What can only be stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stated {
    /// An address.
    Address,
    /// A document, or whatever else is no place in the repository.
    Document,
    /// Figures.
    Benchmark,
    /// Figures said to have been measured here, without what the measuring printed.
    BareBenchmark,
}

/// Where and how far to look.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// Paths the debate is about: where a partial path fits several files, one of these is meant.
    pub prefer: &'a [String],
    /// Where whoever wrote it stands, below the root: empty, or ending in `/`.
    pub folder: &'a str,
    /// A path that is never a source: the file that is being checked.
    pub except: Option<&'a str>,
    /// What a change touches as it was before, if the tree is that of a change.
    pub was: Option<&'a Was>,
    /// How far to look.
    pub search: Search,
}

/// How far to look for what is not where it was said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Through the whole tree, even if it has to be indexed first.
    Whole,
    /// Through the whole tree only if it is indexed already.
    Known,
}

impl Place {
    /// The quote or name, as it was written.
    pub fn words(&self) -> Option<&str> {
        self.words.as_ref().map(|words| match words {
            Words::Quote(text) | Words::Name(text) => text.as_str(),
        })
    }
}
