//! Passwords in URLs: `scheme://user:password@host`. Only the password is redacted.
use super::scan::{MatchedSpan, detect_kind};
use super::secret_value;
use super::window::Window;

const MAX_AUTHORITY_BYTES: usize = 512;

pub(super) fn match_url_password(
    window: &Window,
    start: usize,
    from: usize,
) -> Option<MatchedSpan> {
    if !window.byte_before(start).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let inside = |byte: u8| byte > b' ' && byte != 127 && !b"/?#\"'`<>\\|^[]{}()".contains(&byte);
    // Brackets are read as well, so that a template is rejected as a whole below.
    let end = window
        .run_end(from, MAX_AUTHORITY_BYTES, |byte| inside(byte) || b"{}$<>*[]()".contains(&byte));
    let text = window.slice(from, end);
    let at = text.iter().rposition(|byte| *byte == b'@')?;
    let colon = text[..at].iter().position(|byte| *byte == b':')?;
    let password = &text[colon + 1..at];
    let host = text.get(at + 1).copied();
    let plain = password.len() >= 3
        && text[..colon].iter().all(|byte| inside(*byte) && *byte != b'@')
        && host.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"[$_-{%".contains(&byte))
        && !secret_value::is_template(password)
        && !secret_value::is_example_value(password)
        && password.iter().any(u8::is_ascii_alphanumeric);
    let kind = detect_kind(password);
    plain.then_some((from + colon + 1, from + at, kind))
}
