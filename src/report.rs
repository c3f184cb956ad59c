//! Renders a debate for people and programs: summaries, Markdown records, text and JSON views.
//!
//! All functions are pure: they read a `Debate` and return text or a serializable view. HTML is
//! rendered in `crate::page`, which reuses many of these parts.
//!
//! | module | content |
//! |---|---|
//! | `summary` | the result as Markdown, verdict first |
//! | `summary_header` | topic, participants, rounds and status above every summary |
//! | `verdict` | the verdict as a view, with the real names of the sides |
//! | `court` | round marks, votes, fouls called by judges, and admissions, added to a verdict |
//! | `court_summary` | the same as Markdown |
//! | `unmask` | real names of the sides in the text of a judge |
//! | `dialogue` | the result of a dialogue: insights and the user's decision |
//! | `research` | the report of a research debate |
//! | `record` | the whole debate as one Markdown file |
//! | `ledger` | each side's claims and what became of them |
//! | `structured_reply` | marks, petitions, admissions, votes and sealed replies as text |
//! | `participation` | table of the tool, model, tokens and cost of every turn |
//! | `participants` | names of seats, models and speakers |
//! | `plan` | the plan a user confirms before any model is called |
//! | `view` | the whole debate as JSON |
//! | `short_status` | the status in five lines |
//! | `stream_preview` | readable part of a reply while it is streamed |
//! | `format_description` | a format as text |
//! | `sanitize` | sanitizers for text written by models and users |
pub mod court;
mod court_summary;
pub mod dialogue;
pub mod format_description;
pub mod ledger;
pub mod participants;
mod participation;
pub mod plan;
pub mod record;
pub mod research;
pub mod sanitize;
pub mod short_status;
pub mod stream_preview;
pub mod structured_reply;
pub mod summary;
mod summary_header;
pub mod unmask;
pub mod verdict;
pub mod view;

#[cfg(test)]
mod tests;

/// Formats milliseconds since the Unix epoch as an ISO 8601 timestamp in UTC.
pub fn iso_timestamp(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}
