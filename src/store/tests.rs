//! Tests of the store.
//!
//! | file               | content                                                                   |
//! |--------------------|---------------------------------------------------------------------------|
//! | `archive_contract` | what every archive must do, run against SQLite and against memory         |
mod archive_contract;
