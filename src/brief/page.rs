//! Formats text for the prompt: numbered lines, truncation, token estimates. Every line from the
//! repository starts with a number or a marker, so that it cannot pass for an instruction.
use super::hidden;
use std::borrow::Cow;

/// Line limit in characters.
const LONGEST_LINE: usize = 400;

/// Estimates tokens: four ASCII bytes or one other character count as one.
pub(super) fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}

/// Makes a name or title safe for one line: escapes invisible and replaces control characters.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let text = hidden::escape_invisible(text);
    if text.contains(char::is_control) {
        return Cow::Owned(text.replace(char::is_control, "\u{fffd}"));
    }
    text
}

/// Truncates a line and escapes invisible characters.
pub(super) fn cut(line: &str) -> Cow<'_, str> {
    let line = hidden::escape_invisible(line.strip_suffix('\r').unwrap_or(line));
    if line.len() <= LONGEST_LINE {
        return line;
    }
    match line.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => Cow::Owned(format!("{}…", &line[..at])),
        None => line,
    }
}

pub(super) fn numbered(number: usize, line: &str) -> String {
    format!("{number:>5} {}\n", cut(line))
}

/// Lines `first` to `last` of a text, with line numbers.
pub(super) fn lines(text: &str, first: usize, last: usize) -> String {
    let lines = text.lines().zip(1..).skip(first.saturating_sub(1));
    lines.take_while(|(_, at)| *at <= last).map(|(line, at)| numbered(at, line)).collect()
}

/// A count with its noun in singular or plural.
pub(super) fn many(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// Size with its unit, such as "1.2 kB".
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
