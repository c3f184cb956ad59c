//! Classifies failures of a model CLI by exit code, error message and stderr, and adds a hint.
//! The entry point is [`classify_outcome`]; `api_error` does the same for HTTP APIs.
use super::cli_spec::{CliOutputFormat, CliSpec};
use super::output_parser::{CliOutput, truncate_to_u64};
use super::process::ProcessOutcome;
use crate::debate::{FailureKind, TurnFailure};
use serde_json::Value;

/// Decides whether a finished process has answered, and builds the failure with a hint if not.
/// The values in `hidden` are removed from all messages.
pub(super) fn classify_outcome(
    tool: &str,
    row: &CliSpec,
    mut heard: CliOutput,
    ended: &ProcessOutcome,
    seconds: u32,
    hidden: &[String],
) -> Result<CliOutput, TurnFailure> {
    heard.envelope.exit_code = ended.exit_code;
    // Some CLIs print the API key in their error messages.
    let clean =
        |text: &str| hidden.iter().fold(text.to_owned(), |text, key| text.replace(key, "…"));
    let said = clean(heard.error.as_deref().unwrap_or_default());
    let complaints = strip_control_chars(&clean(&ended.stderr_tail));
    let status =
        heard.status.or_else(|| find_http_status(&said)).or_else(|| match row.output_format {
            // Gemini's exit code is the HTTP status modulo 256.
            CliOutputFormat::Gemini => {
                status_from_exit_code(ended.exit_code).or_else(|| find_http_status(&complaints))
            }
            _ => None,
        });
    let failed = heard.error.is_some() || ended.exit_code != Some(0);
    let trouble = if ended.timed_out {
        // Some CLIs retry until the timeout and report the rate limit on stderr only.
        match classify_failure(status.or_else(|| find_http_status(&complaints)), &complaints) {
            FailureKind::RateLimited => FailureKind::RateLimited,
            _ => FailureKind::TimedOut,
        }
    } else if ended.output_too_large {
        FailureKind::Unreadable
    } else if heard.refused {
        FailureKind::Refused
    } else if failed {
        classify_failure(status, &format!("{said}\n{complaints}"))
    } else if heard.text.trim().is_empty() {
        if heard.completed { FailureKind::Empty } else { FailureKind::Unreadable }
    } else {
        return Ok(heard);
    };
    let why = if said.trim().is_empty() {
        find_error_line(&complaints)
    } else {
        truncate_line(&extract_json_message(&said))
    };
    let why = match (ended.timed_out, why.as_str()) {
        (true, "") => format!("no answer within {seconds} s"),
        (true, why) => format!("no answer within {seconds} s; it last said: {why}"),
        (false, _) => why,
    };
    // The delay the service asked for takes precedence over the CLI's own retry delay.
    let told =
        parse_retry_delay(&said).or_else(|| parse_retry_delay(&complaints)).or(heard.retry_ms);
    let retry_ms = told.filter(|_| trouble == FailureKind::RateLimited);
    let step = match trouble {
        FailureKind::NotLoggedIn => row.login.clone(),
        FailureKind::UnknownModel => format!("name another model, or none, as in `{tool}`"),
        FailureKind::NotFound => row.install.clone(),
        trouble => default_hint(trouble, retry_ms),
    };
    let note = with_hint(failure_note(trouble, &why, ended), &step);
    Err(TurnFailure { envelope: heard.envelope, retry_ms, ..TurnFailure::new(trouble, note) })
}

/// The default hint for a kind of failure.
pub(super) fn default_hint(trouble: FailureKind, retry_ms: Option<u64>) -> String {
    match (trouble, retry_ms) {
        (FailureKind::RateLimited, Some(wait)) => {
            format!("it may be asked again in {} s", wait.div_ceil(1000))
        }
        (FailureKind::RateLimited, None) => "wait, then retry the turn".into(),
        (FailureKind::TimedOut, _) => {
            "allow it more time, or less effort, and retry the turn".into()
        }
        (FailureKind::Refused, _) => "ask otherwise, or seat another".into(),
        // The caller adds a hint from the spec.
        (FailureKind::NotFound | FailureKind::UnknownModel | FailureKind::NotLoggedIn, _) => {
            String::new()
        }
        _ => "retry the turn, or seat another".into(),
    }
}

/// Appends the hint in parentheses.
pub(super) fn with_hint(why: String, step: &str) -> String {
    if step.is_empty() { why } else { format!("{why} ({step})") }
}

/// The message of a failure, with a default if the CLI reported none.
fn failure_note(trouble: FailureKind, why: &str, ended: &ProcessOutcome) -> String {
    let code = match ended.exit_code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".into(),
    };
    match (why, trouble) {
        ("", FailureKind::Empty) => "it answered with nothing".to_owned(),
        ("", FailureKind::Refused) => "the model declined to answer".to_owned(),
        ("", FailureKind::Unreadable) if ended.output_too_large => {
            "it said more than can be read".to_owned()
        }
        ("", FailureKind::Unreadable) => "nothing it said could be read".to_owned(),
        ("", _) => code,
        (why, _) => why.to_owned(),
    }
}

/// Classifies a failure by HTTP status, else by phrases in the error message.
pub(super) fn classify_failure(status: Option<u64>, said: &str) -> FailureKind {
    let said = said.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    match status {
        Some(401 | 403) => return FailureKind::NotLoggedIn,
        Some(404) => return FailureKind::UnknownModel,
        Some(429 | 503 | 529) => return FailureKind::RateLimited,
        Some(500..=599) => return FailureKind::Other,
        _ => {}
    }
    if says(&[
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
    } else if says(&["rate limit", "rate_limit", "too many requests", "overloaded", "quota"]) {
        FailureKind::RateLimited
    } else if says(&[
        "unknown model",
        "model not found",
        "model_not_found",
        "no such model",
        "is not a valid model",
        "model is not supported",
    ]) {
        FailureKind::UnknownModel
    } else if says(&["timed out", "timeout"]) {
        FailureKind::TimedOut
    } else if says(&["no response was returned", "empty response"]) {
        FailureKind::Empty
    } else if says(&["high demand", "server-side", "service unavailable", "stream disconnected"]) {
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
fn extract_json_message(said: &str) -> String {
    let at = said.find('{').unwrap_or(said.len());
    let mut objects = serde_json::Deserializer::from_str(&said[at..]).into_iter::<Value>();
    let Some(Ok(object)) = objects.next() else { return said.into() };
    let end = at + objects.byte_offset();
    let places = [&object["error"]["message"], &object["message"], &object["error"]];
    match places.into_iter().find_map(Value::as_str) {
        Some(message) => format!("{}{message}{}", &said[..at], &said[end..]),
        None => said.into(),
    }
}

/// Parses a retry delay (`try again in 20s`, `retry after 1m30s`, `"retryDelay": "1.5s"`) to
/// milliseconds.
fn parse_retry_delay(text: &str) -> Option<u64> {
    let text = text.to_lowercase();
    let words =
        ["try again in", "retry after", "retry in", "retry-after", "retrydelay", "reset after"];
    let rest = words.iter().find_map(|word| text.split_once(word))?.1;
    let rest = rest.trim_start_matches([' ', ':', '"', '=', '\\']);
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let (mut rest, mut sum) = (rest, None);
    while let Some(end) = rest.find(|c| !number(c)).or(Some(rest.len())).filter(|end| *end > 0) {
        let Ok(amount) = rest[..end].trim_end_matches('.').parse::<f64>() else { break };
        rest = rest[end..].trim_start();
        let unit = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let each = match &rest[..unit] {
            "ms" | "milliseconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60_000.0,
            "h" | "hour" | "hours" => 3_600_000.0,
            _ => 1000.0,
        };
        sum = truncate_to_u64(amount * each).map(|more| sum.unwrap_or(0) + more).or(sum);
        rest = rest[unit..].trim_start();
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
    let mut kept = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            if rest.next_if_eq(&'[').is_some() {
                while rest.next_if(|c| !c.is_ascii_alphabetic()).is_some() {}
                rest.next();
            }
        } else if c == '\n' || !c.is_control() {
            kept.push(c);
        }
    }
    kept
}

fn find_error_line(text: &str) -> String {
    let told = |line: &&str| line.to_lowercase().contains("error");
    let lines = || text.lines().map(str::trim).filter(|line| line.len() > 3);
    truncate_line(lines().find(told).or_else(|| lines().next_back()).unwrap_or_default())
}

/// Joins the text to one line of at most 300 characters.
pub(super) fn truncate_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(300).collect();
    strip_control_chars(&cut)
}
