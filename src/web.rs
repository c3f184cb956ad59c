//! The network's door: the arena's REST wire, and the live page.
//!
//! | file      | concept                                                                          |
//! |-----------|----------------------------------------------------------------------------------|
//! | `listen`  | connections: how many, how long, how large                                       |
//! | `guard`   | which requests are looked at at all                                              |
//! | `entry`   | who may act, and who may read                                                    |
//! | `serve`   | an arena that is served, with its page                                           |
//! | `rest`    | its wire: who asks for what, and what is answered                                |
//! | `pace`    | how fast somebody may ask                                                        |
//! | `openapi` | the wire as a document                                                           |
//! | `site`    | the live page: which address shows what, and to whom                             |
//! | `pages`   | what is read of the archive for a page                                           |
//! | `follow`  | debates that are watched: one task for each, however many watch                  |
//! | `stream`  | what one viewer is sent, and how it catches up                                   |
//! | `actions` | what is done about a form that was sent                                          |
//! | `assets`  | script, style and picture, part of the program                                   |
//! | `sorry`   | what is answered where something is not to be had                                |
mod actions;
pub mod assets;
pub mod entry;
pub mod follow;
pub mod guard;
mod listen;
pub mod openapi;
pub mod pace;
mod pages;
mod rest;
mod serve;
pub mod site;
mod sorry;
mod stream;

pub use crate::arena::{Bench, Terms};
pub use listen::listen;
pub use serve::{Server, Serving, Unserved};

use crate::debate::Unfit;
use crate::engine::Stored;
use crate::page;

/// A debate as one file that needs nothing else.
pub fn export(stored: &Stored) -> Result<String, Unfit> {
    let story = page::story::Story::of(stored, None)?;
    Ok(page::export::export(&story, assets::STYLE).into_string())
}
