//! Why a tool did not answer, told apart by what it says and how it ends.
use super::heard::Heard;
use super::process::Ended;
use super::row::{Reads, Row};
use crate::debate::{Failure, Trouble};

/// What a tool's end means: an answer, or a failure with what to do about it.
pub(super) fn outcome(
    tool: &str,
    row: &Row,
    mut heard: Heard,
    ended: &Ended,
) -> Result<Heard, Failure> {
    heard.envelope.exit_code = ended.code;
    let said = heard.error.clone().unwrap_or_default();
    let complaints = printable(&ended.complaints);
    let status = heard.status.or_else(|| status_in(&said)).or_else(|| match row.reads {
        // Its exit code is the status, as far as it fits.
        Reads::Gemini => status_of_code(ended.code).or_else(|| status_in(&complaints)),
        _ => None,
    });
    let failed = heard.error.is_some() || ended.code != Some(0);
    let trouble = if ended.flooded {
        Trouble::Unreadable
    } else if heard.refused {
        Trouble::Refused
    } else if failed {
        trouble(status, &format!("{said}\n{complaints}"))
    } else if heard.text.trim().is_empty() {
        if heard.ended { Trouble::Empty } else { Trouble::Unreadable }
    } else {
        return Ok(heard);
    };
    let why = if said.trim().is_empty() { last_line(&complaints) } else { short(&said) };
    let note = note(tool, row, trouble, &why, ended);
    Err(Failure { envelope: heard.envelope, ..Failure::new(trouble, note) })
}

/// In a sentence, with the next step.
fn note(tool: &str, row: &Row, trouble: Trouble, why: &str, ended: &Ended) -> String {
    let step = match trouble {
        Trouble::NotLoggedIn => row.login.clone(),
        Trouble::UnknownModel => format!("name another model, or none, as in `{tool}`"),
        Trouble::RateLimited => "wait, then retry the turn".into(),
        Trouble::NotFound => row.install.clone(),
        _ => String::new(),
    };
    let code = match ended.code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".into(),
    };
    let why = match (why, trouble) {
        ("", Trouble::Empty) => "it answered with nothing".to_owned(),
        ("", Trouble::Refused) => "the model declined to answer".to_owned(),
        ("", Trouble::Unreadable) if ended.flooded => "it said more than can be read".to_owned(),
        ("", Trouble::Unreadable) => "nothing it said could be read".to_owned(),
        ("", _) => code,
        (why, _) => why.to_owned(),
    };
    if step.is_empty() { why } else { format!("{why} ({step})") }
}

/// What a status, or failing that the words, say of a failure.
pub(super) fn trouble(status: Option<u64>, said: &str) -> Trouble {
    let said = said.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    match status {
        Some(401 | 403) => return Trouble::NotLoggedIn,
        Some(404) => return Trouble::UnknownModel,
        Some(429 | 503 | 529) => return Trouble::RateLimited,
        Some(500..=599) => return Trouble::Other,
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
        Trouble::NotLoggedIn
    } else if says(&["rate limit", "rate_limit", "too many requests", "overloaded", "quota"]) {
        Trouble::RateLimited
    } else if says(&[
        "unknown model",
        "model not found",
        "model_not_found",
        "no such model",
        "is not a valid model",
        "model is not supported",
    ]) {
        Trouble::UnknownModel
    } else if says(&["timed out", "timeout"]) {
        Trouble::TimedOut
    } else {
        Trouble::Crashed
    }
}

/// Whether trying again could help, and has cost nothing yet.
pub(super) fn passing(failure: &Failure) -> bool {
    failure.trouble == Trouble::RateLimited || failure.trouble == Trouble::Other
}

/// `unexpected status 401`, `"code":401`, `400 fake`: the first number that could be one.
fn status_in(text: &str) -> Option<u64> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    words
        .filter(|word| word.len() == 3)
        .filter_map(|word| word.parse().ok())
        .find(|n| (400..=599).contains(n))
}

fn status_of_code(code: Option<i32>) -> Option<u64> {
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

/// No control characters and no colours.
fn printable(text: &str) -> String {
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

fn last_line(text: &str) -> String {
    let told = |line: &&str| line.to_lowercase().contains("error");
    let lines = || text.lines().map(str::trim).filter(|line| line.len() > 3);
    short(lines().find(told).or_else(|| lines().next_back()).unwrap_or_default())
}

/// In one line of bearable length.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(300).collect();
    printable(&cut)
}
