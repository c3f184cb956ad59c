//! `debate`: an MCP server and CLI that makes AI models debate a question, with checked citations,
//! before a person decides.
//!
//! The core is `debate` (pure state machine and event types) and `engine`, which runs a debate.
//! [`app::App`] has the use cases for all front ends: `cli`, `mcp` and `web` (`page` renders its HTML).
//!
//! Adapters behind the engine's ports: `providers` call models over CLIs and HTTP APIs, `brief`
//! builds the context for prompts, `repo` reads and pins Git trees, `evidence` validates citations,
//! `redact` removes secrets, `store` is the SQLite database and `formats_catalog` loads formats and
//! prompt templates.
//!
//! Features on top: `report` renders debates, `review` turns a debate about a change into findings,
//! `arena` hosts bots, `arena_client` joins other servers, `rating` and `tournament` rank models.
//! `clients` registers the MCP server in Claude Code and others, `config` reads settings and the
//! environment, `secure_fs` writes private files.
//!
//! ARCHITECTURE.md has the table of allowed dependencies between modules, which a test checks.
pub mod app;
pub mod arena;
mod arena_client;
pub mod brief;
pub mod cli;
pub mod clients;
pub mod config;
pub mod debate;
pub mod engine;
pub mod evidence;
pub mod formats_catalog;
pub mod mcp;
pub mod options;
pub mod page;
pub mod providers;
mod rating;
pub mod redact;
pub mod repo;
pub mod report;
mod review;
mod secure_fs;
mod startup;
pub mod store;
mod tournament;
pub mod web;

pub use startup::run;

#[cfg(test)]
extern crate self as debate_mcp;
#[cfg(test)]
#[allow(dead_code, reason = "the integration tests include these files, too")]
mod test_support;
