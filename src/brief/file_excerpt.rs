//! Excerpt of one file for the brief: full text, a line range, an outline, or only its name.
use super::{BriefDetail, file_kind, outline, text_format};
use crate::repo::ExclusionReason;
use std::fmt::Write;

/// Token limit of an outline.
const MAX_OUTLINE_TOKENS: usize = 1_500;
/// First lines of the file shown above an outline.
const OUTLINE_HEAD_LINES: usize = 8;

/// A file as full text and in a shorter form.
pub(super) struct FileExcerpt {
    pub(super) full: String,
    pub(super) short: Option<String>,
}

/// Decodes a file as text. Invalid UTF-8 is replaced, and a NUL byte marks a binary file.
pub(super) fn decode_text(bytes: Vec<u8>) -> Result<String, ExclusionReason> {
    const TELLTALE: usize = 8_000;
    if bytes.iter().take(TELLTALE).any(|byte| *byte == 0) {
        return Err(ExclusionReason::Binary);
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Builds the excerpt of a file or of a line range, for a brief of `budget` tokens.
pub(super) fn build_excerpt(
    path: &str,
    text: &str,
    lines: Option<(usize, usize)>,
    ask: BriefDetail,
    budget: usize,
) -> FileExcerpt {
    let many = text.lines().count();
    let about = format!(
        "{}, {}",
        text_format::pluralize(many, "line", "lines"),
        text_format::format_size(text.len() as u64)
    );
    let name = text_format::sanitize_line(path);
    let (first, last) = lines.map_or((1, many), |(first, last)| (first, last.min(many)));
    let cited = lines.map(|_| format!(":{first}-{last}")).unwrap_or_default();
    let room = MAX_OUTLINE_TOKENS.min(budget / 4);
    if ask == BriefDetail::Paths && !file_kind::is_document(path) {
        return FileExcerpt { full: format!("`{name}{cited}` ({about})\n"), short: None };
    }
    let outline = || {
        let head = format!("`{name}` ({about}; not all of it, but its outline):\n");
        head + &render_outline(path, text, room)
    };
    if ask == BriefDetail::Paths {
        return FileExcerpt { full: outline(), short: Some(format!("`{name}` ({about})\n")) };
    }
    let head = format!("`{name}{cited}` ({about}):\n");
    let whole = head + &text_format::numbered_lines(text, first, last);
    let short = if lines.is_none() {
        outline()
    } else {
        let head = format!("`{name}{cited}` ({about}; not all of it, but how it begins):\n");
        head + &render_beginning(text, first, last, room)
    };
    FileExcerpt { full: whole, short: Some(short) }
}

/// The first lines of a file, then its outline.
fn render_outline(path: &str, text: &str, room: usize) -> String {
    let found = outline::build_outline(path, text);
    if found.is_empty() {
        return render_beginning(text, 1, usize::MAX, room);
    }
    // The outline of a document already starts at its first heading.
    let first = if file_kind::is_document(path) { 0 } else { OUTLINE_HEAD_LINES };
    let mut shown = render_beginning(text, 1, first, room / 3);
    let mut left = room.saturating_sub(text_format::estimate_tokens(&shown));
    let last = shown.lines().count();
    for (nth, (at, line)) in found.iter().enumerate().filter(|(_, (at, _))| *at > last) {
        let row = text_format::numbered_line(*at, line);
        let cost = text_format::estimate_tokens(&row);
        if cost > left {
            let _ = writeln!(shown, "      … and {} more", found.len() - nth);
            break;
        }
        left -= cost;
        shown.push_str(&row);
    }
    shown
}

fn render_beginning(text: &str, first: usize, last: usize, room: usize) -> String {
    let (mut shown, mut left) = (String::new(), room);
    for (line, at) in text.lines().zip(1..).skip(first.saturating_sub(1)) {
        let row = text_format::numbered_line(at, line);
        let cost = text_format::estimate_tokens(&row);
        if at > last || cost > left {
            break;
        }
        left -= cost;
        shown.push_str(&row);
    }
    shown
}
