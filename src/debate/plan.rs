//! Layer 5, what is due now, and which events are legal.
//!
//! | file         | content                                                     |
//! |--------------|-------------------------------------------------------------|
//! | `step`       | The step that is due                                        |
//! | `next_step`  | `next`: computes the next step                              |
//! | `validation` | `Debate::apply`: validates an event and applies it          |
//! | `reopening`  | Where an ended debate can continue                          |
//! | `replay`     | Opens a debate, and replays its log                         |
pub(super) mod next_step;
mod reopening;
pub mod replay;
pub(super) mod step;
pub(super) mod validation;
