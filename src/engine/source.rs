//! A file at the tree a debate is pinned to, as those who debated could see it.
use super::desk::{Desk, DeskError, at_home};
use super::ports::{About, BadContext, Place, Stored};
use crate::debate::{Citation, Debate, Found};

/// Whether a debate cites a file, openly and with success: what is shown to those who only read.
pub fn cites(debate: &Debate, path: &str) -> bool {
    let open = debate.turns().filter(|(cue, _)| !debate.sealed(*cue));
    let replies = open.filter_map(|(_, turn)| turn.as_ref().ok());
    let there = |it: &&Citation| {
        it.found.verified() || matches!(it.found, Found::Located | Found::ElsewhereInRepo)
    };
    let elsewhere = |it: &Citation| {
        it.found_at.as_deref().and_then(|at| at.rsplit_once(':')).is_some_and(|(at, _)| at == path)
    };
    let mut cited = replies.flat_map(|reply| &reply.citations).filter(there);
    cited.any(|it| it.path.as_deref() == Some(path) || elsewhere(it))
}

impl Desk {
    /// What stands in a file of the tree a debate is pinned to, and the name of that tree.
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
