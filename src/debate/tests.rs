//! Tests of the core that cover several files. The others stand beside their file.
//!
//! | file             | content                                                             |
//! |------------------|---------------------------------------------------------------------|
//! | `amendments`     | which changes are valid when, and that sent prompts do not change   |
//! | `debate_control` | holds, cancelling, concluding, reopening, valid setups              |
//! | `dialectic`      | the open dialogue: no fixed end, insights with an outcome           |
//! | `event_order`    | valid and invalid orders of events                                  |
//! | `judging`        | rulings, blind prompts, panels of judges                            |
//! | `properties`     | random debates: crash recovery, replay, illegal events              |
//! | `tribunal`       | petitioners, help from the audience, weighted judgment              |
//! | `tribunal_rules` | rules of a tribunal, table-driven                                   |
//! | `turn_failures`  | outcome of failed turns, for each format and phase                  |
mod amendments;
mod debate_control;
mod dialectic;
mod event_order;
mod judging;
pub(crate) mod properties;
mod tribunal;
mod tribunal_rules;
mod turn_failures;
