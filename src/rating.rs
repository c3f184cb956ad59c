//! Leaderboard of models: Bradley-Terry ratings from the verdicts in the archive, and the agreement
//! of judges.
//!
//! | file             | concept                                                           |
//! |------------------|-------------------------------------------------------------------|
//! | `eligibility`    | which debates are rated                                           |
//! | `unrated_reason` | why the others are not                                            |
//! | `entrant`        | whom a rating belongs to: tool and model                          |
//! | `bradley_terry`  | ratings with 95 % confidence intervals                            |
//! | `cholesky`       | Cholesky factorization, for the fit                               |
//! | `agreement`      | agreement of judges with each other, the verdict and the audience |
//! | `leaderboard`    | `Leaderboard`: all results as one serializable table              |
//! | `text`           | renders the leaderboard for a terminal                            |
//!
//! Only `Leaderboard::from_archive` and `from_cards` read the archive. The rest are pure functions.
mod agreement;
mod bradley_terry;
mod cholesky;
mod eligibility;
mod entrant;
pub(crate) mod leaderboard;
pub(crate) mod text;
mod unrated_reason;

#[cfg(test)]
mod tests;

pub(crate) use agreement::{AgreementReference, JudgeAgreement};
pub(crate) use bradley_terry::RatingEstimate;
pub(crate) use eligibility::{GameScore, RatedGame};
pub(crate) use leaderboard::{
    GameTally, Leaderboard, LeaderboardGroup, LeaderboardRow, RatingResult,
};
pub(crate) use unrated_reason::UnratedReason;
