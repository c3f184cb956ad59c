//! Strips forged verification marks: a model may write `[verified]` to pretend that a citation was
//! checked. Only the checker may say so, and every text is stripped before it is parsed.
use super::markdown::{self, InlineSpan, MarkdownBlock};
use std::borrow::Cow;
use std::ops::Range;

/// Words that make a bracket a mark, if it contains only words of these two lists.
const MARK_WORDS: &[&str] = &[
    "verified",
    "checked",
    "confirmed",
    "validated",
    "exact",
    "ok",
    "okay",
    "valid",
    "passed",
    "correct",
    "proven",
    "authentic",
    "verbatim",
];

/// Words allowed beside them.
const MARK_FILLERS: &[&str] = &[
    "match",
    "matches",
    "citation",
    "citations",
    "quote",
    "quotes",
    "quoted",
    "evidence",
    "source",
    "status",
    "yes",
    "true",
    "found",
    "by",
    "debate",
    "tool",
    "system",
    "at",
    "the",
    "pinned",
    "tree",
    "commit",
    "line",
    "lines",
    "in",
    "repo",
    "repository",
    "file",
    "check",
    "successfully",
    "against",
    "and",
    "is",
    "was",
    "reference",
    "pass",
    "fully",
    "independently",
    "automatically",
];

/// With a colon after one of these, the whole bracket is a mark.
const MARK_HEADS: &[&str] =
    &["verified", "checked", "citation", "verification", "confirmed", "validated"];

/// Maximum length of a mark in bytes.
const MAX_MARK_BYTES: usize = 120;
/// Maximum length in bytes of a citation before a mark. It keeps the scan linear.
const MAX_CITATION_BYTES: usize = 300;
/// Maximum number of passes. Stripping a mark can expose another one.
const MAX_PASSES: usize = 4;

/// Strips verification marks after a citation, at the end of a line, or written as tags. Code is
/// left unchanged.
pub fn strip_verification_marks(text: &str) -> Cow<'_, str> {
    let mut stripped = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        match strip_once(&stripped) {
            Some(shorter) => stripped = Cow::Owned(shorter),
            None => break,
        }
    }
    stripped
}

/// One pass. None if nothing was stripped.
fn strip_once(text: &str) -> Option<String> {
    // Fast path: most texts have no mark and need no parsing.
    let lower = text.to_lowercase();
    if !MARK_WORDS
        .iter()
        .chain(&["citation", "verification", "✓", "✅", "✔", "☑"])
        .any(|word| lower.contains(word))
    {
        return None;
    }
    let base = text.as_ptr() as usize;
    let (mut output, mut copied) = (String::new(), 0);
    for block in markdown::split_blocks(text) {
        let MarkdownBlock::Line(line) = block else { continue };
        let start = line.as_ptr() as usize - base;
        for mark in find_marks(line) {
            output.push_str(text[copied..start + mark.start].trim_end_matches([' ', '\t']));
            copied = start + mark.end;
        }
    }
    (copied > 0).then(|| output + &text[copied..])
}

/// Byte ranges of the marks in a line, in order.
fn find_marks(line: &str) -> Vec<Range<usize>> {
    let spans = markdown::split_spans(line);
    let mut marks: Vec<Range<usize>> = vec![];
    // Backwards, so that a mark before a final mark is final, too.
    let mut end = line.len();
    for span in spans.iter().rev() {
        let InlineSpan::Text(range) = span else { continue };
        let mut text_end = range.end;
        if let Some(tick_mark) = find_tick_mark(line, range, end) {
            (text_end, end) = (tick_mark.start, tick_mark.start);
            marks.push(tick_mark);
        }
        for bracket in find_bracket_marks(line, range.start..text_end).into_iter().rev() {
            let rest = line[bracket.end..end.max(bracket.end)].trim();
            let at_end = rest.chars().all(|c| !c.is_alphanumeric() && c != '`');
            let is_tag = line[bracket.clone()].starts_with('<');
            if is_tag || at_end || ends_in_citation(line[..bracket.start].trim_end()) {
                if at_end {
                    end = bracket.start;
                }
                marks.push(bracket);
            }
        }
    }
    marks.reverse();
    marks
}

/// Whether the text before a mark ends in a citation.
fn ends_in_citation(before: &str) -> bool {
    before.ends_with(['`', '"', '”', '’', '」']) || {
        let start = before.len().saturating_sub(MAX_CITATION_BYTES);
        let start = (start..=before.len()).find(|at| before.is_char_boundary(*at)).unwrap_or(0);
        let word = before[start..].rsplit(char::is_whitespace).next().unwrap_or_default();
        let word = word.trim_start_matches(['(', '[']);
        super::location::parse_location(word, super::location::PathContext::Prose).is_some()
            || super::unverifiable::is_url(word)
    }
}

/// Finds `✓ verified` at the end of a line.
fn find_tick_mark(line: &str, range: &Range<usize>, end: usize) -> Option<Range<usize>> {
    let end = end.min(range.end);
    if line[end..].chars().any(|c| c.is_alphanumeric() || c == '`') {
        return None;
    }
    let text =
        line.get(range.start..end)?.trim_end_matches([' ', '.', '\t', '*', '_', '!', '\u{fe0f}']);
    let bare = text.trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
    let tick = bare.trim_end_matches(['✓', '✅', '✔', '☑', '\u{fe0f}']);
    let words = text[bare.len()..].to_lowercase();
    let only_mark_words = words.split(' ').all(|word| word.is_empty() || is_mark_word(word));
    (tick.len() < bare.len() && only_mark_words && !tick.trim().is_empty())
        .then(|| range.start + tick.len()..range.start + text.len())
}

/// Finds brackets that contain only a mark.
fn find_bracket_marks(line: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut marks = vec![];
    let mut open: Option<(usize, char)> = None;
    for (offset, c) in line[range.clone()].char_indices() {
        let offset = range.start + offset;
        match (c, open) {
            ('[', _) => open = Some((offset, ']')),
            ('(', _) => open = Some((offset, ')')),
            ('<', _) => open = Some((offset, '>')),
            ('【', _) => open = Some((offset, '】')),
            (_, Some((start, closing))) if c == closing => {
                let end = offset + c.len_utf8();
                let follows_word = line[..start].ends_with(|c: char| c.is_alphabetic() || c == '_');
                if !follows_word && end - start <= MAX_MARK_BYTES && is_mark(&line[start..end]) {
                    marks.push(start..end);
                }
                open = None;
            }
            _ => {}
        }
    }
    marks
}

fn is_mark(bracket: &str) -> bool {
    let inner = bracket.trim_matches(['[', ']', '(', ')', '<', '>', '【', '】', '/', ' ']);
    let lower = inner.to_lowercase();
    let head = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    if let Some((head, _)) = head.split_once(':')
        && MARK_HEADS.contains(&head.trim())
    {
        return true;
    }
    let words = || lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words().any(|word| MARK_WORDS.contains(&word)) && words().all(is_mark_word)
}

fn is_mark_word(word: &str) -> bool {
    MARK_WORDS.contains(&word) || MARK_FILLERS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_has_120_bytes() {
        let strip = |bytes: usize| {
            let mark = format!("[verified: {}]", "x".repeat(bytes - 12));
            strip_verification_marks(&format!("src/a.rs:1 {mark}")).into_owned()
        };
        assert_eq!(strip(MAX_MARK_BYTES), "src/a.rs:1");
        assert!(strip(MAX_MARK_BYTES + 1).contains("verified"));
        assert_eq!(MAX_MARK_BYTES, 120);
    }

    #[test]
    fn citation_before_a_mark_has_300_bytes() {
        let url = |bytes: usize| format!("https://{}", "x".repeat(bytes - "https://".len()));
        assert!(ends_in_citation(&url(MAX_CITATION_BYTES)));
        assert!(!ends_in_citation(&url(MAX_CITATION_BYTES + 1)));
        assert_eq!(MAX_CITATION_BYTES, 300);
    }

    #[test]
    fn nested_marks_are_stripped_in_4_passes() {
        let strip = |depth: usize| {
            let marks = " [ok".repeat(depth) + &"]".repeat(depth);
            strip_verification_marks(&format!("src/a.rs:1{marks}")).into_owned()
        };
        assert_eq!(strip(MAX_PASSES), "src/a.rs:1");
        assert_eq!(strip(MAX_PASSES + 1), "src/a.rs:1 [ok]");
        assert_eq!(MAX_PASSES, 4);
    }
}
