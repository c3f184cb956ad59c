//! HTTP server: the REST API of the arena, and the live page with its event stream (SSE).
//! Entry points: `ArenaServer` for `debate serve`, `site::router` for `debate view`. The markup
//! is rendered in `page`, the logic of the arena is in `arena`.
//!
//! | module         | content                                                                |
//! |----------------|------------------------------------------------------------------------|
//! | `server`       | `ArenaServer`: API, live page and timers of an arena                   |
//! | `listen`       | TCP connections, with limits and timeouts                              |
//! | `origin_check` | middleware against DNS rebinding and CSRF                              |
//! | `auth`         | tokens, cookies, access levels                                         |
//! | `rate_limit`   | token-bucket rate limiter                                              |
//! | `arena_api`    | HTTP handlers of the arena API                                         |
//! | `openapi`      | `OpenAPI` document of the arena API                                    |
//! | `site`         | routes and handlers of the live page                                   |
//! | `site_state`   | state that these handlers share, and which debates are visible         |
//! | `blocking`     | runs blocking work outside of the async threads                        |
//! | `pages`        | loads debates and renders pages                                        |
//! | `live_feed`    | polls watched debates and renders their updates                        |
//! | `event_stream` | server-sent events for one viewer                                      |
//! | `actions`      | handlers of the action forms                                           |
//! | `assets`       | script, style sheet and favicon                                        |
//! | `http_error`   | HTTP error responses of the live page                                  |
mod actions;
mod arena_api;
pub mod assets;
pub mod auth;
mod blocking;
mod event_stream;
mod http_error;
mod listen;
pub mod live_feed;
mod openapi;
pub mod origin_check;
mod pages;
mod rate_limit;
mod server;
pub mod site;
mod site_state;

pub use crate::arena::{ArenaLimits, JudgingConfig};
pub use listen::listen;
pub use server::{ArenaServer, ArenaServerConfig, ServeError};
pub use site_state::SiteScope;

use crate::debate::SetupError;
use crate::engine::StoredDebate;
use crate::page;

/// Renders a debate as one self-contained HTML file.
pub fn export_html(stored: &StoredDebate) -> Result<String, SetupError> {
    let history = page::history::DebateHistory::from_stored(stored, None)?;
    Ok(page::export::render_export(&history, assets::STYLE).into_string())
}
