//! Keeps debates: the archive is the truth, everything else is written from it.
//!
//! | file         | concept                                                                       |
//! |--------------|-------------------------------------------------------------------------------|
//! | `archive`    | one SQLite file: what the engine asks of an archive                           |
//! | `schema`     | its tables, and how older ones become newer ones                              |
//! | `log`        | appending an event, durably, by whoever holds the lease                       |
//! | `lease`      | one writer per debate, across processes                                       |
//! | `lookout`    | what other processes want of the debates this one holds                       |
//! | `wishes`     | what is wished of a debate another process plays                              |
//! | `upkeep`     | whether the archive is sound, and what can be rebuilt of it                   |
//! | `project`    | the tables people query, rebuilt from the events at any time                  |
//! | `search`     | lists and full text                                                           |
//! | `exports`    | the files people read, written after every turn, off the hot path             |
//! | `state_file` | `last-debate.json`                                                            |
//! | `foreign`    | files from outside, and how far they are believed                             |
//! | `left`       | state files that lie in a repository                                          |
//! | `sign`       | how a log is known to be this user's own                                      |
//! | `live_text`  | what is being said right now, for other processes                             |
//! | `files`      | whole files or none, private where they should be                             |
mod archive;
mod exports;
mod files;
mod foreign;
mod lease;
mod left;
mod live_text;
mod log;
mod lookout;
mod project;
mod schema;
mod search;
mod sign;
pub mod state_file;
mod upkeep;
mod wishes;

pub use archive::SqliteArchive;
