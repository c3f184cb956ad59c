//! Location of a finding in the output: validated path, line range and URI.
use crate::debate::CodeLocation;
use std::fmt::Write;

/// Limit of a path, in bytes (`PATH_MAX` on Linux).
const MAX_PATH_BYTES: usize = 4096;

/// The path if it is relative and stays below the repository root. None otherwise.
pub(super) fn repo_path(location: Option<&CodeLocation>) -> Option<&str> {
    let file = location?.file.as_str();
    let has_drive = matches!(file.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let is_below = file.split(['/', '\\']).all(|name| !matches!(name, "" | "." | ".."));
    (is_below && !has_drive && !file.contains('\0') && file.len() <= MAX_PATH_BYTES).then_some(file)
}

/// First and last line in the new version of the file. For removed lines, where they were.
pub(super) fn line_range(location: Option<&CodeLocation>) -> Option<(u32, u32)> {
    let location = location?;
    let first = location.line.filter(|line| *line > 0)?;
    Some((first, location.end_line.unwrap_or(first).max(first)))
}

/// Percent-encodes a path as a relative URI reference.
pub(super) fn relative_uri(file: &str) -> String {
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
pub(super) fn format_location(location: &CodeLocation) -> String {
    let mut text = location.file.clone();
    if let Some(line) = location.line {
        let _ = write!(text, ":{line}");
        if let Some(end) = location.end_line.filter(|end| *end > line) {
            let _ = write!(text, "-{end}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::test_review::location_of_file;

    #[test]
    fn path_is_limited() {
        assert_eq!(MAX_PATH_BYTES, 4_096);
        let is_valid =
            |bytes: usize| repo_path(Some(&location_of_file(&"a".repeat(bytes)))).is_some();
        assert!(is_valid(MAX_PATH_BYTES));
        assert!(!is_valid(MAX_PATH_BYTES + 1));
    }
}
