//! Client that plays a seat in a remote arena, on any server with the REST protocol of bot
//! debates (join, poll, speech). Entry point: `ArenaClient`. The server side is in `arena`.
//!
//! Responses are untrusted: they are bounded when parsed and fenced in prompts, and nothing in
//! them can make this process do more than write speeches.
//!
//! | module          | content                                                              |
//! |-----------------|----------------------------------------------------------------------|
//! | `client`        | `ArenaClient`: the loop from joining to the result, retries, errors  |
//! | `arena_url`     | `ArenaUrl`: validated base URL of the server                         |
//! | `api`           | `ArenaApi`: the three HTTP requests                                  |
//! | `protocol`      | parses responses, builds request bodies                              |
//! | `retry_policy`  | poll intervals, backoff, meaning of error responses                  |
//! | `prompt`        | builds the model's prompt from a poll response                       |
//! | `speech_writer` | asks the model for a speech before the deadline                      |
//! | `fit_length`    | normalizes and truncates a speech to the length limits               |
//! | `credentials`   | `CredentialStore`: keys on disk, to resume after a restart           |
//! | `events`        | `ClientEvent` and `ClientResult`                                     |
mod api;
mod arena_url;
pub(crate) mod client;
mod credentials;
mod events;
mod fit_length;
mod prompt;
pub(crate) mod protocol;
pub(crate) mod retry_policy;
mod speech_writer;
#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests;

pub(crate) use api::HttpArenaApi;
pub(crate) use arena_url::ArenaUrl;
pub(crate) use client::{ArenaClient, ArenaClientConfig, ArenaClientError};
pub(crate) use credentials::CredentialStore;
pub(crate) use events::{ClientEvent, ClientOutcome, ClientResult};
