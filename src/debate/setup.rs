//! Layer 2, what is fixed when a debate opens: its format, seats, limits and rules.
//!
//! | file                | content                                                           |
//! |---------------------|-------------------------------------------------------------------|
//! | `cue`               | Places in a debate: a turn, a round of an act                     |
//! | `budget`            | Limits on cost, tokens and time, and what was spent               |
//! | `rule`              | Names and weights of the validation rules                         |
//! | `rule_descriptions` | The reply kind of each rule, and its text in prompts              |
//! | `format`            | Schema of a format: acts, phases, rounds, roles, sides            |
//! | `formats`           | The five built-in formats, as tables                              |
//! | `report_sections`   | Headings of the nine-section report, by language                  |
//! | `reviewed_change`   | The code change under review                                      |
//! | `seat`              | Seats, and the participant that plays each one                    |
//! | `debate_setup`      | `Setup`: topic, format, prompts, seats, limits                    |
//! | `estimate`          | Estimated calls and tokens of a debate, per seat                  |
pub(super) mod budget;
pub(super) mod cue;
pub(super) mod debate_setup;
pub mod estimate;
pub mod format;
pub mod formats;
pub mod report_sections;
pub(super) mod reviewed_change;
pub(super) mod rule;
mod rule_descriptions;
pub mod seat;

pub use debate_setup::{
    DebateLimits, GRAMMAR_VERSION, HoldPoint, MAX_TOPIC_CHARS, Origin, Setup, SetupError,
    WORDING_VERSION,
};
