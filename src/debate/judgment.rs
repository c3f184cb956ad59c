//! Layer 8, what comes out.
//!
//! | file          | content                                                    |
//! |---------------|------------------------------------------------------------|
//! | `round_marks` | Points per round of a tribunal, and its turning point      |
//! | `verdict`     | Combines scores, rulings and votes into the result         |
//! | `status`      | Status of a debate, in the words users read                |
pub mod round_marks;
pub mod status;
pub mod verdict;
