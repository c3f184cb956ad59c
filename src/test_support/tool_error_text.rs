//! Checks the text of a tool error, as an MCP client gets it.

/// Returns what is wrong with the text of a tool error: prefix, next step, length, control
/// characters, or Rust debug output.
pub(crate) fn error_text_flaw(text: &str) -> Option<String> {
    let next = text.lines().last()?.strip_prefix("Next: ").unwrap_or_default();
    let rust = ["Some(", "None)", "Ok(", "Err(", "Custom {", "Error {", "Error(", "::", " { "];
    if !text.starts_with("Error: ") {
        Some("it does not begin with `Error: `".into())
    } else if next.trim().is_empty() {
        Some("it does not end with the next step".into())
    } else if text.chars().count() > 2_000 {
        Some("it is too long".into())
    } else if text.contains(|c: char| c.is_control() && c != '\n') {
        Some("it has control characters in it".into())
    } else {
        let found = rust.into_iter().find(|rust| text.contains(rust));
        found.map(|rust| format!("`{rust}` is Rust debug output"))
    }
}
