//! Sets up MCP clients (Claude Code, Codex CLI and others): registers this server in their settings
//! files and installs slash commands. All edits keep comments and formatting.
//!
//! | file            | concept                                                        |
//! |-----------------|----------------------------------------------------------------|
//! | `client_spec`   | `ClientSpec`: one client as data, parsed from `clients.toml`   |
//! | `paths`         | home, repository and program paths, with environment overrides |
//! | `commands`      | slash commands and server prompts, rendered for each client    |
//! | `install`       | plans and applies installation and removal                     |
//! | `inspect`       | diagnoses an existing installation                             |
//! | `plugin`        | the same as a Claude Code plugin                               |
//! | `user_files`    | atomic writes and backups of the user's files                  |
//! | `jsonc_editor`  | edits JSON with comments in place                              |
//! | `toml_editor`   | edits TOML in place                                            |
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

/// Name of this program, also as an MCP server.
pub const SERVER: &str = "debate";
