//! The use case "list debates": [`App::list`]. Filters and searches the archive. If the repository
//! has no debate at all, its state files are imported first.
use super::recovery::RecoveryReport;
use super::{App, AppError};
use crate::engine::ports::{DebateCard, DebateQuery, Workspace};
use std::path::PathBuf;

/// Maximum search hits that are matched with debates.
const MAX_SEARCH_HITS: usize = 200;

/// Which debates to list.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    pub query: DebateQuery,
    /// Words that the topic or a turn must contain. Empty: no search.
    pub words: String,
    /// State files of the repository, from which debates are recovered.
    pub state_files: Vec<PathBuf>,
}

/// The debates that were found.
#[derive(Debug, Default)]
pub struct Listed {
    /// Last changed first.
    pub debates: Vec<FoundDebate>,
    /// What was recovered from state files, if that was tried.
    pub recovery: RecoveryReport,
}

/// A debate in a list.
#[derive(Clone, Debug)]
pub struct FoundDebate {
    pub card: DebateCard,
    /// Text that matches the search.
    pub excerpt: Option<String>,
}

impl App {
    /// Lists debates.
    pub async fn list(
        &self,
        request: &ListRequest,
        workspace: &Workspace,
    ) -> Result<Listed, AppError> {
        let ListRequest { query, words, state_files } = request;
        let queries = &self.archive.queries;
        let mut cards = queries.list(query).await?;
        let mut recovery = RecoveryReport::default();
        if cards.is_empty() && self.resolve_debate(None, false, &workspace.root).await.is_err() {
            recovery = self.recover(workspace, state_files).await?;
            cards = queries.list(query).await?;
        }
        let found = |card: DebateCard, excerpt| FoundDebate { card, excerpt };
        let debates = if words.is_empty() {
            cards.into_iter().map(|card| found(card, None)).collect()
        } else {
            let query = DebateQuery { limit: Some(MAX_SEARCH_HITS), ..query.clone() };
            let hits = queries.search(words, &query).await?;
            let matching = |card: DebateCard| {
                let hit = hits.iter().find(|hit| hit.id == card.id)?;
                Some(found(card, Some(hit.excerpt.clone())))
            };
            cards.into_iter().filter_map(matching).collect()
        };
        Ok(Listed { debates, recovery })
    }
}
