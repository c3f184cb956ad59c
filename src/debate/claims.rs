//! Layer 4, what the sides claim.
//!
//! | file     | content                                                    |
//! |----------|------------------------------------------------------------|
//! | `ledger` | Every claim with its status                                |
//! | `flags`  | Heuristics: walk-backs, unprompted concessions, repetition |
pub mod flags;
pub mod ledger;
