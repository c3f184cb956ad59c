//! Makes AI coding tools argue, with checked evidence, before a person decides.
//!
//! One engine, several doors. `debate` is pure and knows what a debate is; `engine` drives one;
//! `catalogue` holds the formats and
//! their words; `seats` give it voices; `brief` says what it is about; `repo` pins what it is about; `evidence`
//! holds what is said against it; `redact` keeps secrets out of all of it; `store` keeps it;
//! `report` words it; `review` is what one about a change comes to; `cli` and `mcp` are doors; `clients` are the programs people come to them
//! from; `private` is how what they keep stays their owner's. Who may use whom is a table in ARCHITECTURE.md, and a test.
pub mod arena;
pub mod brief;
pub mod catalogue;
pub mod cli;
pub mod clients;
pub mod config;
pub mod debate;
pub mod engine;
pub mod evidence;
pub mod guest;
pub mod mcp;
pub mod page;
pub mod private;
pub mod rating;
pub mod redact;
pub mod repo;
pub mod report;
pub mod review;
pub mod seats;
pub mod store;
pub mod tournament;
pub mod web;
