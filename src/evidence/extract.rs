//! Extracts all references from a turn or text, in order, without duplicates. `port` calls
//! `extract_with_files` for turns and `extract_from_text` for other texts, then looks the
//! references up. Parsers for the parts are in `evidence_entry`, `prose_line` and `fenced_block`.
use super::location::PathContext;
use super::markdown::{self, MarkdownBlock};
use super::{
    CitedLocation, CitedTarget, CitedText, Reference, evidence_entry, fenced_block, prose_line,
    unverifiable, verification_marks,
};
use crate::debate::Body;
use crate::debate::invisible_chars::escape_invisible;
use std::collections::HashSet;

/// Maximum number of references of a turn.
const MAX_REFERENCES: usize = 200;
/// Maximum number of references of any other text.
const MAX_REFERENCES_IN_TEXT: usize = 5_000;
/// Maximum length of a quote in characters. The rest is not compared with the file.
const MAX_QUOTE_CHARS: usize = 60_000;
/// Maximum length of the raw text kept, in characters.
const MAX_RAW_CHARS: usize = 300;

/// Extracts the references of a turn: evidence of its claims and resolutions, then its prose.
/// Duplicates for one claim are dropped, and at most 200 references are returned. An evidence entry
/// may also start with one of `files` whose name does not look like a path, such as `Makefile` or a
/// name with spaces.
pub fn extract_with_files(body: &Body, files: &[String]) -> Vec<Reference> {
    let is_bare_name = |path: &str| !path.contains(['.', '/']);
    let is_unusual = |c: char| !(c.is_alphanumeric() || "._-/+@".contains(c));
    let unusual_paths = files
        .iter()
        .map(String::as_str)
        .filter(|path| is_bare_name(path) || path.contains(is_unusual));
    let unusual_paths =
        unusual_paths.map(|path| (escape_invisible(path).into_owned(), path)).collect();
    let mut extractor = Extractor { limit: MAX_REFERENCES, unusual_paths, ..Extractor::default() };
    let claims = body.claims().iter().map(|claim| (&claim.id, &claim.evidence));
    let resolutions =
        body.resolutions().iter().map(|resolution| (&resolution.claim, &resolution.evidence));
    for (claim, evidence) in claims.chain(resolutions) {
        for entry in evidence {
            extractor.add_entry(claim, entry);
        }
    }
    extractor.add_text(&body.to_text());
    extractor.references
}

/// Extracts the references of any other text, such as a review or report. At most 5,000.
pub fn extract_from_text(text: &str) -> Vec<Reference> {
    let mut extractor = Extractor { limit: MAX_REFERENCES_IN_TEXT, ..Extractor::default() };
    extractor.add_text(text);
    extractor.references
}

/// State of an extraction.
#[derive(Default)]
struct Extractor<'a> {
    /// Known files whose names do not look like paths: the name with invisible characters escaped,
    /// and the name itself.
    unusual_paths: Vec<(String, &'a str)>,
    references: Vec<Reference>,
    limit: usize,
    /// Targets extracted so far, per claim.
    seen: HashSet<(Option<String>, CitedTarget)>,
    /// Claim whose evidence is being parsed.
    claim: Option<String>,
}

impl Extractor<'_> {
    fn add_entry(&mut self, claim: &str, entry: &str) {
        self.claim = Some(claim.to_owned());
        let entry = verification_marks::strip_verification_marks(entry);
        if let Some(location) = evidence_entry::parse_known_path(&entry, &self.unusual_paths) {
            self.push(CitedTarget::Location(location), &entry);
        } else if markdown::has_fence(&entry) {
            self.add_blocks(&entry);
        } else if !entry.trim().is_empty() {
            for (target, raw) in evidence_entry::parse_entry(&entry) {
                self.push(target, &raw);
            }
        }
        self.claim = None;
    }

    fn add_text(&mut self, text: &str) {
        self.add_blocks(&verification_marks::strip_verification_marks(text));
    }

    fn add_blocks(&mut self, text: &str) {
        let blocks = markdown::split_blocks(text);
        let has_output = blocks.iter().any(|block| match block {
            MarkdownBlock::Fence(fence) => fence.body.contains(|c: char| c.is_ascii_digit()),
            MarkdownBlock::Line(_) => false,
        });
        let context = if self.claim.is_some() { PathContext::Evidence } else { PathContext::Prose };
        let mut previous_line = None;
        for block in &blocks {
            if self.references.len() >= self.limit {
                return;
            }
            match block {
                MarkdownBlock::Line(line) => {
                    for (target, range) in prose_line::parse_line(line, context) {
                        self.push(target, &line[range]);
                    }
                    if unverifiable::claims_measurement(line) && unverifiable::is_benchmark(line) {
                        self.push(evidence_entry::benchmark_target(line, has_output), line);
                    }
                    if !line.trim().is_empty() {
                        previous_line = Some(*line);
                    }
                }
                MarkdownBlock::Fence(fence) => {
                    if let Some((location, raw)) =
                        fenced_block::parse_block(fence, previous_line.take())
                    {
                        self.add_fence(location, raw);
                    }
                }
            }
        }
    }

    /// Adds a fenced block. If the reference before it is the same location without a quote, from
    /// the line that announces the block, it is replaced.
    fn add_fence(&mut self, location: CitedLocation, raw: &str) {
        let announcement = CitedTarget::Location(CitedLocation { text: None, ..location.clone() });
        if self.references.last().is_some_and(|last| last.target == announcement)
            && let Some(last) = self.references.pop()
        {
            self.seen.remove(&(last.claim, last.target));
        }
        self.push(CitedTarget::Location(location), raw);
    }

    fn is_claim_evidence(&self, target: &CitedTarget) -> bool {
        let claim_references = self.references.iter().take_while(|it| it.claim.is_some());
        claim_references.into_iter().any(|it| it.target == *target)
    }

    fn push(&mut self, mut target: CitedTarget, raw: &str) {
        if let CitedTarget::Location(CitedLocation {
            text: Some(CitedText::Quote(quote)), ..
        }) = &mut target
        {
            truncate_chars(quote, MAX_QUOTE_CHARS);
        }
        let mut raw = raw.trim().to_owned();
        truncate_chars(&mut raw, MAX_RAW_CHARS);
        // Unverifiable references are duplicates only if their text is equal.
        let is_new = match target {
            CitedTarget::Unverifiable(_) => {
                !self.references.iter().any(|it| it.target == target && it.raw == raw)
            }
            // Prose that repeats a claim's evidence is the same citation.
            _ if self.claim.is_none() && self.is_claim_evidence(&target) => false,
            _ => self.seen.insert((self.claim.clone(), target.clone())),
        };
        if is_new && self.references.len() < self.limit {
            let (claim, is_evidence) = (self.claim.clone(), self.claim.is_some());
            self.references.push(Reference { raw, claim, is_evidence, target });
        }
    }
}

fn truncate_chars(text: &mut String, max_chars: usize) {
    if let Some((at, _)) = text.char_indices().nth(max_chars) {
        text.truncate(at);
    }
}
