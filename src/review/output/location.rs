//! Location of a finding in the output: validated path, line range and URI.
use crate::debate::CodeLocation;
use std::fmt::Write;

/// Limit of a path, in bytes (`PATH_MAX` on Linux).
const MAX_PATH_BYTES: usize = 4096;

/// The path if it is relative and stays below the repository root. None otherwise.
pub fn repo_path(place: Option<&CodeLocation>) -> Option<&str> {
    let file = place?.file.as_str();
    let drive = matches!(file.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let below = file.split(['/', '\\']).all(|name| !matches!(name, "" | "." | ".."));
    (below && !drive && !file.contains('\0') && file.len() <= MAX_PATH_BYTES).then_some(file)
}

/// First and last line in the new version of the file. For removed lines, where they were.
pub fn line_range(place: Option<&CodeLocation>) -> Option<(u32, u32)> {
    let place = place?;
    let first = place.line.filter(|line| *line > 0)?;
    Some((first, place.end_line.unwrap_or(first).max(first)))
}

/// Percent-encodes a path as a relative URI reference.
pub fn relative_uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// Formats a location as `src/a.rs:3-5`.
pub fn format_location(place: &CodeLocation) -> String {
    let mut at = place.file.clone();
    if let Some(line) = place.line {
        let _ = write!(at, ":{line}");
        if let Some(end) = place.end_line.filter(|end| *end > line) {
            let _ = write!(at, "-{end}");
        }
    }
    at
}
