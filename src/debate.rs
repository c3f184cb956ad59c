//! Event-sourced core of a debate. Pure: no I/O and no clock.
//!
//! A [`Debate`] is its [`Setup`] plus the events in its log. [`next`] compares the format with the
//! recorded turns and returns the next [`Step`]. [`Debate::apply`] validates an event and folds it
//! into the state. An event that is not due is the only error. The log stores no cursor, so recovery
//! after a crash is: read the log, replay it, call `next` again.
//!
//! | module              | content                                                           |
//! |---------------------|-------------------------------------------------------------------|
//! | `format`            | Schema of a format: acts, phases, rounds, roles, sides            |
//! | `formats`           | The five built-in formats, as tables                              |
//! | `setup`             | Configuration fixed at the opening: topic, format, prompts, seats |
//! | `reviewed_change`   | The code change under review                                      |
//! | `seat`              | Seats, and the participant that plays each one                    |
//! | `body`              | Parsed replies, one variant per reply kind                        |
//! | `citation`          | Citations, and the result of looking each one up                  |
//! | `envelope`          | Metadata of one turn: tool, model, duration, tokens, cost         |
//! | `event`             | Events of the log                                                 |
//! | `recorded_turns`    | Recorded turns by cue, with indexes                               |
//! | `persistent_map`    | Ordered map that is cheap to clone                                |
//! | `state`             | `Debate`: the state folded from the events. Validates events      |
//! | `next_step`         | `next`: computes the next step                                    |
//! | `visibility`        | Which earlier turns a seat sees, and under which labels           |
//! | `ledger`            | Every claim with its status                                       |
//! | `flags`             | Heuristics: walk-backs, unprompted concessions, repetition        |
//! | `digest`            | Validates a summary, and builds one without a model               |
//! | `mask`              | Hides the identity of speakers from judges                        |
//! | `template`          | Fills prompt templates in one pass, never inserted text           |
//! | `prompt`            | Builds the prompt of a seat                                       |
//! | `reply`             | Parses the text of a reply into a body, or returns an error       |
//! | `claims_block`      | Parser for the JSON claims block at the end of a speech           |
//! | `reply_schema`      | JSON schemas of replies, for providers with structured output     |
//! | `rules`             | Validation rules for replies, as pure functions                   |
//! | `round_marks`       | Points per round of a tribunal, and its turning point             |
//! | `verdict`           | Combines scores, rulings and votes into the result                |
//! | `report_sections`   | Headings of the nine-section report, by language                  |
//! | `insights`          | Outcome and insights of a dialogue                                |
//! | `estimate`          | Estimated calls and tokens of a debate, per seat                  |
//! | `language`          | Language detection for a topic                                    |
//! | `style`             | Removes formatting from a text before it is judged                |
//! | `content_hash`      | SHA-256 hashes of texts                                           |
//! | `invisible_chars`   | Detects and escapes invisible characters                          |
//! | `word_count`        | Word count, for scripts with and without spaces                   |
//! | `redaction_summary` | Counts redacted secrets in the record                             |
//! | `status`            | Status of a debate, in the words users read                       |
pub mod body;
pub mod budget;
pub mod citation;
pub mod claims_block;
pub mod content_hash;
pub mod digest;
pub mod envelope;
pub mod estimate;
pub mod event;
pub mod flags;
pub mod format;
pub mod formats;
pub mod insights;
pub mod invisible_chars;
pub mod language;
pub mod ledger;
pub mod mask;
pub mod next_step;
mod persistent_map;
pub mod prompt;
mod recorded_turns;
pub mod redaction_summary;
pub mod reply;
pub mod reply_schema;
pub mod report_sections;
pub mod reviewed_change;
pub mod round_marks;
pub mod rules;
pub mod seat;
pub mod setup;
pub mod state;
pub mod status;
pub mod style;
pub mod template;
pub mod verdict;
pub mod visibility;
pub mod word_count;

pub use body::{Body, Claim, Concession, HelpRequest, JudgeRuling, ReplyKind, Resolution, Section};
pub use budget::Budget;
pub use citation::{Citation, CitationStatus, RecheckStatus};
pub use envelope::{Envelope, Spend, to_millionths};
pub use event::{
    Amendment, Cue, DebateOutcome, Event, FailureKind, Position, RejectedReply, Reply, TurnFailure,
    VerdictFeedback,
};
pub use format::{
    Act, Format, Phase, Quorum, Role, Rounds, Shortfall, Side, Speakers, SpeakingOrder,
    TranscriptScope,
};
pub use next_step::{PauseReason, Step, next};
pub use reviewed_change::{
    BaseTree, ChangeSummary, CodeLocation, KnownFinding, NotedFinding, ReviewedChange, Severity,
};
pub use rules::{Rule, RuleFinding, RuleWeight, check_rules, validate_reply};
pub use seat::{Effort, Participant, Seat};
pub use setup::{DebateLimits, HoldPoint, Origin, Setup, SetupError};
pub use state::{Debate, IllegalEvent, LogFlaw};
pub use status::Status;
pub use visibility::TranscriptItem;
