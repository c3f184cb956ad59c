//! Small helpers for words and ids in text.

/// Replaces each run of whitespace by one space, so that texts compare equal however they are
/// wrapped.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts an id in backticks, for a message.
pub(in crate::debate) fn in_backticks(id: &str) -> String {
    format!("`{id}`")
}
