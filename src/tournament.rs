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
//! | `standings`      | results so far                                                   |
//! | `text`           | renders the standings for a terminal                             |
//!
//! A game is an ordinary debate whose setup has the tournament name and the game key in its terms.
//! The archive is the only state, so an interrupted tournament can resume, and a longer file plays
//! only the new games. No prompt mentions the two terms, so debaters do not know they are rated.
pub mod file;
pub mod fit;
mod game;
pub mod limits;
pub mod past;
pub mod play;
pub mod schedule;
pub mod standings;
pub mod text;

pub use file::{BadFile, Entrant, Plan};
pub use fit::{Misfit, fits};
pub use limits::Table;
pub use past::{Known, Past};
pub use play::{Ending, News, Settings, play};
pub use schedule::{Game, schedule};
pub use standings::{Standings, standings};

/// Key in the setup's terms for the name of the tournament.
pub const TOURNAMENT: &str = "tournament";
/// Key in the setup's terms for the key of the game.
pub const GAME: &str = "game";
