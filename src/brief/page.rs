//! Text as debaters see it: numbered lines, cut where they are long, and an estimate of how much it
//! is. Whatever comes from a repository stands on lines with a number or a mark before it.
use super::hidden;
use std::borrow::Cow;

/// Characters of a line that are shown.
const LONGEST_LINE: usize = 400;

/// About how many tokens a text has: four bytes make one, and so does each character that is not
/// ASCII.
pub(super) fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}

/// A name or a title, on one line whatever it holds.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let text = hidden::shown(text);
    if text.contains(char::is_control) {
        return Cow::Owned(text.replace(char::is_control, "\u{fffd}"));
    }
    text
}

/// A line as it is shown, without its end.
pub(super) fn cut(line: &str) -> Cow<'_, str> {
    let line = hidden::shown(line.strip_suffix('\r').unwrap_or(line));
    if line.len() <= LONGEST_LINE {
        return line;
    }
    match line.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => Cow::Owned(format!("{}…", &line[..at])),
        None => line,
    }
}

/// One line with its number.
pub(super) fn numbered(number: usize, line: &str) -> String {
    format!("{number:>5} {}\n", cut(line))
}

/// Lines of a text, from the first to the last, with their numbers.
pub(super) fn lines(text: &str, first: usize, last: usize) -> String {
    let lines = text.lines().zip(1..).skip(first.saturating_sub(1));
    lines.take_while(|(_, at)| *at <= last).map(|(line, at)| numbered(at, line)).collect()
}

/// A number of things, in words.
pub(super) fn many(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// A number of bytes, in words.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
