//! A file of motions and entrants, played as debates and rated.
//!
//! | file        | concept                                                                       |
//! |-------------|-------------------------------------------------------------------------------|
//! | `file`      | what the file says, checked                                                   |
//! | `schedule`  | every game, in order, under a name that is always the same                    |
//! | `past`      | what the archive holds of them                                                |
//! | `fit`       | whether all of it can be played here, and what it may come to                 |
//! | `limits`    | how many are played at a time, and what each may spend                        |
//! | `game`      | one game: opened, taken up or waited for, and played to its end               |
//! | `play`      | all of them                                                                   |
//! | `standings` | what it comes to so far                                                       |
//! | `text`      | the standings as people read them                                             |
//!
//! A game is an ordinary debate whose setup names the tournament and the game. So the archive alone
//! says what is left to be played, whoever was killed in the middle, and a file that has grown plays
//! only what is new. The two terms are asked for by no prompt: nobody argues for a place in a table.
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

/// The term of a setup that names the tournament.
pub const TOURNAMENT: &str = "tournament";
/// The term of a setup that names the game.
pub const GAME: &str = "game";
