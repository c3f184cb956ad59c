//! Excerpt of one file for the brief (see `brief`): full text, a line range, an outline, or only
//! its name. The entry point is `build_excerpt`, called by `BriefBuilder::add_file`. Its short form
//! is used if the full text does not fit.
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

/// Bytes of a file that are searched for a NUL byte, as git does.
const BINARY_SNIFF_BYTES: usize = 8_000;

/// Whether the beginning of a file has a NUL byte, which marks a binary file.
pub(super) fn has_nul_byte(bytes: &[u8]) -> bool {
    bytes.iter().take(BINARY_SNIFF_BYTES).any(|byte| *byte == 0)
}

/// Decodes a file as text. Invalid UTF-8 is replaced, and a NUL byte marks a binary file.
pub(super) fn decode_text(bytes: Vec<u8>) -> Result<String, ExclusionReason> {
    if has_nul_byte(&bytes) {
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
    detail: BriefDetail,
    budget: usize,
) -> FileExcerpt {
    let line_count = text.lines().count();
    let summary = format!(
        "{}, {}",
        text_format::pluralize(line_count, "line", "lines"),
        text_format::format_size(text.len() as u64)
    );
    let name = text_format::sanitize_line(path);
    let (first, last) =
        lines.map_or((1, line_count), |(first, last)| (first, last.min(line_count)));
    let range = lines.map(|_| format!(":{first}-{last}")).unwrap_or_default();
    let room = MAX_OUTLINE_TOKENS.min(budget / 4);
    if detail == BriefDetail::Paths && !file_kind::is_document(path) {
        return FileExcerpt { full: format!("`{name}{range}` ({summary})\n"), short: None };
    }
    let outline = || {
        let head = format!("`{name}` ({summary}; not all of it, but its outline):\n");
        head + &render_outline(path, text, room)
    };
    if detail == BriefDetail::Paths {
        return FileExcerpt { full: outline(), short: Some(format!("`{name}` ({summary})\n")) };
    }
    let head = format!("`{name}{range}` ({summary}):\n");
    let full = head + &text_format::numbered_lines(text, first, last);
    let short = if lines.is_none() {
        outline()
    } else {
        let head = format!("`{name}{range}` ({summary}; not all of it, but how it begins):\n");
        head + &render_beginning(text, first, last, room)
    };
    FileExcerpt { full, short: Some(short) }
}

/// The first lines of a file, then its outline.
fn render_outline(path: &str, text: &str, room: usize) -> String {
    let entries = outline::build_outline(path, text);
    if entries.is_empty() {
        return render_beginning(text, 1, usize::MAX, room);
    }
    // The outline of a document already starts at its first heading.
    let first = if file_kind::is_document(path) { 0 } else { OUTLINE_HEAD_LINES };
    let mut shown = render_beginning(text, 1, first, room / 3);
    let mut remaining = room.saturating_sub(text_format::estimate_tokens(&shown));
    let last = shown.lines().count();
    for (index, (line_number, line)) in
        entries.iter().enumerate().filter(|(_, (line_number, _))| *line_number > last)
    {
        let row = text_format::numbered_line(*line_number, line);
        let cost = text_format::estimate_tokens(&row);
        if cost > remaining {
            let _ = writeln!(shown, "      … and {} more", entries.len() - index);
            break;
        }
        remaining -= cost;
        shown.push_str(&row);
    }
    shown
}

fn render_beginning(text: &str, first: usize, last: usize, room: usize) -> String {
    let (mut shown, mut remaining) = (String::new(), room);
    for (line, line_number) in text.lines().zip(1..).skip(first.saturating_sub(1)) {
        let row = text_format::numbered_line(line_number, line);
        let cost = text_format::estimate_tokens(&row);
        if line_number > last || cost > remaining {
            break;
        }
        remaining -= cost;
        shown.push_str(&row);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_is_limited() {
        assert_eq!(MAX_OUTLINE_TOKENS, 1_500);
        // Each row has 100 bytes with its line number, which are 25 tokens.
        let line = "x".repeat(93);
        let max_lines = MAX_OUTLINE_TOKENS / 25;
        let outlined = |lines: usize| {
            let text = format!("{line}\n").repeat(lines);
            let excerpt = build_excerpt("a.txt", &text, None, BriefDetail::Contents, 24_000);
            excerpt.short.unwrap().matches(&line).count()
        };
        assert_eq!((outlined(max_lines), outlined(max_lines + 1)), (max_lines, max_lines));
    }

    #[test]
    fn nul_byte_is_searched_at_the_beginning_only() {
        assert_eq!(BINARY_SNIFF_BYTES, 8_000);
        let decode = |nul_index: usize| {
            let mut bytes = vec![b'x'; BINARY_SNIFF_BYTES + 1];
            bytes[nul_index] = 0;
            decode_text(bytes)
        };
        assert_eq!(decode(BINARY_SNIFF_BYTES - 1), Err(ExclusionReason::Binary));
        assert!(decode(BINARY_SNIFF_BYTES).is_ok());
    }
}
