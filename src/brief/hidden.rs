//! Text people do not see and models do: it is shown for what it is in code, and taken out of what
//! somebody says about a change.
pub(super) use crate::engine::unseen::shown;
use crate::engine::unseen::{joins, unseen};

/// Without what cannot be seen where it is read as a page: comments of HTML and of Markdown, and
/// characters of no width. Says whether there was any.
pub(super) fn taken_out(text: &str) -> (String, bool) {
    let text = text.replace("\r\n", "\n");
    let mut left = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("<!--") {
        left.push_str(&rest[..at]);
        rest = rest[at + 4..].find("-->").map_or("", |end| &rest[at + 4 + end + 3..]);
    }
    left.push_str(rest);
    let lines: Vec<&str> = left.split('\n').filter(|line| !comment(line)).collect();
    let (mut seen, mut before) = (String::with_capacity(left.len()), ' ');
    for c in lines.join("\n").chars() {
        if !unseen(c) || joins(c, before) {
            seen.push(c);
        }
        before = c;
    }
    let hidden = seen.len() != text.len();
    (seen, hidden)
}

/// A link that is defined and never shown, which is how Markdown is commented.
fn comment(line: &str) -> bool {
    let name = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    name.is_some_and(|(name, link)| !name.contains(['[', ']']) && link.trim().starts_with('#'))
}
