//! Normalized variants of a quote, tried in order until one matches: as written, without line
//! numbers, diff marks or quotation marks, split at elisions, without final punctuation. Invisible
//! characters are ignored. Other characters are compared as they are: homoglyphs and different
//! Unicode normalization forms (NFC, NFD) do not match.
use super::prose_line;
use crate::debate::invisible_chars::is_invisible;

/// Minimum length of a quote that proves something, in characters.
const MIN_QUOTE_CHARS: usize = 6;
/// Minimum length of the longest word in it, in letters and digits.
const MIN_WORD_CHARS: usize = 3;
/// Minimum number of letters and digits in a piece between two elisions. Shorter ones are dropped.
const MIN_PIECE_CHARS: usize = 3;

/// Consecutive lines of a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuotePart {
    /// Lines as written, without blank ones.
    pub(super) lines: Vec<String>,
    /// Search string: the lines without white space, joined by newlines.
    pub(super) needle: String,
}

/// Returns all variants of a quote, without duplicates.
pub(super) fn quote_variants(quote: &str) -> Vec<Vec<QuotePart>> {
    let lines: Vec<&str> = quote.lines().collect();
    let mut line_sets = vec![lines.clone()];
    line_sets.extend(strip_line_numbers(&lines));
    line_sets.extend(strip_diff_marks(&lines, '-'));
    line_sets.extend(strip_diff_marks(&lines, '+'));
    line_sets.extend(strip_quotation_marks(quote));
    // Quotes copied from JSON or a shell contain escaped quotation marks.
    let unescaped = quote.replace("\\\"", "\"").replace("\\'", "'");
    if unescaped != quote {
        line_sets.push(unescaped.lines().collect());
    }
    // Debaters see invisible characters as Unicode escapes.
    let without_escapes = strip_unicode_escapes(quote);
    if without_escapes != quote {
        line_sets.push(without_escapes.lines().collect());
    }
    let mut variants: Vec<Vec<QuotePart>> = vec![];
    for lines in &line_sets {
        add_variant(&mut variants, QuotePart::new(lines).into_iter().collect());
        add_variant(&mut variants, split_at_elided_lines(lines));
    }
    for lines in &line_sets {
        add_variant(&mut variants, split_at_elisions(lines));
    }
    for index in 0..variants.len() {
        let mut trimmed = variants[index].clone();
        if let Some(last) = trimmed.last_mut() {
            last.drop_punctuation();
        }
        add_variant(&mut variants, trimmed);
    }
    variants
}

/// Strips escapes such as `\u{200b}` that stand for invisible characters.
fn strip_unicode_escapes(quote: &str) -> String {
    let mut stripped = String::with_capacity(quote.len());
    let mut rest = quote;
    while let Some(start) = rest.find("\\u{") {
        let end = rest[start..].find('}').map(|end| start + end + 1);
        let code = end.and_then(|end| u32::from_str_radix(&rest[start + 3..end - 1], 16).ok());
        let is_hidden = code.and_then(char::from_u32).is_some_and(is_invisible);
        let end = end.filter(|_| is_hidden).unwrap_or(start + 3);
        stripped.push_str(&rest[..if is_hidden { start } else { end }]);
        rest = &rest[end..];
    }
    stripped + rest
}

/// Whether a quote is too short to prove anything.
pub(super) fn is_too_short(parts: &[QuotePart]) -> bool {
    let text: String = parts.iter().map(|part| part.needle.as_str()).collect();
    let char_count = text.chars().filter(|c| *c != '\n').count();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    char_count < MIN_QUOTE_CHARS
        || words.map(|word| word.chars().count()).max().unwrap_or(0) < MIN_WORD_CHARS
}

fn add_variant(variants: &mut Vec<Vec<QuotePart>>, parts: Vec<QuotePart>) {
    let has_text = !parts.is_empty() && parts.iter().all(|part| !part.needle.is_empty());
    if has_text && !variants.contains(&parts) {
        variants.push(parts);
    }
}

impl QuotePart {
    /// Part of a single line.
    pub(super) fn from_line(line: &str) -> Option<QuotePart> {
        QuotePart::new(&[line])
    }

    fn new(lines: &[&str]) -> Option<QuotePart> {
        let trimmed = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        let lines: Vec<String> = trimmed.map(str::to_owned).collect();
        let mut needle = String::new();
        for (index, line) in lines.iter().enumerate() {
            if index > 0 {
                needle.push('\n');
            }
            squeeze(line, &mut needle);
        }
        (!lines.is_empty()).then_some(QuotePart { lines, needle })
    }

    fn drop_punctuation(&mut self) {
        let marks = [';', ',', '…', '.', ':'];
        self.needle.truncate(self.needle.trim_end_matches(marks).len());
        if let Some(last) = self.lines.last_mut() {
            last.truncate(last.trim_end_matches(marks).trim_end().len());
        }
    }
}

/// Appends a text without white space and invisible characters.
pub(super) fn squeeze(text: &str, output: &mut String) {
    // Fast path for printable ASCII.
    let is_printable = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x20..=0x7e);
    if text.bytes().all(is_printable) {
        output.extend(text.split_ascii_whitespace());
    } else {
        // Invisible characters cannot be quoted, so they are dropped.
        output.extend(
            text.split_whitespace().flat_map(|word| word.chars().filter(|c| !is_invisible(*c))),
        );
    }
}

/// Splits a quote at lines that are elisions.
fn split_at_elided_lines(lines: &[&str]) -> Vec<QuotePart> {
    let mut lines = lines.to_vec();
    if let Some(first) = lines.iter_mut().find(|line| !line.trim().is_empty()) {
        *first = first.trim_start().trim_start_matches("...").trim_start_matches('…');
    }
    if let Some(last) = lines.iter_mut().rfind(|line| !line.trim().is_empty()) {
        *last = last.trim_end().trim_end_matches("...").trim_end_matches('…');
    }
    lines.split(|line| is_elision(line)).filter_map(QuotePart::new).collect()
}

/// Splits a quote at elisions within lines: `fn open(…) -> Store`. Drops very short pieces.
fn split_at_elisions(lines: &[&str]) -> Vec<QuotePart> {
    let text = lines.join("\n");
    let pieces = text.split("...").flat_map(|piece| piece.split('…'));
    let part = |piece: &str| QuotePart::new(&piece.lines().collect::<Vec<_>>());
    let is_distinctive = |part: &QuotePart| {
        part.needle.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_PIECE_CHARS
    };
    pieces.filter_map(part).filter(is_distinctive).collect()
}

/// Whether a line is an elision (`...`), possibly in a comment.
fn is_elision(line: &str) -> bool {
    let bare = line.trim().trim_start_matches(['/', '#', '*', '-', ';', '<', '!', '[', '(', ' ']);
    let after = bare.strip_prefix("...").or_else(|| bare.strip_prefix('…'));
    after.is_some_and(|after| {
        let is_comment = bare.len() < line.trim().len();
        is_comment || !after.chars().any(char::is_alphanumeric)
    })
}

/// Strips line numbers, if all lines have ascending ones.
fn strip_line_numbers<'a>(lines: &[&'a str]) -> Option<Vec<&'a str>> {
    let (mut bare, mut last) = (vec![], None);
    for line in lines {
        if line.trim().is_empty() || is_elision(line) {
            bare.push(*line);
            continue;
        }
        let start = line.trim_start_matches([' ', '\t', '>', '*', '+', '-']);
        let digits = start.bytes().take_while(u8::is_ascii_digit).count();
        let number: u32 = start.get(..digits)?.parse().ok()?;
        let rest = start[digits..].trim_start_matches(' ');
        let rest = match rest.strip_prefix(['|', '│', ':', '→', '\t']) {
            Some(rest) => rest,
            None if rest.is_empty() || start[digits..].starts_with("  ") => rest,
            None => return None,
        };
        if last.is_some_and(|last| number <= last) {
            return None;
        }
        last = Some(number);
        bare.push(rest);
    }
    last.map(|_| bare)
}

/// Strips diff and block quote marks. Lines marked with `dropped` are removed if the opposite mark
/// occurs, too.
fn strip_diff_marks<'a>(lines: &[&'a str], dropped: char) -> Option<Vec<&'a str>> {
    let opposite = if dropped == '-' { '+' } else { '-' };
    let has_opposite = lines.iter().any(|line| line.starts_with(opposite));
    let (mut bare, mut has_marks) = (vec![], false);
    for line in lines {
        let is_header = ["+++ ", "--- ", "diff ", "index "].iter().any(|it| line.starts_with(it));
        if is_header || has_opposite && line.starts_with(dropped) {
            continue;
        }
        if line.starts_with("@@") {
            bare.push("...");
        } else if let Some(rest) = line.strip_prefix(['+', '-', '>']) {
            has_marks = true;
            bare.push(rest);
        } else if line.is_empty() || line.starts_with([' ', '\t']) {
            bare.push(*line);
        } else {
            return None;
        }
    }
    has_marks.then_some(bare)
}

/// Strips surrounding quotation marks.
fn strip_quotation_marks(quote: &str) -> Option<Vec<&str>> {
    let quote = quote.trim();
    let pairs = prose_line::QUOTE_MARKS.iter().chain(&[('\'', '\''), ('`', '`')]);
    let inner = pairs.into_iter().find_map(|(open, close)| {
        quote.strip_prefix(*open)?.strip_suffix(*close).filter(|inner| !inner.is_empty())
    });
    inner.map(|inner| inner.lines().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quote_has_6_characters_and_a_word_of_3() {
        let is_short = |quote: &str| is_too_short(&[QuotePart::from_line(quote).unwrap()]);
        assert!(!is_short("abc = 12"), "6 characters without white space");
        assert!(is_short("abc = 1"), "5 characters");
        assert!(is_short("ab = 12;"), "no word of 3 characters");
        assert_eq!((MIN_QUOTE_CHARS, MIN_WORD_CHARS), (6, 3));
    }

    #[test]
    fn piece_between_elisions_has_3_letters_or_digits() {
        assert_eq!(split_at_elisions(&["ab1(…)xyz"]).len(), 2);
        assert_eq!(split_at_elisions(&["ab(…)xyz"]).len(), 1);
        assert_eq!(MIN_PIECE_CHARS, 3);
    }
}
