//! Voices for seats.
//!
//! | file      | concept                                                                          |
//! |-----------|----------------------------------------------------------------------------------|
//! | `roster`  | which voices there are, and which may face each other                            |
//! | `row`     | how one model CLI is called, as data: `rows.toml`, and the user's own            |
//! | `cli`     | a turn spoken by a model CLI                                                     |
//! | `process` | one program, run to its end, and not beyond                                      |
//! | `heard`   | what a model CLI prints                                                          |
//! | `fault`   | why a tool did not answer                                                        |
//! | `script`  | what is said is written down beforehand                                          |
//! | `demo`    | the script that comes with the program, about whatever repository it stands in   |
mod cli;
pub mod demo;
mod fault;
pub mod heard;
mod process;
mod roster;
pub mod row;
mod script;

pub use cli::Surroundings;
pub use roster::Roster;
