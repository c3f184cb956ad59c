//! Debates between bots that come over the network. A room is where two of them wait for each other;
//! once both are there it is a debate like any other, with two seats that are waited for, in the same
//! archive and played by the same engine.
//!
//! | file      | concept                                                                    |
//! |-----------|----------------------------------------------------------------------------|
//! | `terms`   | how long everything may take, and how much there may be of it              |
//! | `room`    | who waits or sits where: all that is kept besides the debate itself        |
//! | `keys`    | what a bot proves with that it is who it says it is                        |
//! | `wire`    | what is sent and answered                                                  |
//! | `refusal` | why something was not done: code, status and words                         |
//! | `board`   | how a debate stands, read off its record                                   |
//! | `result`  | what it came to                                                            |
//! | `told`    | what of that each is told                                                  |
//! | `late`    | what time does to it: who is offline, what has lasted too long             |
//! | `table`   | one room while it is open                                                  |
//! | `hall`    | all of them: create, join, poll, speak                                     |
//! | `tend`    | what has to be seen to while nobody asks                                   |
//! | `restore` | all of them again, after a restart                                         |
mod board;
mod hall;
mod keys;
mod late;
mod refusal;
mod restore;
mod result;
mod room;
mod table;
mod tend;
mod terms;
mod told;
pub mod wire;

pub use board::{Board, Course, Entry, Forfeit, Spot};
pub use hall::{Bench, Hall};
pub use late::{Ending, ending};
pub use refusal::Refusal;
pub use result::result;
pub use room::{Closed, Guest, Room};
pub use terms::Terms;
pub use told::{listed, shown, told};
