//! Layer 7, what a seat answers.
//!
//! | file           | content                                                       |
//! |----------------|---------------------------------------------------------------|
//! | `claims_block` | Parser for the JSON claims block at the end of a speech       |
//! | `reply`        | Parses the text of a reply into a body, or returns an error   |
//! | `reply_schema` | JSON schemas of replies, for providers with structured output |
//! | `insights`     | Outcome and insights of a dialogue                            |
//! | `rules`        | Validation rules for replies, as pure functions               |
pub mod claims_block;
pub mod insights;
pub mod reply;
pub mod reply_schema;
pub(super) mod rules;
