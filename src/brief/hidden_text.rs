//! Text that models see and people do not. Invisible characters are escaped in code, and removed
//! from the description of a change, where they could hide prompt injections.
pub(super) use crate::engine::invisible_chars::escape_invisible;
use crate::engine::invisible_chars::{is_invisible, is_visible_joiner};

/// Strips text that a rendered page does not show: HTML comments, Markdown comments and zero-width
/// characters. Returns whether there was any.
pub(super) fn strip_hidden_text(text: &str) -> (String, bool) {
    let text = text.replace("\r\n", "\n");
    let mut uncommented = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find("<!--") {
        uncommented.push_str(&rest[..start]);
        rest = rest[start + 4..].find("-->").map_or("", |end| &rest[start + 4 + end + 3..]);
    }
    uncommented.push_str(rest);
    let lines: Vec<&str> =
        uncommented.split('\n').filter(|line| !is_markdown_comment(line)).collect();
    let (mut visible, mut previous) = (String::with_capacity(uncommented.len()), ' ');
    for c in lines.join("\n").chars() {
        if !is_invisible(c) || is_visible_joiner(c, previous) {
            visible.push(c);
        }
        previous = c;
    }
    let hidden = visible.len() != text.len();
    (visible, hidden)
}

/// Whether a line is a Markdown comment, which is an unused link definition such as `[x]: #
/// (text)`.
fn is_markdown_comment(line: &str) -> bool {
    let name = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    name.is_some_and(|(name, link)| !name.contains(['[', ']']) && link.trim().starts_with('#'))
}
