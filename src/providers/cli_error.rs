//! Classifies failures of a model CLI by exit code, error message and stderr, and adds a hint.
//! The entry point is [`classify_outcome`]; `api_error` does the same for HTTP APIs.
use super::cli_spec::{CliOutputFormat, CliSpec};
use super::output_parser::{CliOutput, truncate_to_u64};
use super::process::ProcessOutcome;
use crate::debate::{FailureKind, TurnFailure};
use serde_json::Value;

/// Decides whether a finished process has answered, and builds the failure with a hint if not.
/// The values in `secrets` are removed from all messages.
pub(super) fn classify_outcome(
    tool: &str,
    spec: &CliSpec,
    mut output: CliOutput,
    outcome: &ProcessOutcome,
    timeout_secs: u32,
    secrets: &[String],
) -> Result<CliOutput, TurnFailure> {
    output.envelope.exit_code = outcome.exit_code;
    // Some CLIs print the API key in their error messages.
    let redact =
        |text: &str| secrets.iter().fold(text.to_owned(), |text, key| text.replace(key, "…"));
    let error_text = redact(output.error.as_deref().unwrap_or_default());
    let stderr = strip_control_chars(&redact(&outcome.stderr_tail));
    let status = output.status.or_else(|| find_http_status(&error_text)).or_else(|| {
        match spec.output_format {
            // Gemini's exit code is the HTTP status modulo 256.
            CliOutputFormat::Gemini => {
                status_from_exit_code(outcome.exit_code).or_else(|| find_http_status(&stderr))
            }
            _ => None,
        }
    });
    let failed = output.error.is_some() || outcome.exit_code != Some(0);
    let kind = if outcome.timed_out {
        // Some CLIs retry until the timeout and report the rate limit on stderr only.
        match classify_failure(status.or_else(|| find_http_status(&stderr)), &stderr) {
            FailureKind::RateLimited => FailureKind::RateLimited,
            _ => FailureKind::TimedOut,
        }
    } else if outcome.output_too_large {
        FailureKind::Unreadable
    } else if output.refused {
        FailureKind::Refused
    } else if failed {
        classify_failure(status, &format!("{error_text}\n{stderr}"))
    } else if output.text.trim().is_empty() {
        if output.completed { FailureKind::Empty } else { FailureKind::Unreadable }
    } else {
        return Ok(output);
    };
    let reason = if error_text.trim().is_empty() {
        find_error_line(&stderr)
    } else {
        truncate_line(&extract_json_message(&error_text))
    };
    let reason = match (outcome.timed_out, reason.as_str()) {
        (true, "") => format!("no answer within {timeout_secs} s"),
        (true, reason) => format!("no answer within {timeout_secs} s; it last said: {reason}"),
        (false, _) => reason,
    };
    // The delay the service asked for takes precedence over the CLI's own retry delay.
    let delay =
        parse_retry_delay(&error_text).or_else(|| parse_retry_delay(&stderr)).or(output.retry_ms);
    let retry_ms = delay.filter(|_| kind == FailureKind::RateLimited);
    let hint = match kind {
        FailureKind::NotLoggedIn => spec.login.clone(),
        FailureKind::UnknownModel => format!("name another model, or none, as in `{tool}`"),
        FailureKind::NotFound => spec.install.clone(),
        kind => default_hint(kind, retry_ms),
    };
    let note = with_hint(failure_note(kind, &reason, outcome), &hint);
    Err(TurnFailure { envelope: output.envelope, retry_ms, ..TurnFailure::new(kind, note) })
}

/// The default hint for a kind of failure.
pub(super) fn default_hint(kind: FailureKind, retry_ms: Option<u64>) -> String {
    match (kind, retry_ms) {
        (FailureKind::RateLimited, Some(wait)) => {
            format!("it may be asked again in {} s", wait.div_ceil(1000))
        }
        (FailureKind::RateLimited, None) => "wait, then retry the turn".into(),
        (FailureKind::TimedOut, _) => {
            "allow it more time, or less effort, and retry the turn".into()
        }
        (FailureKind::Refused, _) => "rephrase the topic, or use another model".into(),
        // The caller adds a hint from the spec.
        (FailureKind::NotFound | FailureKind::UnknownModel | FailureKind::NotLoggedIn, _) => {
            String::new()
        }
        _ => "retry the turn, or use another model".into(),
    }
}

/// Appends the hint in parentheses.
pub(super) fn with_hint(reason: String, hint: &str) -> String {
    if hint.is_empty() { reason } else { format!("{reason} ({hint})") }
}

/// The message of a failure, with a default if the CLI reported none.
fn failure_note(kind: FailureKind, reason: &str, outcome: &ProcessOutcome) -> String {
    let code = match outcome.exit_code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".into(),
    };
    match (reason, kind) {
        ("", FailureKind::Empty) => "it answered with nothing".to_owned(),
        ("", FailureKind::Refused) => "the model declined to answer".to_owned(),
        ("", FailureKind::Unreadable) if outcome.output_too_large => {
            "its output is too large".to_owned()
        }
        ("", FailureKind::Unreadable) => "its output could not be parsed".to_owned(),
        ("", _) => code,
        (reason, _) => reason.to_owned(),
    }
}

/// Classifies a failure by HTTP status, else by phrases in the error message.
pub(super) fn classify_failure(status: Option<u64>, text: &str) -> FailureKind {
    let text = text.to_lowercase();
    let contains_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match status {
        Some(401 | 403) => return FailureKind::NotLoggedIn,
        Some(404) => return FailureKind::UnknownModel,
        Some(429 | 503 | 529) => return FailureKind::RateLimited,
        Some(500..=599) => return FailureKind::Other,
        _ => {}
    }
    if contains_any(&[
        "not logged in",
        "/login",
        "unauthorized",
        "unauthenticated",
        "invalid api key",
        "no authentication",
        "api key is missing",
        "invalid auth method",
        "please log in",
    ]) {
        FailureKind::NotLoggedIn
    } else if contains_any(&[
        "rate limit",
        "rate_limit",
        "too many requests",
        "overloaded",
        "quota",
    ]) {
        FailureKind::RateLimited
    } else if contains_any(&[
        "unknown model",
        "model not found",
        "model_not_found",
        "no such model",
        "is not a valid model",
        "model is not supported",
    ]) {
        FailureKind::UnknownModel
    } else if contains_any(&["timed out", "timeout"]) {
        FailureKind::TimedOut
    } else if contains_any(&["no response was returned", "empty response"]) {
        FailureKind::Empty
    } else if contains_any(&[
        "high demand",
        "server-side",
        "service unavailable",
        "stream disconnected",
    ]) {
        FailureKind::Other
    } else {
        FailureKind::Crashed
    }
}

/// Whether the error is transient, so that a retry could help.
pub(super) fn is_transient(failure: &TurnFailure) -> bool {
    failure.trouble == FailureKind::RateLimited || failure.trouble == FailureKind::Other
}

/// Replaces a JSON error object inside the text by its message.
fn extract_json_message(text: &str) -> String {
    let start = text.find('{').unwrap_or(text.len());
    let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let Some(Ok(object)) = objects.next() else { return text.into() };
    let end = start + objects.byte_offset();
    let candidates = [&object["error"]["message"], &object["message"], &object["error"]];
    match candidates.into_iter().find_map(Value::as_str) {
        Some(message) => format!("{}{message}{}", &text[..start], &text[end..]),
        None => text.into(),
    }
}

/// Parses a retry delay (`try again in 20s`, `retry after 1m30s`, `"retryDelay": "1.5s"`) to
/// milliseconds.
fn parse_retry_delay(text: &str) -> Option<u64> {
    let text = text.to_lowercase();
    let phrases =
        ["try again in", "retry after", "retry in", "retry-after", "retrydelay", "reset after"];
    let rest = phrases.iter().find_map(|word| text.split_once(word))?.1;
    let rest = rest.trim_start_matches([' ', ':', '"', '=', '\\']);
    let is_number_char = |c: char| c.is_ascii_digit() || c == '.';
    let (mut rest, mut sum) = (rest, None);
    while let Some(end) =
        rest.find(|c| !is_number_char(c)).or(Some(rest.len())).filter(|end| *end > 0)
    {
        let Ok(amount) = rest[..end].trim_end_matches('.').parse::<f64>() else { break };
        rest = rest[end..].trim_start();
        let unit_end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit_ms = match &rest[..unit_end] {
            "ms" | "milliseconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60_000.0,
            "h" | "hour" | "hours" => 3_600_000.0,
            _ => 1000.0,
        };
        sum = truncate_to_u64(amount * unit_ms).map(|millis| sum.unwrap_or(0) + millis).or(sum);
        rest = rest[unit_end..].trim_start();
    }
    sum
}

/// Finds the first number from 400 to 599, as in `unexpected status 401` or `"code":401`.
fn find_http_status(text: &str) -> Option<u64> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    words
        .filter(|word| word.len() == 3)
        .filter_map(|word| word.parse().ok())
        .find(|n| (400..=599).contains(n))
}

fn status_from_exit_code(code: Option<i32>) -> Option<u64> {
    match code? {
        144 => Some(400),
        145 => Some(401),
        147 => Some(403),
        148 => Some(404),
        173 => Some(429),
        244 => Some(500),
        _ => None,
    }
}

/// Removes control characters and ANSI escape sequences.
fn strip_control_chars(text: &str) -> String {
    let mut cleaned = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            if rest.next_if_eq(&'[').is_some() {
                while rest.next_if(|c| !c.is_ascii_alphabetic()).is_some() {}
                rest.next();
            }
        } else if c == '\n' || !c.is_control() {
            cleaned.push(c);
        }
    }
    cleaned
}

fn find_error_line(text: &str) -> String {
    let is_error = |line: &&str| line.to_lowercase().contains("error");
    let lines = || text.lines().map(str::trim).filter(|line| line.len() > 3);
    truncate_line(lines().find(is_error).or_else(|| lines().next_back()).unwrap_or_default())
}

/// Limit of a line of a CLI's or service's output in a message, in characters.
const MAX_LINE_CHARS: usize = 300;

/// Joins the text to one line of at most [`MAX_LINE_CHARS`].
pub(super) fn truncate_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let truncated: String = line.chars().take(MAX_LINE_CHARS).collect();
    strip_control_chars(&truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_in_a_message_keeps_300_characters() {
        assert_eq!(MAX_LINE_CHARS, 300);
        for length in [MAX_LINE_CHARS, MAX_LINE_CHARS + 1] {
            assert_eq!(truncate_line(&"é".repeat(length)), "é".repeat(MAX_LINE_CHARS));
        }
    }
}
