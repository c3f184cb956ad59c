//! One binary for all of it: `scene` builds debates, `players` and `chaos` play them, `grammar`
//! makes up tables nobody has thought of, and the rest say what must hold, by table where a table
//! can say it.
#![allow(clippy::unwrap_used)]
mod amend;
mod asked;
mod chaos;
mod claims;
mod cli_archive;
mod cli_duel;
mod cli_failures;
mod cli_hostile;
mod cli_human;
mod cli_json;
mod cli_processes;
mod cli_refused;
mod cli_resume;
mod cli_state_file;
mod cli_usage;
mod course;
mod digest;
mod engine;
mod failures;
mod golden;
mod grammar;
mod hearing;
mod host;
mod kill;
mod lab;
mod mask;
mod mcp_duel;
mod players;
mod prompt;
mod properties;
mod reply;
mod rules;
mod salvage;
mod scene;
mod seat;
mod standing;
mod store;
mod template;
mod text;
mod tidy;
mod tribunal;
mod verdict;
mod voices;
