//! Sanitizers for untrusted text: invisible characters, length limits, HTML, CI log commands, JSON.
use crate::debate::invisible_chars::is_visible_joiner;
use serde::Serialize;
use std::fmt::Write;

pub use crate::debate::invisible_chars::is_invisible as hidden;

/// Replaces invisible characters by their code point: `[U+202E]`, or `[U+200B+7]` for the first of
/// eight. Joiners that a script or an emoji needs are kept.
pub fn reveal_invisible(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut done = String::with_capacity(text.len());
    let (mut before, mut joined) = (' ', 0);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        if is_visible_joiner(c, before) && joined < 2 {
            joined += 1;
            done.push(c);
            continue;
        }
        joined = 0;
        if !hidden(c) {
            before = c;
            done.push(c);
            continue;
        }
        before = ' ';
        let _ = write!(done, "[U+{:04X}", u32::from(c));
        let more = std::iter::from_fn(|| letters.next_if(|c| hidden(*c))).count();
        if more > 0 {
            let _ = write!(done, "+{more}");
        }
        done.push(']');
    }
    done
}

/// Truncates to `most` characters, with `…` at the end.
pub fn truncate_chars(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Sanitizes text to one line of at most `most` characters.
pub fn single_line(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate_chars(&reveal_invisible(&text), most)
}

/// Sanitizes text to at most `most_lines` lines and `most` characters.
pub fn multi_line(text: &str, most: usize, most_lines: usize) -> String {
    let text = reveal_invisible(text.trim_matches(['\r', '\n']));
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).take(most_lines + 1).collect();
    if lines.len() > most_lines {
        lines[most_lines - 1] = "…";
        lines.truncate(most_lines);
    }
    truncate_chars(&lines.join("\n"), most)
}

/// Escapes text for HTML content and quoted attributes. Also escapes CI log commands (`::`, `##[`),
/// because the page may be printed to a log.
pub fn escape_html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let text = text.replace('"', "&quot;").replace('\'', "&#39;").replace("##[", "&#35;#[");
    let calm = |line: &str| {
        let words = line.trim_start();
        let command = words.strip_prefix("::").map(|rest| {
            let before = &line[..line.len() - words.len()];
            format!("{before}&#58;&#58;{rest}")
        });
        command.unwrap_or_else(|| line.to_owned())
    };
    text.split('\n').map(calm).collect::<Vec<_>>().join("\n")
}

/// Breaks CI log commands (`##[`, `##vso[`) and HTML comment markers anywhere in a line.
pub fn break_log_commands(text: &str) -> String {
    text.replace("##[", "## [").replace("##vso[", "## vso[").replace("<!--", "<! --")
}

/// Serializes to JSON with invisible characters and `##` as `\u` escapes, so that no log parses it
/// as a command.
pub fn to_safe_json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut done = String::with_capacity(text.len() + 1);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        // These characters occur in JSON strings only.
        if hidden(c) || c == '#' && letters.peek() == Some(&'#') {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(done, "\\u{unit:04x}");
            }
        } else {
            done.push(c);
        }
    }
    done.push('\n');
    done
}
