//! Finds the cited text in one file, at or near the cited lines.
use super::quote_variants::{self, QuotePart};
use super::source_text::{SearchTerm, SourceText};
use super::{CitedLocation, CitedText, symbol_names};

/// Lines a quote may be off its cited lines and still count as near.
const NEAR_LINES: u32 = 15;

/// Where in the cited file a text was found, by line.
pub(super) enum QuoteSpot {
    Exact(u32),
    Near(u32),
    Elsewhere(u32),
}

impl QuoteSpot {
    pub(super) fn line(&self) -> u32 {
        match self {
            QuoteSpot::Exact(line) | QuoteSpot::Near(line) | QuoteSpot::Elsewhere(line) => *line,
        }
    }
}

/// Finds the cited text in a file. Returns the spot and the variant of the quote that matched.
pub(super) fn find_spot(
    text: &SourceText,
    location: &CitedLocation,
) -> Option<(QuoteSpot, Option<Vec<QuotePart>>)> {
    match location.text.as_ref()? {
        CitedText::Symbol(name) => {
            let last_part = symbol_names::symbol_parts(name).last().unwrap_or(name);
            let full_match = find_nearest(text, SearchTerm::Symbol(name), location.lines);
            full_match
                .or_else(|| find_nearest(text, SearchTerm::Symbol(last_part), location.lines))
                .map(|spot| (spot, None))
        }
        CitedText::Quote(quote) => {
            quote_variants::quote_variants(quote).into_iter().find_map(|parts| {
                find_nearest(text, SearchTerm::Parts(&parts), location.lines)
                    .map(|spot| (spot, Some(parts)))
            })
        }
    }
}

/// Finds the occurrence nearest to the cited lines.
fn find_nearest(
    text: &SourceText,
    term: SearchTerm<'_>,
    lines: Option<(u32, u32)>,
) -> Option<QuoteSpot> {
    let anywhere = || text.find_first(term, 1..=u32::MAX);
    let Some((first, last)) = lines else { return anywhere().map(QuoteSpot::Exact) };
    if let Some(line) = text.find_first(term, first..=last) {
        return Some(QuoteSpot::Exact(line));
    }
    let before =
        text.find_last(term, first.saturating_sub(NEAR_LINES).max(1)..=first.saturating_sub(1));
    let after = text.find_first(term, last.saturating_add(1)..=last.saturating_add(NEAR_LINES));
    match (before, after) {
        (Some(before), Some(after)) if after - last < first - before => {
            Some(QuoteSpot::Near(after))
        }
        (Some(line), _) | (None, Some(line)) => Some(QuoteSpot::Near(line)),
        (None, None) => anywhere().map(QuoteSpot::Elsewhere),
    }
}
