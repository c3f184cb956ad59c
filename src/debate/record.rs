//! Layer 3, what has happened: events, and the state folded from them.
//!
//! | file                | content                                                       |
//! |---------------------|---------------------------------------------------------------|
//! | `body`              | Parsed replies, one variant per reply kind                    |
//! | `citation`          | Citations, and the result of looking each one up              |
//! | `envelope`          | Metadata of one turn: tool, model, duration, tokens, cost     |
//! | `event`             | Events of the log                                             |
//! | `persistent_map`    | Ordered map that is cheap to clone                            |
//! | `recorded_turns`    | Recorded turns by cue, with indexes                           |
//! | `schedule_cursor`   | Where the schedule stands                                     |
//! | `state`             | `Debate`: the state, its queries and its changes              |
//! | `sealing`           | Replies that stay hidden for now                              |
//! | `stances`           | Stances of researching advocates: letter and word limit       |
//! | `redaction_summary` | Counts redacted secrets in the record                         |
pub mod body;
pub(super) mod citation;
pub(super) mod envelope;
pub(super) mod event;
mod persistent_map;
mod recorded_turns;
pub(super) mod redaction_summary;
pub(super) mod schedule_cursor;
mod sealing;
pub mod stances;
pub mod state;
