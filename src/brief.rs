//! What debaters are given besides the topic, read from the repository and from nowhere else.
//!
//! | file      | concept                                                        |
//! |-----------|----------------------------------------------------------------|
//! | `wanted`  | what is wanted, as users write it                              |
//! | `gather`  | each wish becomes pieces, and what was chosen is said          |
//! | `auto`    | what a topic asks for of itself                                |
//! | `gathered` | what comes of it                                              |
//! | `ground`  | where contents come from: the pinned tree, or the disk         |
//! | `topic`   | what a topic speaks of, by its words                           |
//! | `libraries` | what a topic names and a manifest depends on                 |
//! | `symbols` | where something is defined: a search that ends in time         |
//! | `files`   | one file: whole, some lines of it, or its outline              |
//! | `outline` | headings, signatures, guards                                   |
//! | `tree`    | files with their sizes, folders summed up                      |
//! | `review`  | a diff: all that changed by name, and hunks to choose from     |
//! | `reviewed` | a change under review, and what is said about it              |
//! | `hidden`  | text people do not see and models do                           |
//! | `look`    | what changed files come to, looked at by two at once           |
//! | `risk`    | how much a hunk is worth reading                               |
//! | `kind`    | what sort of file something is                                 |
//! | `pack`    | what fits into the budget                                      |
//! | `compose` | the brief itself                                               |
//! | `page`    | numbered lines, cut where they are long, and counted           |
//! | `port`    | the same, as the engine asks for it                            |
mod auto;
mod compose;
mod files;
mod gather;
mod gathered;
mod ground;
mod hidden;
mod kind;
mod libraries;
mod look;
mod outline;
mod pack;
mod page;
mod port;
mod review;
mod reviewed;
mod risk;
mod symbols;
mod topic;
mod tree;
mod wanted;

pub use gather::gather;
pub use gathered::{BriefError, Gathered, Given, Omitted};
pub use port::FromRepository;
pub use reviewed::Reviewed;
pub use wanted::{BadWish, Wanted};
