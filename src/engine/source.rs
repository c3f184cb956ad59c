//! Reads files from the pinned tree of a debate, as its debaters saw them.
use super::desk::{Desk, DeskError, at_home};
use super::ports::{About, BadContext, Place, Stored};
use crate::debate::{Citation, CitationStatus, Debate};

/// Whether an unsealed turn has a valid citation of this file. Viewers may only read such files.
pub fn cites(debate: &Debate, path: &str) -> bool {
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

impl Desk {
    /// Redacted content of a file in the pinned tree, and the id of the tree.
    pub fn source(
        &self,
        stored: &Stored,
        place: &Place,
        path: &str,
    ) -> Result<(String, String), DeskError> {
        let none = || BadContext("this debate is pinned to no tree".into());
        let pin = stored.setup.pin.clone().ok_or_else(none)?;
        let root = at_home(stored, place).root;
        let about =
            About { root: &root, pin: &pin, touched: &[], folder: "", except: None, was: None };
        Ok((self.evidence.file(path, &about)?, pin))
    }
}
