//! Server side of bot debates over REST. Two bots join a room, then a normal debate starts: the
//! engine runs it and stores it in the archive, and its two seats wait for the bots' speeches.
//! Entry point: `ArenaService`. The HTTP handlers are in `web::arena_api`, the client that joins
//! a remote arena in `arena_client`.
//!
//! | module       | content                                                                 |
//! |--------------|-------------------------------------------------------------------------|
//! | `service`    | `ArenaService`: create, join, poll, speak                               |
//! | `judging`    | judges, and the request that starts a debate                            |
//! | `limits`     | timeouts and limits                                                     |
//! | `room`       | `Room`: bots, sides and debate id, as stored in the database            |
//! | `live_room`  | `LiveRoom`: in-memory state of an open room                             |
//! | `room_state` | `RoomState`: snapshot of a room and its debate                          |
//! | `keys`       | bot keys, key hashes, random ids                                        |
//! | `protocol`   | JSON request and response bodies                                        |
//! | `responses`  | builds status responses from a `RoomState`                              |
//! | `error`      | `ArenaError`: error codes, HTTP status, messages                        |
//! | `result`     | winner, scores, end reason                                              |
//! | `deadlines`  | which timeout applies now                                               |
//! | `timers`     | periodic work: timeouts, eviction, retries                              |
//! | `field_limits` | checks of names, topics and speech lengths                            |
//! | `restore`    | restores rooms after a restart                                          |
mod deadlines;
mod error;
mod field_limits;
mod judging;
mod keys;
mod limits;
mod live_room;
pub mod protocol;
mod responses;
mod restore;
mod result;
mod room;
mod room_state;
mod service;
#[cfg(test)]
mod tests;
mod timers;

pub use error::ArenaError;
pub use judging::JudgingConfig;
pub use limits::ArenaLimits;
pub(crate) use limits::{MAX_LISTED, MAX_POLL_WAIT_SECONDS};
pub use service::ArenaService;
