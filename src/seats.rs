//! Voices for seats.
//!
//! | file      | concept                                                                          |
//! |-----------|----------------------------------------------------------------------------------|
//! | `roster`  | which voices there are, and which may face each other                            |
//! | `row`     | how one model CLI is called, as data: `rows.toml`, and the user's own            |
//! | `cli`     | a turn spoken by a model CLI                                                     |
//! | `place`   | where it runs: a folder of its own, and a home where it needs one                 |
//! | `process` | one program, run to its end, and not beyond                                      |
//! | `stragglers` | what has left the group it was started in                                    |
//! | `heard`   | what a model CLI prints                                                          |
//! | `fault`   | why a tool did not answer                                                        |
//! | `service` | how one HTTP API is spoken to, as data: `apis.toml`, and the user's own           |
//! | `api`     | a turn spoken by an HTTP API                                                     |
//! | `wire`    | what is sent to an HTTP API, and what comes back                                 |
//! | `http`    | one request, and what comes back of it, within bounds                            |
//! | `rebuff`  | why a service did not answer                                                     |
//! | `patience`| how often a seat is asked, and how long is waited in between                     |
//! | `per_effort` | what may differ with how hard a tool is to think                              |
//! | `prices`  | what models cost, as the user has looked it up                                   |
//! | `proof`   | what a turn has to admit about who spoke                                         |
//! | `script`  | what is said is written down beforehand                                          |
//! | `demo`    | the script that comes with the program, about whatever repository it stands in   |
mod api;
mod cli;
pub mod demo;
mod fault;
pub mod heard;
mod http;
mod patience;
mod per_effort;
mod place;
mod prices;
mod process;
mod proof;
pub mod rebuff;
mod roster;
pub mod row;
mod script;
mod service;
mod stragglers;
pub mod wire;

pub use cli::Surroundings;
pub use prices::Prices;
pub use roster::{Kit, Roster};
