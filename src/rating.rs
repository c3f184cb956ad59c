//! Leaderboard of models: Bradley-Terry ratings from the verdicts in the archive, and the agreement
//! of judges.
//!
//! | file            | concept                                                            |
//! |-----------------|--------------------------------------------------------------------|
//! | `eligibility`   | which debates are rated, and why the others are not                |
//! | `entrant`       | whom a rating belongs to: tool and model                           |
//! | `bradley_terry` | ratings with 95 % confidence intervals                             |
//! | `cholesky`      | Cholesky factorization, for the fit                                |
//! | `agreement`     | agreement of judges with each other, the verdict and the audience  |
//! | `leaderboard`   | `Leaderboard`: all results as one serializable table               |
//! | `text`          | renders the leaderboard for a terminal                             |
//!
//! Only `Leaderboard::from_archive` and `from_cards` read the archive. The rest are pure functions.
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
