//! Byte ranges of secrets in a text, as the matchers return them and as `scan` merges them.
use super::placeholder;

/// Result of a matcher: start, end and kind.
pub(super) type MatchedSpan = (usize, usize, &'static str);

/// A secret in a text, as a byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// Start of its keyword, at most `start`. A stream must not be cut between it and `end`.
    pub(super) keyword_start: usize,
}

/// Sorts secrets, and merges those that overlap.
pub(super) fn merge_overlaps(mut found: Vec<SecretSpan>) -> Vec<SecretSpan> {
    found.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    let mut merged: Vec<SecretSpan> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut() {
            Some(last) if next.start < last.end => {
                let same = (last.start, last.end) == (next.start, next.end);
                if next.end > last.end {
                    (last.end, last.kind) = (next.end, placeholder::KIND_SECRET);
                } else if same && specificity(next.kind) > specificity(last.kind) {
                    last.kind = next.kind;
                }
                last.keyword_start = last.keyword_start.min(next.keyword_start);
            }
            _ => merged.push(next),
        }
    }
    merged
}

/// How specific a kind is. For the same bytes, the most specific kind is reported.
fn specificity(kind: &str) -> u8 {
    match kind {
        placeholder::KIND_SECRET => 0,
        placeholder::KIND_KNOWN_VALUE => 1,
        _ => 2,
    }
}
