//! One binary for all of it: `scene` builds debates, `players` and `chaos` play them, `grammar`
//! makes up tables nobody has thought of, and the rest say what must hold, by table where a table
//! can say it.
#![allow(clippy::unwrap_used)]
mod amend;
mod asked;
mod chaos;
mod claims;
mod course;
mod digest;
mod failures;
mod grammar;
mod hearing;
mod mask;
mod players;
mod prompt;
mod properties;
mod reply;
mod rules;
mod salvage;
mod scene;
mod seat;
mod standing;
mod template;
mod tribunal;
mod verdict;
