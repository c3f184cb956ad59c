//! Storage of debates in one SQLite database. The event log is the source of truth; query tables,
//! state file and Markdown record are projections of it. The entry point is [`SqliteArchive`].
//!
//! | module            | what it does                                                             |
//! |-------------------|--------------------------------------------------------------------------|
//! | `archive`         | implements the engine's ports of the archive on SQLite                   |
//! | `database`        | connections, each behind a mutex                                         |
//! | `debate_rows`     | reads a debate from its rows                                             |
//! | `schema`          | tables, indexes and migrations                                           |
//! | `log`             | appends events in a transaction that checks the lease                    |
//! | `lease`           | one writer per debate, across processes                                  |
//! | `lease_monitor`   | thread that polls for lost leases and queued commands; heartbeats        |
//! | `command_queue`   | commands for a debate that another process runs                          |
//! | `maintenance`     | integrity check and rebuild of the projections                           |
//! | `projections`     | query tables derived from the events                                     |
//! | `search`          | lists and full-text search                                               |
//! | `exports`         | thread that writes state files, records and reports; port for files      |
//! | `state_file`      | format of `last-debate.json`                                             |
//! | `foreign`         | parses imported files; trusts only logs with a valid signature           |
//! | `state_file_scan` | finds state files in a repository                                        |
//! | `sign`            | HMAC signatures of event logs, and tokens, with the user's key           |
//! | `live_text`       | partial text of running turns, for other processes                       |
//! | `files`           | atomic writes, private files, file names                                 |
mod archive;
mod command_queue;
mod database;
mod debate_rows;
mod exports;
mod files;
mod foreign;
mod lease;
mod lease_monitor;
mod live_text;
mod log;
mod maintenance;
mod projections;
mod schema;
mod search;
mod sign;
pub mod state_file;
mod state_file_scan;

pub use archive::SqliteArchive;

#[cfg(test)]
mod tests;
