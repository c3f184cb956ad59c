//! Event-sourced core of a debate. Pure: no I/O and no clock.
//!
//! A [`Debate`] is its [`Setup`] plus the events in its log. [`next`] compares the format with the
//! recorded turns and returns the next [`Step`]. [`Debate::apply`] validates an event and folds it
//! into the state. An event that is not due is the only error. The log stores no cursor, so recovery
//! after a crash is: read the log, replay it, call `next` again.
//!
//! The core has eight layers. A file uses only files of its own layer and of those above it in this
//! table, and no two files use each other. Each layer lists its files.
//!
//! | layer      | content                                                                 |
//! |------------|-------------------------------------------------------------------------|
//! | `text`     | Text helpers that know nothing about debates                            |
//! | `setup`    | What is fixed when a debate opens: format, seats, limits, rules         |
//! | `record`   | What has happened: events, and the state folded from them               |
//! | `claims`   | What the sides claim: ledger and flags                                  |
//! | `plan`     | What is due now, and which events are legal                             |
//! | `prompts`  | What a seat is told: visible transcript, digest, mask, prompt           |
//! | `replies`  | What a seat answers: parsers and rules                                  |
//! | `judgment` | What comes out: marks, verdict, status                                  |
//!
//! Files inside the core name each other by layer (`crate::debate::record::event`). All other code
//! uses the names below (`crate::debate::Event`, `crate::debate::ledger`).
mod claims;
mod judgment;
mod plan;
mod prompts;
mod record;
mod replies;
pub mod setup;
#[cfg(test)]
mod tests;
mod text;

pub use claims::{flags, ledger};
pub use judgment::{round_marks, status, verdict};
pub use plan::replay;
pub use prompts::{digest, mask, prompt};
pub use record::{body, stances, state};
pub use replies::{claims_block, insights, reply, reply_schema};
pub use setup::{estimate, format, formats, report_sections, seat};
pub use text::{content_hash, invisible_chars, language, template, words};

pub use body::{Body, Claim, Concession, HelpRequest, JudgeRuling, Resolution, Section};
pub use format::{
    Act, Format, Phase, Quorum, ReplyKind, Role, Rounds, Shortfall, Side, Speakers, SpeakingOrder,
    TranscriptScope,
};
pub use plan::next_step::next;
pub use plan::step::{PauseReason, Step};
pub use plan::validation::IllegalEvent;
pub use prompts::visibility::TranscriptItem;
pub use record::citation::{Citation, CitationStatus, RecheckStatus};
pub use record::envelope::{Envelope, to_millionths};
pub use record::event::{
    Amendment, DebateOutcome, Event, FailureKind, RejectedReply, Reply, TurnFailure,
    VerdictFeedback,
};
pub use replay::LogFlaw;
pub use replies::rules::{check_rules, validate_reply};
pub use seat::{Effort, Participant, Seat};
pub use setup::budget::{Budget, Spend};
pub use setup::cue::{Cue, Position};
pub use setup::reviewed_change::{
    BaseTree, ChangeSummary, CodeLocation, KnownFinding, NotedFinding, ReviewedChange, Severity,
};
pub use setup::rule::{Rule, RuleFinding, RuleWeight};
pub use setup::{DebateLimits, HoldPoint, Origin, Setup, SetupError};
pub use state::Debate;
pub use status::Status;
