//! Voices for seats.
//!
//! | file     | concept                                                                           |
//! |----------|-----------------------------------------------------------------------------------|
//! | `roster` | which voices there are, and which may face each other                             |
//! | `script` | what is said is written down beforehand                                           |
//! | `demo`   | the script that comes with the program, about whatever repository it stands in    |
pub mod demo;
mod roster;
mod script;

pub use roster::Roster;
