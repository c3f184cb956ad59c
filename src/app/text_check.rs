//! Checks on texts outside of a debate: look up the citations of a text, and redact a stream.
//! Behind the commands `debate check` and `debate redact`.
use crate::app::{App, AppError};
use crate::debate::Citation;
use crate::engine::ports::{CitationContext, ContextError, PinnedTree};
use crate::redact;
use std::io::{self, Read, Write};
use std::path::Path;

/// Characters of a commit id in messages.
const SHORT_ID_CHARS: usize = 12;

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
        request: &CitationCheckRequest<'_>,
    ) -> Result<(Vec<Citation>, String), AppError> {
        let pinned = match request.commit {
            Some(commit) => Some(self.briefs.pin_commit(root, commit)?),
            None => self.briefs.pin_files(root)?,
        };
        let Some(pinned) = pinned else {
            let message = format!(
                "there are no files to check citations in: `{}` is empty or too large",
                root.display()
            );
            return Err(ContextError(message).into());
        };
        let pin = &pinned.tree;
        let (base_folder, excluded_path) = (request.base_folder, request.own_path);
        let context = CitationContext {
            root,
            pin,
            preferred_paths: &[],
            base_folder,
            excluded_path,
            base_tree: None,
        };
        // Files are read redacted, so the quotes must be redacted in the same way.
        let redactor = self.secrets.redactor(pin);
        let text = redactor.redact(request.text).text;
        Ok((self.evidence.check_text(&text, &context)?, describe_tree(&pinned)))
    }

    /// Copies a stream with secrets redacted. Returns their number by kind.
    pub fn redact_stream(&self, input: impl Read, output: impl Write) -> io::Result<String> {
        let removed = redact::redact_stream(input, output, &self.secrets.redactor("filter"))?;
        Ok(removed.to_string())
    }
}

/// Describes a pinned tree for users.
pub(super) fn describe_tree(pinned: &PinnedTree) -> String {
    let short = |id: &str| format!("commit {}", &id[..id.len().min(SHORT_ID_CHARS)]);
    let commit = pinned.commit.as_deref().map(short);
    match commit {
        Some(commit) if pinned.dirty => format!("the working tree on {commit}"),
        Some(commit) => commit,
        None => "the files as they are".into(),
    }
}
