//! The network's door: the arena's REST wire and the live page.
//!
//! | file      | concept                                                                    |
//! |-----------|----------------------------------------------------------------------------|
//! | `listen`  | connections: how many, how long, how large                                 |
//! | `serve`   | an arena that is served                                                    |
//! | `rest`    | its wire: who asks for what, and what is answered                          |
//! | `pace`    | how fast somebody may ask                                                  |
//! | `openapi` | the wire as a document                                                     |
//! | `tokens`  | what somebody shows who runs it, or may watch it                           |
mod listen;
pub mod openapi;
pub mod pace;
mod rest;
mod serve;
mod tokens;

pub use crate::arena::{Bench, Terms};
pub use rest::Doors;
pub use serve::{Server, Serving, Unserved};
