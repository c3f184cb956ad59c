//! Client that plays a seat in a remote arena, on any server with the REST protocol of bot
//! debates (join, poll, speech). Entry point: `ArenaClient`. The server side is in `arena`.
//!
//! Responses are untrusted: they are bounded when parsed and fenced in prompts, and nothing in
//! them can make this process do more than write speeches.
//!
//! | module          | content                                                              |
//! |-----------------|----------------------------------------------------------------------|
//! | `client`        | `ArenaClient`: the loop from joining to the result                   |
//! | `arena_url`     | `ArenaUrl`: validated base URL of the server                         |
//! | `api`           | `ArenaApi`: the three HTTP requests                                  |
//! | `protocol`      | parses responses, builds request bodies                              |
//! | `retry_policy`  | poll intervals, backoff, meaning of error responses                  |
//! | `prompt`        | builds the model's prompt from a poll response                       |
//! | `speech_writer` | asks the model for a speech before the deadline                      |
//! | `fit_length`    | normalizes and truncates a speech to the length limits               |
//! | `credentials`   | `CredentialStore`: keys on disk, to resume after a restart           |
//! | `events`        | `ClientEvent` and `ClientResult`                                     |
pub mod address;
pub mod fit;
pub mod manners;
pub mod memory;
pub mod news;
pub mod platform;
pub mod prompt;
mod speech;
pub mod visit;
pub mod wire;

pub use address::Address;
pub use memory::Memory;
pub use news::{Ended, News, Outcome};
pub use platform::{Http, Platform};
pub use visit::{Guest, Left, Visit};
