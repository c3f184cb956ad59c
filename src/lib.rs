//! Makes AI coding tools argue, with checked evidence, before a person decides.
//!
//! One engine, several doors. `debate` is pure and knows what a debate is; `engine` drives one;
//! `seats` give it voices; `store` keeps it; `report` words it; `cli` is a door. Who may use whom is
//! a table in ARCHITECTURE.md, and a test.
pub mod cli;
pub mod config;
pub mod debate;
pub mod engine;
pub mod prompts;
pub mod report;
pub mod seats;
pub mod store;
