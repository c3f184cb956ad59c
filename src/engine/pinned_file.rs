//! Reads files from the pinned tree of a debate, as its debaters saw them.
use super::app::{App, AppError, home_workspace};
use super::ports::{CitationContext, ContextError, StoredDebate, Workspace};
use crate::debate::{Citation, CitationStatus, Debate};

/// Whether an unsealed turn has a valid citation of this file. Viewers may only read such files.
pub fn has_valid_citation(debate: &Debate, path: &str) -> bool {
    let open = debate.turns().filter(|(cue, _)| !debate.is_sealed(*cue));
    let replies = open.filter_map(|(_, turn)| turn.as_ref().ok());
    let there = |it: &&Citation| {
        it.found.is_verified()
            || matches!(it.found, CitationStatus::Located | CitationStatus::ElsewhereInRepo)
    };
    let elsewhere = |it: &Citation| {
        it.found_at.as_deref().and_then(|at| at.rsplit_once(':')).is_some_and(|(at, _)| at == path)
    };
    let mut cited = replies.flat_map(|reply| &reply.citations).filter(there);
    cited.any(|it| it.path.as_deref() == Some(path) || elsewhere(it))
}

impl App {
    /// Redacted content of a file in the pinned tree, and the id of the tree.
    pub fn read_pinned_file(
        &self,
        stored: &StoredDebate,
        place: &Workspace,
        path: &str,
    ) -> Result<(String, String), AppError> {
        let none = || ContextError("this debate is pinned to no tree".into());
        let pin = stored.setup.pin.clone().ok_or_else(none)?;
        let root = home_workspace(stored, place).root;
        let about = CitationContext {
            root: &root,
            pin: &pin,
            preferred_paths: &[],
            base_folder: "",
            excluded_path: None,
            base_tree: None,
        };
        Ok((self.evidence.read_file(path, &about)?, pin))
    }
}
