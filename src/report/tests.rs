//! Tests of whole reports, by kind of debate.
mod court;
mod dialogue;
mod research;

/// Asserts that the text contains all parts, in this order.
#[track_caller]
pub(super) fn assert_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("`{part}` is not next in:\n{text}"));
        rest = &rest[at + part.len()..];
    }
}
