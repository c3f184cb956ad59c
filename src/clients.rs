//! The clients people debate from: what each is like, how it is set up, and what it is told.
//!
//! | file       | concept                                                                    |
//! |------------|----------------------------------------------------------------------------|
//! | `row`      | one client, as data (`clients.toml`)                                        |
//! | `ground`   | whose home it is, which repository, and which program is to be registered   |
//! | `commands` | what a user can type or pick, as every client wants it written              |
//! | `wiring`   | a client is set up, and the other way round                                 |
//! | `look`     | how it is set up                                                            |
//! | `plugin`   | the same as a plugin, for those who would rather install one                |
//! | `files`    | files that are somebody else's                                              |
//! | `jsonc`    | JSON as people keep it, with comments                                       |
//! | `tables`   | TOML as people keep it                                                      |
pub mod commands;
mod files;
mod ground;
mod jsonc;
mod look;
mod plugin;
mod row;
mod tables;
mod wiring;

pub use ground::Ground;
pub use look::{Look, Registered, Wrong, hidden, look};
pub use plugin::plugin;
pub use row::{Client, Scope, calling_itself, clients, state_files};
pub use wiring::{Deed, Step, Wish, free, unwire, wire};

/// What this program is called as a server, and by itself.
pub const SERVER: &str = "debate";
