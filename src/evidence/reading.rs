//! Extracts all references from a turn or text, in order, without duplicates. Parsers for the parts
//! are in `evidence_entry`, `prose_line` and `fenced_block`.
use super::markdown::{self, Block};
use super::place::Setting;
use super::{Cited, Place, Reference, Words, entry, fence, line, stated, tags};
use crate::debate::Body;
use crate::debate::invisible_chars::escape_invisible;
use std::collections::HashSet;

/// Maximum number of references of a turn, and of any other text.
const MOST: usize = 200;
const MOST_OF_TEXT: usize = 5_000;
/// Maximum length of a quote in characters. The rest is not compared.
const LONGEST_QUOTE: usize = 60_000;
/// Maximum length of the raw text kept, in characters.
const LONGEST_RAW: usize = 300;

/// Extracts the references of a turn: evidence of its claims and resolutions, then its prose.
/// Duplicates for one claim are dropped, and at most 200 references are returned.
pub fn read(body: &Body) -> Vec<Reference> {
    read_about(body, &[])
}

/// Like `extract`, but also recognizes these files, even if their names do not look like paths.
pub fn read_about(body: &Body, files: &[String]) -> Vec<Reference> {
    let bare = |path: &str| !path.contains(['.', '/']);
    let strange = |c: char| !(c.is_alphanumeric() || "._-/+@".contains(c));
    let odd = files.iter().map(String::as_str).filter(|path| bare(path) || path.contains(strange));
    let odd = odd.map(|path| (escape_invisible(path).into_owned(), path)).collect();
    let mut reading = Reading { most: MOST, odd, ..Reading::default() };
    let claims = body.claims().iter().map(|claim| (&claim.id, &claim.evidence));
    let resolved =
        body.resolutions().iter().map(|resolution| (&resolution.claim, &resolution.evidence));
    for (claim, evidence) in claims.chain(resolved) {
        for entry in evidence {
            reading.entry(claim, entry);
        }
    }
    reading.text(&body.to_text());
    reading.references
}

/// Extracts the references of any other text, such as a review or report. At most 5,000.
pub fn read_text(text: &str) -> Vec<Reference> {
    let mut reading = Reading { most: MOST_OF_TEXT, ..Reading::default() };
    reading.text(text);
    reading.references
}

/// State of an extraction.
#[derive(Default)]
struct Reading<'a> {
    /// Known files whose names do not look like paths, with their escaped spelling.
    odd: Vec<(String, &'a str)>,
    references: Vec<Reference>,
    most: usize,
    /// Targets extracted so far, per claim.
    seen: HashSet<(Option<String>, Cited)>,
    /// Claim whose evidence is being parsed.
    claim: Option<String>,
}

impl Reading<'_> {
    fn entry(&mut self, claim: &str, entry: &str) {
        self.claim = Some(claim.to_owned());
        let entry = tags::strip_tags(entry);
        if let Some(place) = entry::known(&entry, &self.odd) {
            self.push(Cited::Place(place), &entry);
        } else if markdown::fenced(&entry) {
            self.blocks(&entry);
        } else if !entry.trim().is_empty() {
            for (cited, raw) in entry::cited(&entry) {
                self.push(cited, &raw);
            }
        }
        self.claim = None;
    }

    fn text(&mut self, text: &str) {
        self.blocks(&tags::strip_tags(text));
    }

    fn blocks(&mut self, text: &str) {
        let blocks = markdown::blocks(text);
        let output = blocks.iter().any(|block| match block {
            Block::Fence(fence) => fence.body.contains(|c: char| c.is_ascii_digit()),
            Block::Line(_) => false,
        });
        let setting = if self.claim.is_some() { Setting::Offered } else { Setting::Prose };
        let mut before = None;
        for block in &blocks {
            if self.references.len() >= self.most {
                return;
            }
            match block {
                Block::Line(line) => {
                    for (cited, range) in line::cited(line, setting) {
                        self.push(cited, &line[range]);
                    }
                    if stated::ran(line) && stated::benchmark(line) {
                        self.push(entry::figures(line, output), line);
                    }
                    if !line.trim().is_empty() {
                        before = Some(*line);
                    }
                }
                Block::Fence(fence) => {
                    if let Some((place, raw)) = fence::cited(fence, before.take()) {
                        self.fence(place, raw);
                    }
                }
            }
        }
    }

    /// Adds a fenced block. It replaces the reference of the line that announces it.
    fn fence(&mut self, place: Place, raw: &str) {
        let announced = Cited::Place(Place { words: None, ..place.clone() });
        if self.references.last().is_some_and(|last| last.cited == announced)
            && let Some(last) = self.references.pop()
        {
            self.seen.remove(&(last.claim, last.cited));
        }
        self.push(Cited::Place(place), raw);
    }

    fn cited_for_claims(&self, cited: &Cited) -> bool {
        let claims = self.references.iter().take_while(|it| it.claim.is_some());
        claims.into_iter().any(|it| it.cited == *cited)
    }

    fn push(&mut self, mut cited: Cited, raw: &str) {
        if let Cited::Place(Place { words: Some(Words::Quote(quote)), .. }) = &mut cited {
            cut(quote, LONGEST_QUOTE);
        }
        let mut raw = raw.trim().to_owned();
        cut(&mut raw, LONGEST_RAW);
        // Unverifiable references are duplicates only if their text is equal.
        let new = match cited {
            Cited::Stated(_) => {
                !self.references.iter().any(|it| it.cited == cited && it.raw == raw)
            }
            // Prose that repeats a claim's evidence is the same citation.
            _ if self.claim.is_none() && self.cited_for_claims(&cited) => false,
            _ => self.seen.insert((self.claim.clone(), cited.clone())),
        };
        if new && self.references.len() < self.most {
            let (claim, offered) = (self.claim.clone(), self.claim.is_some());
            self.references.push(Reference { raw, claim, offered, cited });
        }
    }
}

fn cut(text: &mut String, longest: usize) {
    if let Some((at, _)) = text.char_indices().nth(longest) {
        text.truncate(at);
    }
}
