//! The network's door.
//!
//! | file      | concept                                                                          |
//! |-----------|----------------------------------------------------------------------------------|
//! | `site`    | the live page: which address shows what, and to whom                             |
//! | `pages`   | what is read of the archive for a page                                           |
//! | `follow`  | debates that are watched: one task for each, however many watch                  |
//! | `stream`  | what one viewer is sent, and how it catches up                                   |
//! | `actions` | what is done about a form that was sent                                          |
//! | `entry`   | who may act, and who may read                                                    |
//! | `guard`   | which requests are looked at at all                                              |
//! | `assets`  | script, style and picture, part of the program                                   |
//! | `sorry`   | what is answered where something is not to be had                                |
mod actions;
pub mod assets;
pub mod entry;
pub mod follow;
pub mod guard;
mod pages;
pub mod site;
mod sorry;
mod stream;

use crate::debate::Unfit;
use crate::engine::Stored;
use crate::page;

/// A debate as one file that needs nothing else.
pub fn export(stored: &Stored) -> Result<String, Unfit> {
    let story = page::story::Story::of(stored, None)?;
    Ok(page::export::export(&story, assets::STYLE).into_string())
}
