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
mod client_spec;
pub mod commands;
mod inspect;
mod install;
mod jsonc_editor;
mod paths;
mod plugin;
mod toml_editor;
mod user_files;

pub use client_spec::{
    ClientSpec, InstallScope, clients, find_by_handshake_name, state_file_paths,
};
pub use inspect::{
    ClientInspection, LONGEST_CALL_SECS, MIN_CALL_TIMEOUT_SECS, RegistrationProblem,
    ServerRegistration, hidden_prompts, inspect,
};
pub use install::{
    FileAction, InstallOptions, InstallStep, plan_install, plan_repair, plan_uninstall,
};
pub use paths::ClientPaths;
pub use plugin::plugin_files;

/// Name of this program, also as an MCP server.
pub const SERVER_NAME: &str = "debate";
