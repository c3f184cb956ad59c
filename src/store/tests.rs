//! Tests of the store.
//!
//! | file               | content                                                                   |
//! |--------------------|---------------------------------------------------------------------------|
//! | `archive_contract` | what every archive must do, run against SQLite and against memory         |
//! | `sqlite_archive`   | what only the SQLite archive does: records, schema version, projections   |
//! | `exports`          | tables, state files and reports                                           |
mod archive_contract;
mod exports;
mod sqlite_archive;
