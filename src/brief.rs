//! Builds the brief: repository context that goes into the prompts besides the topic.
//! `build_brief` takes a parsed `BriefSelection`, reads the pinned tree and packs the most relevant
//! parts into a token budget.
//!
//! | file                | concept                                                            |
//! |---------------------|--------------------------------------------------------------------|
//! | `selection`         | parser of the `--context` syntax                                   |
//! | `builder`           | turns each selected item into pieces, and logs what it picked      |
//! | `auto`              | `auto`: selects files, symbols and diffs by the topic              |
//! | `repository_brief`  | the result and its errors                                          |
//! | `source_tree`       | reads files from the pinned tree, or from disk                     |
//! | `topic_hints`       | finds file names, symbols and key words in the topic               |
//! | `libraries`         | finds dependencies the topic mentions                              |
//! | `symbols`           | searches definitions and uses of symbols, with a timeout           |
//! | `file_excerpt`      | one file: full text, a line range, or its outline                  |
//! | `outline`           | headings, signatures and guards of a file                          |
//! | `file_tree`         | file tree with sizes                                               |
//! | `diff`              | a diff: list of changed files, and hunks                           |
//! | `change_context`    | a change under review, with its description and design documents   |
//! | `hidden_text`       | strips text that models see and people do not                      |
//! | `hunk_reader`       | reads the hunks of many files on two threads                       |
//! | `hunk_pieces`       | renders the hunks of a file                                        |
//! | `risk`              | scores hunks by how much they are worth reading                    |
//! | `file_kind`         | classifies files by path and header                                |
//! | `pack`              | greedy packing of pieces into the token budget                     |
//! | `compose`           | writes the text of the brief                                       |
//! | `text_format`       | line numbers, truncation, token estimates                          |
//! | `port`              | implements the engine's `BriefSource` and `SnapshotProvider` ports |
mod auto;
mod builder;
mod change_context;
mod compose;
mod diff;
mod file_excerpt;
mod file_kind;
mod file_tree;
mod hidden_text;
mod hunk_pieces;
mod hunk_reader;
mod libraries;
mod outline;
mod pack;
mod port;
mod repository_brief;
mod risk;
mod selection;
mod source_tree;
mod symbols;
#[cfg(test)]
mod tests;
mod text_format;
mod topic_hints;

pub use builder::build_brief;
pub use port::RepositorySource;
pub use repository_brief::{BriefDetail, BriefError, BriefOmission, RepositoryBrief};
pub use selection::{BriefSelection, ChangeContext, SelectionError};
