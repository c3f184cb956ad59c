//! Validation of tool arguments: types, lengths and control characters.
use super::complaint::Complaint;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::time::Duration;

/// Limit of a name, a keyword or a search query.
const SHORT: usize = 500;
/// Limit of a user's remark.
pub(super) const REMARK: usize = 8_000;
/// Limit of a speech or a ruling.
pub(super) const SPEECH: usize = 200_000;

/// Deserializes the arguments of a tool. The error names the path of the invalid field.
pub(super) fn arguments<T: DeserializeOwned>(
    tool: &str,
    arguments: Option<Map<String, Value>>,
) -> Result<T, Complaint> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let why = match error.path().to_string().as_str() {
            "." => error.inner().to_string(),
            path => format!("`{path}`: {}", error.inner()),
        };
        Complaint::Arguments { tool: tool.into(), why }
    })
}

/// Validates an optional single-line argument. Blank counts as absent.
pub(super) fn short<'a>(name: &str, text: Option<&'a str>) -> Result<Option<&'a str>, Complaint> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    long(name, text, SHORT)?;
    plain(name, text, |_| false)?;
    Ok(Some(text))
}

/// Validates a multi-line text: not empty, at most `most` characters, no control characters.
pub(super) fn text(name: &str, text: &str, most: usize) -> Result<(), Complaint> {
    if text.trim().is_empty() {
        return Err(Complaint::Empty { name: name.into() });
    }
    long(name, text, most)?;
    plain(name, text, |c| matches!(c, '\n' | '\r' | '\t'))
}

fn long(name: &str, text: &str, most: usize) -> Result<(), Complaint> {
    let length = text.chars().count();
    if length > most {
        return Err(Complaint::TooLong { name: name.into(), length, most });
    }
    Ok(())
}

fn plain(name: &str, text: &str, but: impl Fn(char) -> bool) -> Result<(), Complaint> {
    match text.chars().find(|c| c.is_control() && !but(*c)) {
        Some(c) => Err(Complaint::Control { name: name.into(), code: c.into() }),
        None => Ok(()),
    }
}

/// Timeout of a call: 45 s by default, at most 55 s, which is below the timeout of every client.
pub(super) fn patience(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(45).min(55))
}
