//! Checks on texts outside of a debate: look up the citations of a text, and redact a stream.
//! Behind the commands `debate check` and `debate redact`.
use super::app::{App, AppError};
use super::ports::{CitationContext, ContextError, PinnedTree};
use crate::debate::Citation;
use crate::redact;
use std::io::{self, Read, Write};
use std::path::Path;

/// A text whose citations are to be checked.
#[derive(Clone, Copy, Debug)]
pub struct CitationCheckRequest<'a> {
    pub text: &'a str,
    /// Folder that relative paths start from: empty, or ending in `/`.
    pub base_folder: &'a str,
    /// Its own path in the repository, if any. It does not count as evidence for itself.
    pub own_path: Option<&'a str>,
    /// Commit to check against. Default: the current files.
    pub commit: Option<&'a str>,
}

impl App {
    /// Looks up every citation of a text. Also returns a description of the tree it was checked
    /// against.
    pub fn check_citations(
        &self,
        root: &Path,
        asked: &CitationCheckRequest<'_>,
    ) -> Result<(Vec<Citation>, String), AppError> {
        let pinned = match asked.commit {
            Some(commit) => Some(self.briefs.pin_commit(root, commit)?),
            None => self.briefs.pin_files(root)?,
        };
        let Some(pinned) = pinned else {
            let why = format!(
                "there is nothing to look things up in: `{}` is empty or too large",
                root.display()
            );
            return Err(ContextError(why).into());
        };
        let pin = &pinned.tree;
        let (folder, except) = (asked.base_folder, asked.own_path);
        let about = CitationContext {
            root,
            pin,
            preferred_paths: &[],
            base_folder: folder,
            excluded_path: except,
            base_tree: None,
        };
        // Files are read redacted, so the quotes must be redacted in the same way.
        let gate = self.secrets.redactor(pin);
        let text = gate.redact(asked.text).text;
        Ok((self.evidence.check_text(&text, &about)?, describe_tree(&pinned)))
    }

    /// Copies a stream with secrets redacted. Returns their number by kind.
    pub fn redact_stream(&self, input: impl Read, output: impl Write) -> io::Result<String> {
        let removed = redact::redact_stream(input, output, &self.secrets.redactor("filter"))?;
        Ok(removed.to_string())
    }
}

/// Describes a pinned tree for users.
pub(super) fn describe_tree(pinned: &PinnedTree) -> String {
    let commit = pinned.commit.as_deref().map(|id| format!("commit {}", &id[..id.len().min(12)]));
    match commit {
        Some(commit) if pinned.dirty => format!("the working tree on {commit}"),
        Some(commit) => commit,
        None => "the files as they are".into(),
    }
}
