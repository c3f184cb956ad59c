//! What the parts of a debate are worth by themselves: what debaters would be given, whether what a
//! text cites is there, and what must not leave.
use super::desk::{Desk, DeskError};
use super::ports::{About, BadContext, Pinned};
use crate::debate::Citation;
use crate::redact;
use std::io::{self, Read, Write};
use std::path::Path;

/// A text whose citations are to be looked up.
#[derive(Clone, Copy, Debug)]
pub struct Questioned<'a> {
    /// All of it.
    pub text: &'a str,
    /// Where whoever asks stands, below the root: empty, or ending in `/`.
    pub folder: &'a str,
    /// Where it stands in the repository, if it does: it cannot vouch for itself.
    pub path: Option<&'a str>,
    /// Against what; what stands in the repository now, if nothing is said.
    pub commit: Option<&'a str>,
}

impl Desk {
    /// Every citation of a text, with what looking it up came to, and against what.
    pub fn look_up(
        &self,
        root: &Path,
        asked: &Questioned<'_>,
    ) -> Result<(Vec<Citation>, String), DeskError> {
        let pinned = match asked.commit {
            Some(commit) => Some(self.briefs.commit(root, commit)?),
            None => self.briefs.pin(root)?,
        };
        let Some(pinned) = pinned else {
            let why = format!(
                "there is nothing to look things up in: `{}` is empty or too large",
                root.display()
            );
            return Err(BadContext(why).into());
        };
        let pin = &pinned.tree;
        let (folder, except) = (asked.folder, asked.path);
        let about = About { root, pin, touched: &[], folder, except, was: None };
        // What is read of the repository has no secrets in it, so neither may what is compared.
        let gate = self.secrets.within(pin);
        let text = gate.redact(asked.text).text;
        Ok((self.evidence.look_up(&text, &about)?, against(&pinned)))
    }

    /// Copies a text without what is secret in it, and says how many of which kind there were.
    pub fn filter(&self, input: impl Read, output: impl Write) -> io::Result<String> {
        let removed = redact::filter(input, output, &self.secrets.within("filter"))?;
        Ok(removed.to_string())
    }
}

/// What things are looked up in, in words.
pub(super) fn against(pinned: &Pinned) -> String {
    let commit = pinned.commit.as_deref().map(|id| format!("commit {}", &id[..id.len().min(12)]));
    match commit {
        Some(commit) if pinned.dirty => format!("the working tree on {commit}"),
        Some(commit) => commit,
        None => "the files as they are".into(),
    }
}
