//! Reads files from the pinned tree of a debate, as its debaters saw them.
use super::resume::home_workspace;
use super::{App, AppError};
use crate::debate::{Citation, CitationStatus, Debate};
use crate::engine::ports::{CitationContext, ContextError, StoredDebate, Workspace};

/// Whether an unsealed turn has a valid citation of this file. Viewers may only read such files.
pub fn has_valid_citation(debate: &Debate, path: &str) -> bool {
    let unsealed = debate.turns().filter(|(cue, _)| !debate.is_sealed(*cue));
    let replies = unsealed.filter_map(|(_, turn)| turn.as_ref().ok());
    let is_found = |it: &&Citation| {
        it.found.is_verified()
            || matches!(it.found, CitationStatus::Located | CitationStatus::ElsewhereInRepo)
    };
    let is_elsewhere = |it: &Citation| {
        it.found_at.as_deref().and_then(|at| at.rsplit_once(':')).is_some_and(|(at, _)| at == path)
    };
    let mut cited = replies.flat_map(|reply| &reply.citations).filter(is_found);
    cited.any(|it| it.path.as_deref() == Some(path) || is_elsewhere(it))
}

impl App {
    /// Redacted content of a file in the pinned tree, and the id of the tree.
    pub fn read_pinned_file(
        &self,
        stored: &StoredDebate,
        workspace: &Workspace,
        path: &str,
    ) -> Result<(String, String), AppError> {
        let no_pin = || ContextError("this debate has no pinned tree".into());
        let pin = stored.setup.pin.clone().ok_or_else(no_pin)?;
        let root = home_workspace(stored, workspace).root;
        let context = CitationContext {
            root: &root,
            pin: &pin,
            preferred_paths: &[],
            base_folder: "",
            excluded_path: None,
            base_tree: None,
        };
        Ok((self.evidence.read_file(path, &context)?, pin))
    }
}
