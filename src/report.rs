//! What people and programs read of a debate.
//!
//! | file      | concept                                                                          |
//! |-----------|----------------------------------------------------------------------------------|
//! | `verdict` | what was ruled, under the names of the sides                                     |
//! | `court`   | what marks, votes and admissions add to it                                       |
//! | `summary` | the result, verdict first                                                        |
//! | `dialogue` | what a dialogue comes to: insights and the user's decision                      |
//! | `research` | what a research comes to: its report                                            |
//! | `people`  | who takes part, and under which names                                            |
//! | `participation` | proof of who took part                                                   |
//! | `ledger`  | each side's account                                                              |
//! | `record`  | the whole debate as one Markdown file                                            |
//! | `papers`  | marks, petitions, admissions and votes as they can be read                       |
//! | `plan`    | what a user confirms before anything is spent                                    |
//! | `view`    | the whole debate as JSON                                                         |
//! | `aloud`   | a reply shown while it is being written                                          |
//! | `format`  | a format as it can be read                                                       |
//! | `gist`    | how it stands, in five lines at most                                            |
//! | `text`    | somebody else's text inside ours                                                 |
pub mod aloud;
pub mod court;
pub mod dialogue;
pub mod format;
pub mod gist;
pub mod ledger;
pub mod papers;
pub mod participation;
pub mod people;
pub mod plan;
pub mod record;
pub mod research;
pub mod summary;
pub mod text;
pub mod verdict;
pub mod view;

/// Milliseconds since 1970 as people write them.
pub fn iso(at: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}
