//! Where a finding is, as programs are told.
use crate::debate::Place;
use std::fmt::Write;

/// No file system knows a longer one.
const LONGEST: usize = 4096;

/// The file, if it is one below the root of the repository; anything else is no place.
pub fn file(place: Option<&Place>) -> Option<&str> {
    let file = place?.file.as_str();
    let drive = matches!(file.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let below = file.split(['/', '\\']).all(|name| !matches!(name, "" | "." | ".."));
    (below && !drive && !file.contains('\0') && file.len() <= LONGEST).then_some(file)
}

/// The first line and the last, in the file as the change leaves it; of lines the change takes away,
/// where they stood.
pub fn lines(place: Option<&Place>) -> Option<(u32, u32)> {
    let place = place?;
    let first = place.line.filter(|line| *line > 0)?;
    Some((first, place.end_line.unwrap_or(first).max(first)))
}

/// A file as a relative URI reference.
pub fn uri(file: &str) -> String {
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

/// As people write it: `src/a.rs:3-5`.
pub fn at(place: &Place) -> String {
    let mut at = place.file.clone();
    if let Some(line) = place.line {
        let _ = write!(at, ":{line}");
        if let Some(end) = place.end_line.filter(|end| *end > line) {
            let _ = write!(at, "-{end}");
        }
    }
    at
}
