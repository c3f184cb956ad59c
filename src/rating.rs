//! Who argues better, as far as the archive can tell.
//!
//! | file        | concept                                                                       |
//! |-------------|-------------------------------------------------------------------------------|
//! | `counts`    | which debates are rated, and why the others are not                           |
//! | `entrant`   | whom a rating belongs to                                                      |
//! | `strengths` | Bradley-Terry: how strong everyone is, with intervals                         |
//! | `solve`     | the little linear algebra that takes                                          |
//! | `agreement` | how far judges agree with each other, with themselves and with the verdict    |
//! | `board`     | all of it as one table, read from the archive                                 |
//! | `text`      | the table as people read it                                                   |
//!
//! Everything but reading the archive is a pure function of debates.
pub mod agreement;
pub mod board;
pub mod counts;
pub mod entrant;
mod solve;
pub mod strengths;
pub mod text;

pub use agreement::{Agreement, Bench, Between};
pub use board::{Board, Group, Reading, Row, Tally};
pub use counts::{Game, Score, Unrated};
pub use strengths::{Estimate, Strengths, strengths};
