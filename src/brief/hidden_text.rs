//! Text that models see and people do not. Invisible characters are escaped in code, and removed
//! from the description of a change, where they could hide prompt injections.
pub(super) use crate::engine::invisible_chars::escape_invisible;
use crate::engine::invisible_chars::{is_invisible, is_visible_joiner};

/// Strips text that a rendered page does not show: HTML comments, Markdown comments and zero-width
/// characters. Returns whether there was any.
pub(super) fn strip_hidden_text(text: &str) -> (String, bool) {
    let text = text.replace("\r\n", "\n");
    let mut left = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("<!--") {
        left.push_str(&rest[..at]);
        rest = rest[at + 4..].find("-->").map_or("", |end| &rest[at + 4 + end + 3..]);
    }
    left.push_str(rest);
    let lines: Vec<&str> = left.split('\n').filter(|line| !is_markdown_comment(line)).collect();
    let (mut seen, mut before) = (String::with_capacity(left.len()), ' ');
    for c in lines.join("\n").chars() {
        if !is_invisible(c) || is_visible_joiner(c, before) {
            seen.push(c);
        }
        before = c;
    }
    let hidden = seen.len() != text.len();
    (seen, hidden)
}

/// Whether a line is a Markdown comment, which is an unused link definition such as `[x]: #
/// (text)`.
fn is_markdown_comment(line: &str) -> bool {
    let name = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    name.is_some_and(|(name, link)| !name.contains(['[', ']']) && link.trim().starts_with('#'))
}
