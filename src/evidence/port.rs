//! Implements the engine's `Evidence` port: extracts and looks up the citations of a turn or text.
use super::{Checker, Reference, Scope, Search, read_about, read_text, strip_tags};
use crate::debate::{Body, Citation, CitationStatus};
use crate::engine::{CitationContext, ContextError, Evidence};
use crate::repo::RepoError;

impl Evidence for Checker {
    fn strip_verification_marks(&self, text: &str) -> String {
        strip_tags(text).into_owned()
    }

    fn check_citations(&self, body: &Body, about: &CitationContext<'_>) -> Vec<Citation> {
        let references = read_about(body, about.preferred_paths);
        // An unreadable repository must not lose the turn, so each citation is recorded as
        // unchecked with the error message.
        self.looked_up(&references, about).unwrap_or_else(|error| {
            references.iter().map(|reference| unseen(reference, &error)).collect()
        })
    }

    fn check_text(
        &self,
        text: &str,
        about: &CitationContext<'_>,
    ) -> Result<Vec<Citation>, ContextError> {
        let references = read_text(&strip_tags(text));
        self.looked_up(&references, about).map_err(|error| ContextError(error.to_string()))
    }

    fn read_file(&self, path: &str, about: &CitationContext<'_>) -> Result<String, ContextError> {
        self.shown(about.root, about.pin, path)
    }
}

impl Checker {
    fn looked_up(
        &self,
        references: &[Reference],
        about: &CitationContext<'_>,
    ) -> Result<Vec<Citation>, RepoError> {
        if references.is_empty() {
            return Ok(vec![]);
        }
        let scope = Scope {
            prefer: about.preferred_paths,
            folder: about.base_folder,
            except: about.excluded_path,
            was: about.base_tree,
            search: Search::Whole,
        };
        self.check(about.root, about.pin, references, &scope)
    }
}

fn unseen(reference: &Reference, error: &RepoError) -> Citation {
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
