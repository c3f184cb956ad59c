//! What people and programs read of a debate.
//!
//! | file      | concept                                                                          |
//! |-----------|----------------------------------------------------------------------------------|
//! | `verdict` | what was ruled, under the names of the sides                                     |
//! | `summary` | the result, verdict first                                                        |
//! | `participation` | proof of who took part                                                   |
//! | `record`  | the whole debate as one Markdown file                                            |
//! | `view`    | the whole debate as JSON                                                         |
//! | `aloud`   | a reply shown while it is being written                                          |
//! | `text`    | somebody else's text inside ours                                                 |
pub mod aloud;
pub mod ledger;
pub mod participation;
pub mod record;
pub mod summary;
pub mod text;
pub mod verdict;
pub mod view;

/// Milliseconds since 1970 as people write them.
pub fn iso(at: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}
