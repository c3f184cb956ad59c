//! Implements the engine's `Evidence` port: extracts and looks up the citations of a turn or text.
use super::{
    CitationChecker, LookupScope, Reference, SearchMode, extract_from_text, extract_with_files,
    strip_verification_marks,
};
use crate::debate::{Body, Citation, CitationStatus};
use crate::engine::{CitationContext, ContextError, Evidence};
use crate::repo::RepoError;

impl Evidence for CitationChecker {
    fn strip_verification_marks(&self, text: &str) -> String {
        strip_verification_marks(text).into_owned()
    }

    fn check_citations(&self, body: &Body, context: &CitationContext<'_>) -> Vec<Citation> {
        let references = extract_with_files(body, context.preferred_paths);
        // An unreadable repository must not lose the turn, so each citation is recorded as
        // unchecked with the error message.
        self.look_up_references(&references, context).unwrap_or_else(|error| {
            tracing::debug!(count = references.len(), %error, "citations not checked");
            references.iter().map(|reference| unchecked_citation(reference, &error)).collect()
        })
    }

    fn check_text(
        &self,
        text: &str,
        context: &CitationContext<'_>,
    ) -> Result<Vec<Citation>, ContextError> {
        let references = extract_from_text(&strip_verification_marks(text));
        self.look_up_references(&references, context)
            .map_err(|error| ContextError(error.to_string()))
    }

    fn read_file(&self, path: &str, context: &CitationContext<'_>) -> Result<String, ContextError> {
        self.read_file(context.root, context.pin, path)
    }
}

impl CitationChecker {
    fn look_up_references(
        &self,
        references: &[Reference],
        context: &CitationContext<'_>,
    ) -> Result<Vec<Citation>, RepoError> {
        if references.is_empty() {
            return Ok(vec![]);
        }
        let scope = LookupScope {
            preferred_paths: context.preferred_paths,
            folder: context.base_folder,
            excluded_path: context.excluded_path,
            base: context.base_tree,
            search: SearchMode::BuildIndex,
        };
        self.check(context.root, context.pin, references, &scope)
    }
}

fn unchecked_citation(reference: &Reference, error: &RepoError) -> Citation {
    Citation {
        raw: reference.raw.clone(),
        claim: reference.claim.clone(),
        path: None,
        line: None,
        end_line: None,
        quote: None,
        found: CitationStatus::Unchecked,
        found_at: None,
        note: Some(error.to_string()),
        removed: None,
    }
}
