//! Validation of tool arguments: types, lengths and control characters.
use super::error::ToolError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::time::Duration;

/// Limit of a name, a keyword or a search query.
const MAX_SHORT_CHARS: usize = 500;
/// Limit of a user's remark.
pub(super) const MAX_REMARK_CHARS: usize = 8_000;
/// Limit of a speech or a ruling.
pub(super) const MAX_SPEECH_CHARS: usize = 200_000;

/// Seconds a call waits by default.
const DEFAULT_WAIT_SECONDS: u64 = 45;
/// Seconds a call waits at most, which is below the timeout of every client.
const MAX_WAIT_SECONDS: u64 = 55;

/// Deserializes the arguments of a tool. The error names the path of the invalid field.
pub(super) fn parse_arguments<T: DeserializeOwned>(
    tool: &str,
    arguments: Option<Map<String, Value>>,
) -> Result<T, ToolError> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let why = match error.path().to_string().as_str() {
            "." => error.inner().to_string(),
            path => format!("`{path}`: {}", error.inner()),
        };
        ToolError::InvalidArguments { tool: tool.into(), why }
    })
}

/// Validates an optional single-line argument. Blank counts as absent.
pub(super) fn validate_line<'a>(
    name: &str,
    text: Option<&'a str>,
) -> Result<Option<&'a str>, ToolError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    check_length(name, text, MAX_SHORT_CHARS)?;
    reject_control_chars(name, text, |_| false)?;
    Ok(Some(text))
}

/// Validates a multi-line text: not empty, at most `max_chars` characters, no control characters.
pub(super) fn validate_text(name: &str, text: &str, max_chars: usize) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::EmptyArgument { name: name.into() });
    }
    check_length(name, text, max_chars)?;
    reject_control_chars(name, text, |c| matches!(c, '\n' | '\r' | '\t'))
}

fn check_length(name: &str, text: &str, max_chars: usize) -> Result<(), ToolError> {
    let length = text.chars().count();
    if length > max_chars {
        return Err(ToolError::TooLong { name: name.into(), length, most: max_chars });
    }
    Ok(())
}

fn reject_control_chars(
    name: &str,
    text: &str,
    is_allowed: impl Fn(char) -> bool,
) -> Result<(), ToolError> {
    match text.chars().find(|c| c.is_control() && !is_allowed(*c)) {
        Some(c) => Err(ToolError::ControlCharacter { name: name.into(), code: c.into() }),
        None => Ok(()),
    }
}

/// Timeout of a call.
pub(super) fn wait_timeout(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(DEFAULT_WAIT_SECONDS).min(MAX_WAIT_SECONDS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::LONGEST_CALL_SECS;

    #[test]
    fn call_waits_45_seconds_by_default_and_55_at_most() {
        let seconds = |requested| wait_timeout(requested).as_secs();
        assert_eq!(seconds(None), 45);
        assert_eq!(seconds(Some(MAX_WAIT_SECONDS)), 55);
        assert_eq!(seconds(Some(MAX_WAIT_SECONDS + 1)), 55);
        assert_eq!(MAX_WAIT_SECONDS, LONGEST_CALL_SECS, "`doctor` checks clients against it");
    }

    #[test]
    fn short_argument_has_at_most_500_characters() {
        assert_eq!(MAX_SHORT_CHARS, 500);
        let is_accepted = |chars| validate_line("query", Some(&"é".repeat(chars))).is_ok();
        assert!(is_accepted(MAX_SHORT_CHARS));
        assert!(!is_accepted(MAX_SHORT_CHARS + 1));
    }
}
