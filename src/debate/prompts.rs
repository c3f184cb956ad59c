//! Layer 6, what a seat is told.
//!
//! | file         | content                                                      |
//! |--------------|--------------------------------------------------------------|
//! | `visibility` | Which earlier turns a seat sees, and under which labels      |
//! | `digest`     | Validates a summary, and builds one without a model          |
//! | `mask`       | Hides the identity of speakers from judges                   |
//! | `prompt`     | Builds the prompt of a seat                                  |
pub mod digest;
pub mod mask;
pub mod prompt;
pub(super) mod visibility;
