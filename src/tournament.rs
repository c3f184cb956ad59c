//! Tournaments: plays every pair of entrants on every motion of a TOML file, and rates the results.
//!
//! | file             | concept                                                          |
//! |------------------|------------------------------------------------------------------|
//! | `plan`           | parses and validates the tournament file                         |
//! | `schedule`       | list of all games, with stable keys                              |
//! | `archived_games` | status of the games that are in the archive                      |
//! | `preflight`      | checks that all games can be played, and estimates their cost    |
//! | `running_games`  | concurrency and budget limits                                    |
//! | `game_runner`    | starts, resumes or waits for one game                            |
//! | `play`           | runs all games, with retries                                     |
//! | `event`          | progress events for the caller                                   |
//! | `standings`      | results so far                                                   |
//! | `text`           | renders the standings for a terminal                             |
//!
//! A game is an ordinary debate whose setup has the tournament name and the game key in its terms.
//! The archive is the only state, so an interrupted tournament can resume, and a longer file plays
//! only the new games. No prompt mentions the two terms, so debaters do not know they are rated.
pub(crate) mod archived_games;
mod event;
mod game_runner;
mod plan;
mod play;
pub(crate) mod preflight;
mod running_games;
mod schedule;
mod standings;
#[cfg(test)]
mod tests;
pub(crate) mod text;

pub(crate) use archived_games::{ArchivedGame, GameStatus};
pub(crate) use event::TournamentEvent;
pub(crate) use plan::TournamentPlan;
pub(crate) use play::{TournamentEnd, TournamentSettings, play};
pub(crate) use preflight::{TournamentPreflightError, check_tournament};
pub(crate) use schedule::{ScheduledGame, build_schedule};
pub(crate) use standings::Standings;

/// Key in the setup's terms for the name of the tournament.
pub(crate) const TOURNAMENT_TERM: &str = "tournament";
/// Key in the setup's terms for the key of the game.
pub(crate) const GAME_TERM: &str = "game";
