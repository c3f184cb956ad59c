//! Implements the engine's `Evidence` port: extracts and looks up the citations of a turn or text.
use super::{Checker, Reference, Scope, Search, read_about, read_text, strip_tags};
use crate::debate::{Body, Citation, CitationStatus};
use crate::engine::{About, BadContext, Evidence};
use crate::repo::RepoError;

impl Evidence for Checker {
    fn unmarked(&self, text: &str) -> String {
        strip_tags(text).into_owned()
    }

    fn citations(&self, body: &Body, about: &About<'_>) -> Vec<Citation> {
        let references = read_about(body, about.touched);
        // An unreadable repository must not lose the turn, so each citation is recorded as
        // unchecked with the error message.
        self.looked_up(&references, about).unwrap_or_else(|error| {
            references.iter().map(|reference| unseen(reference, &error)).collect()
        })
    }

    fn look_up(&self, text: &str, about: &About<'_>) -> Result<Vec<Citation>, BadContext> {
        let references = read_text(&strip_tags(text));
        self.looked_up(&references, about).map_err(|error| BadContext(error.to_string()))
    }

    fn file(&self, path: &str, about: &About<'_>) -> Result<String, BadContext> {
        self.shown(about.root, about.pin, path)
    }
}

impl Checker {
    fn looked_up(
        &self,
        references: &[Reference],
        about: &About<'_>,
    ) -> Result<Vec<Citation>, RepoError> {
        if references.is_empty() {
            return Ok(vec![]);
        }
        let scope = Scope {
            prefer: about.touched,
            folder: about.folder,
            except: about.except,
            was: about.was,
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
