//! Formats text for the prompt: numbered lines, truncation, token estimates. Every line from the
//! repository starts with a number or a marker, so that it cannot pass for an instruction.
use super::hidden_text;
use std::borrow::Cow;

/// Line limit in characters.
const MAX_LINE_CHARS: usize = 400;

/// Estimates tokens: four ASCII bytes or one other character count as one.
pub(super) fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}

/// Makes a name or title safe for one line: escapes invisible and replaces control characters.
pub(super) fn sanitize_line(text: &str) -> Cow<'_, str> {
    let text = hidden_text::escape_invisible(text);
    if text.contains(char::is_control) {
        return Cow::Owned(text.replace(char::is_control, "\u{fffd}"));
    }
    text
}

/// Truncates a line and escapes invisible characters.
pub(super) fn truncate_line(line: &str) -> Cow<'_, str> {
    let line = hidden_text::escape_invisible(line.strip_suffix('\r').unwrap_or(line));
    if line.len() <= MAX_LINE_CHARS {
        return line;
    }
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &line[..end])),
        None => line,
    }
}

pub(super) fn numbered_line(number: usize, line: &str) -> String {
    format!("{number:>5} {}\n", truncate_line(line))
}

/// Lines `first` to `last` of a text, with line numbers.
pub(super) fn numbered_lines(text: &str, first: usize, last: usize) -> String {
    let lines = text.lines().zip(1..).skip(first.saturating_sub(1));
    lines
        .take_while(|(_, number)| *number <= last)
        .map(|(line, number)| numbered_line(number, line))
        .collect()
}

/// A count with its noun in singular or plural.
pub(super) fn pluralize(count: usize, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

/// Size with its unit, such as "1.2 kB".
pub(super) fn format_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_over_the_limit_is_cut() {
        assert_eq!(MAX_LINE_CHARS, 400);
        let at_limit = "é".repeat(MAX_LINE_CHARS);
        assert_eq!(truncate_line(&at_limit), at_limit);
        assert_eq!(truncate_line(&format!("{at_limit}é")), format!("{at_limit}…"));
    }
}
