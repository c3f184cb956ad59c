//! State that the handlers of the live page share, and which debates it shows.
use super::auth::{AccessLevel, AuthTokens};
use super::blocking::run_blocking;
use super::event_stream::ViewerSlots;
use super::http_error::HttpError;
use super::live_feed::LiveFeeds;
use crate::app::App;
use crate::arena::ArenaService;
use crate::engine::{DebateCard, DebateQuery, StoredDebate, Workspace};
use crate::page::context::Viewer;
use axum::http::HeaderMap;
use std::sync::Arc;
use std::time::Instant;

/// Which debates are visible. All others respond with 404.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteScope {
    /// All debates. Only for a server on this machine.
    All,
    /// Debates of one format.
    Format(String),
}

/// Shared state of the handlers.
#[derive(Clone)]
pub(super) struct SiteState {
    pub(super) app: App,
    pub(super) workspace: Workspace,
    pub(super) scope: SiteScope,
    pub(super) auth: Arc<AuthTokens>,
    pub(super) feeds: Arc<LiveFeeds>,
    pub(super) arena: Option<ArenaService>,
    pub(super) viewer_slots: ViewerSlots,
    /// Cached leaderboard page. Building it reads all debates.
    pub(super) leaderboard_cache:
        Arc<tokio::sync::Mutex<Option<(Instant, crate::page::html::Html)>>>,
}

impl SiteState {
    /// Loads a debate. A debate out of scope is not found.
    pub(super) async fn load_debate(&self, id: &str) -> Result<StoredDebate, HttpError> {
        let (state, id) = (self.clone(), id.to_owned());
        run_blocking(async move {
            let stored = state.app.archive().events.read(&id).await?;
            let is_visible = match &state.scope {
                SiteScope::All => true,
                SiteScope::Format(format) => stored.setup.format.name == *format,
            };
            is_visible.then_some(stored).ok_or_else(HttpError::debate_not_found)
        })
        .await
    }

    /// Lists the visible debates, last changed first.
    pub(super) async fn list_visible(&self, limit: usize) -> Result<Vec<DebateCard>, HttpError> {
        let format = match &self.scope {
            SiteScope::All => None,
            SiteScope::Format(format) => Some(format.clone()),
        };
        let query = DebateQuery { format, limit: Some(limit), ..DebateQuery::default() };
        Ok(self.app.archive().queries.list(&query).await?)
    }

    pub(super) fn viewer_of(&self, headers: &HeaderMap) -> Viewer {
        if self.auth.level_of_request(headers) == AccessLevel::Act {
            Viewer::Owner
        } else {
            Viewer::Reader
        }
    }
}
