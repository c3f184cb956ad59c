//! Sanitizers for untrusted text: invisible characters, length limits, HTML, CI log commands, JSON.
use crate::debate::invisible_chars::{is_invisible, is_visible_joiner};
use serde::Serialize;
use std::fmt::Write;

/// Joiners in a row that are kept, as an emoji may need them.
const MAX_JOINERS: usize = 2;

/// Replaces invisible characters by their code point: `[U+202E]`, or `[U+200B+7]` for the first of
/// eight. Joiners that a script or an emoji needs are kept.
pub(super) fn reveal_invisible(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut output = String::with_capacity(text.len());
    let (mut previous, mut joiners) = (' ', 0);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_visible_joiner(c, previous) && joiners < MAX_JOINERS {
            joiners += 1;
            output.push(c);
            continue;
        }
        joiners = 0;
        if !is_invisible(c) {
            previous = c;
            output.push(c);
            continue;
        }
        previous = ' ';
        let _ = write!(output, "[U+{:04X}", u32::from(c));
        let more = std::iter::from_fn(|| chars.next_if(|c| is_invisible(*c))).count();
        if more > 0 {
            let _ = write!(output, "+{more}");
        }
        output.push(']');
    }
    output
}

/// Truncates to `max_chars` characters, with `…` at the end.
pub(super) fn truncate_chars(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let prefix: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    format!("{}…", prefix.trim_end())
}

/// Sanitizes text to one line of at most `max_chars` characters.
pub(super) fn single_line(text: &str, max_chars: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate_chars(&reveal_invisible(&text), max_chars)
}

/// Sanitizes text to at most `max_lines` lines and `max_chars` characters.
pub(super) fn multi_line(text: &str, max_chars: usize, max_lines: usize) -> String {
    let text = reveal_invisible(text.trim_matches(['\r', '\n']));
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).take(max_lines + 1).collect();
    if lines.len() > max_lines {
        lines[max_lines - 1] = "…";
        lines.truncate(max_lines);
    }
    truncate_chars(&lines.join("\n"), max_chars)
}

/// Escapes text for HTML content and quoted attributes. Also escapes CI log commands (`::`, `##[`),
/// because the page may be printed to a log.
pub(super) fn escape_html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let text = text.replace('"', "&quot;").replace('\'', "&#39;").replace("##[", "&#35;#[");
    let escape_command = |line: &str| {
        let trimmed = line.trim_start();
        let command = trimmed.strip_prefix("::").map(|rest| {
            let indent = &line[..line.len() - trimmed.len()];
            format!("{indent}&#58;&#58;{rest}")
        });
        command.unwrap_or_else(|| line.to_owned())
    };
    text.split('\n').map(escape_command).collect::<Vec<_>>().join("\n")
}

/// Breaks CI log commands (`##[`, `##vso[`) and HTML comment markers anywhere in a line.
pub(super) fn break_log_commands(text: &str) -> String {
    text.replace("##[", "## [").replace("##vso[", "## vso[").replace("<!--", "<! --")
}

/// Serializes to JSON with invisible characters and `##` as `\u` escapes, so that no log parses it
/// as a command.
pub(super) fn to_safe_json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut output = String::with_capacity(text.len() + 1);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // These characters occur in JSON strings only.
        if is_invisible(c) || c == '#' && chars.peek() == Some(&'#') {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(output, "\\u{unit:04x}");
            }
        } else {
            output.push(c);
        }
    }
    output.push('\n');
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_in_a_row_are_limited() {
        assert_eq!(MAX_JOINERS, 2);
        let joined = |joiners: usize| format!("é{}", "\u{200d}".repeat(joiners));
        assert_eq!(reveal_invisible(&joined(MAX_JOINERS)), joined(MAX_JOINERS));
        let above = format!("{}[U+200D]", joined(MAX_JOINERS));
        assert_eq!(reveal_invisible(&joined(MAX_JOINERS + 1)), above);
    }
}
