//! Classifies error responses of HTTP APIs by status, body and headers, and parses when a retry is
//! allowed. Pure functions, tested against recorded responses.
use super::cli_error;
use crate::debate::FailureKind;
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// An error reported by an HTTP API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ApiError {
    /// HTTP status of the response, or the equivalent one for an error inside the stream.
    pub status: Option<u64>,
    /// Error codes and types, in lower case.
    codes: String,
    /// Error message.
    pub message: String,
    /// Milliseconds until a retry is allowed.
    pub retry_ms: Option<u64>,
}

/// Error codes inside a stream, and the equivalent HTTP status.
const STATUS_BY_CODE: &[(&str, u64)] = &[
    ("overloaded_error", 529),
    ("rate_limit", 429),
    ("resource_exhausted", 429),
    ("authentication_error", 401),
    ("permission_error", 403),
    ("unauthenticated", 401),
    ("permission_denied", 403),
    ("api_key_invalid", 401),
    ("model_not_found", 404),
    ("not_found_error", 404),
    ("api_error", 500),
    ("server_error", 500),
    ("internal", 500),
    ("unavailable", 503),
];

impl ApiError {
    /// Parses the body of an error response.
    pub(super) fn from_body(status: Option<u64>, body: &str) -> ApiError {
        match serde_json::from_str::<Value>(body) {
            Ok(json) => ApiError { status, ..ApiError::parse(&json) }.with_status(&json),
            // The text of an HTML page is useless in an error message.
            Err(_) if body.trim_start().starts_with('<') => {
                ApiError { status, ..ApiError::default() }
            }
            Err(_) => ApiError { status, message: body.into(), ..ApiError::default() },
        }
    }

    /// Parses an error event inside a stream.
    pub(super) fn from_event(event: &Value) -> ApiError {
        ApiError::parse(event).with_status(event)
    }

    fn parse(json: &Value) -> ApiError {
        let json = if json.is_array() { &json[0] } else { json };
        let error = if json["error"].is_object() { &json["error"] } else { json };
        let candidates = [&error["message"], &json["error"], &json["detail"], &json["message"]];
        let message = candidates.iter().find_map(|word| word.as_str()).unwrap_or_default();
        let codes = ["type", "code", "status"].map(|name| error[name].as_str().unwrap_or_default());
        let reasons = error["details"].as_array().into_iter().flatten();
        let reasons = reasons.filter_map(|detail| detail["reason"].as_str());
        let codes = codes.into_iter().chain(reasons).filter(|kind| !kind.is_empty());
        let codes: Vec<&str> = codes.collect();
        let retry_ms = error["details"].as_array().into_iter().flatten().find_map(|detail| {
            let is_retry_info = detail["@type"].as_str()?.ends_with("RetryInfo");
            is_retry_info.then(|| parse_duration(detail["retryDelay"].as_str()?))?
        });
        ApiError {
            status: None,
            codes: codes.join(" ").to_lowercase(),
            message: message.into(),
            retry_ms,
        }
    }

    /// Fills in a missing status from the error code.
    fn with_status(mut self, json: &Value) -> ApiError {
        let numeric_code =
            || json["error"]["code"].as_u64().filter(|code| (400..600).contains(code));
        let named_code =
            || STATUS_BY_CODE.iter().find(|(kind, _)| self.codes.contains(kind)).map(|(_, n)| *n);
        self.status = self.status.or_else(numeric_code).or_else(named_code);
        self
    }

    /// The kind of failure.
    pub(super) fn failure_kind(&self) -> FailureKind {
        let text = format!("{} {}", self.codes, self.message).to_lowercase();
        let contains_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if matches!(self.status, Some(400 | 422)) {
            if contains_any(&["api key not valid", "api_key_invalid"]) {
                return FailureKind::NotLoggedIn;
            }
            if contains_any(&["model"]) && contains_any(&["not exist", "not found"]) {
                return FailureKind::UnknownModel;
            }
        }
        match cli_error::classify_failure(self.status, &text) {
            // The service has responded, so it did not crash.
            FailureKind::Crashed | FailureKind::TimedOut => FailureKind::Other,
            kind => kind,
        }
    }

    /// Whether the error is transient, so that a retry could help. An exhausted quota is not.
    pub(super) fn is_transient(&self) -> bool {
        let is_transient_status = matches!(self.status, Some(408 | 429 | 500..=599));
        is_transient_status && !self.codes.contains("insufficient_quota")
    }

    /// Whether the service may have rejected the JSON Schema: an otherwise unexplained 400 or 422.
    pub(super) fn is_schema_rejection(&self) -> bool {
        matches!(self.status, Some(400 | 422)) && self.failure_kind() == FailureKind::Other
    }
}

/// Milliseconds until a retry is allowed, from the `retry-after-ms`, `retry-after` or
/// `x-ratelimit-reset-*` headers.
pub(super) fn parse_retry_headers(headers: &[(String, String)]) -> Option<u64> {
    let header =
        |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim());
    let exact_ms = header("retry-after-ms").and_then(|value| value.parse::<f64>().ok());
    exact_ms
        .and_then(ceil_to_millis)
        .or_else(|| header("retry-after").and_then(parse_retry_after))
        .or_else(|| {
            // A rate limit with requests remaining is not the one that was exceeded.
            let reset = headers.iter().filter_map(|(name, value)| {
                let limit_name = name.strip_prefix("x-ratelimit-reset-")?;
                let remaining = header(&format!("x-ratelimit-remaining-{limit_name}"));
                remaining.is_none_or(|remaining| remaining == "0").then(|| parse_duration(value))?
            });
            reset.max()
        })
}

/// Parses a `retry-after` value: seconds or an HTTP date.
fn parse_retry_after(value: &str) -> Option<u64> {
    if let Ok(seconds) = value.parse::<f64>() {
        return ceil_to_millis(seconds * 1000.0);
    }
    let retry_at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp().as_millisecond();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_millis();
    Some(u64::try_from(retry_at).ok()?.saturating_sub(u64::try_from(now).ok()?))
}

/// Parses a duration such as `6m0s`, `350ms` or `1.5s` to milliseconds.
fn parse_duration(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut sum = if rest.is_empty() { return None } else { 0.0 };
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..number_end].parse().ok()?;
        rest = &rest[number_end..];
        let unit_end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        sum += number
            * match &rest[..unit_end] {
                "ms" => 1.0,
                "s" => 1000.0,
                "m" => 60_000.0,
                "h" => 3_600_000.0,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    ceil_to_millis(sum)
}

/// Delays from here on are invalid, in milliseconds (115 days).
const MAX_DELAY_MS: f64 = 1e10;

#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn ceil_to_millis(amount: f64) -> Option<u64> {
    (0.0..MAX_DELAY_MS).contains(&amount).then(|| amount.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_from_1e10_ms_on_is_invalid() {
        let parse =
            |delay: f64| parse_retry_headers(&[("retry-after-ms".to_owned(), delay.to_string())]);
        assert_eq!(parse(MAX_DELAY_MS - 1.0), Some(9_999_999_999));
        assert_eq!(parse(MAX_DELAY_MS), None);
    }
}
