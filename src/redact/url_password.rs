//! Passwords in URLs: `scheme://user:password@host`. Only the password is redacted.
use super::secret_span::MatchedSpan;
use super::secret_value;
use super::token_kind::detect_kind;
use super::window::Window;

/// Maximum length in bytes of user, password and host together.
const MAX_AUTHORITY_BYTES: usize = 512;
/// Minimum length of a password in bytes.
const MIN_PASSWORD_BYTES: usize = 3;

pub(super) fn match_url_password(
    window: &Window,
    start: usize,
    from: usize,
) -> Option<MatchedSpan> {
    if !window.byte_before(start).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let is_authority_byte =
        |byte: u8| byte > b' ' && byte != 127 && !b"/?#\"'`<>\\|^[]{}()".contains(&byte);
    // Brackets are read as well, so that a template is rejected as a whole below.
    let end = window.run_end(from, MAX_AUTHORITY_BYTES, |byte| {
        is_authority_byte(byte) || b"{}$<>*[]()".contains(&byte)
    });
    let text = window.slice(from, end);
    let at_sign = text.iter().rposition(|byte| *byte == b'@')?;
    let colon = text[..at_sign].iter().position(|byte| *byte == b':')?;
    let password = &text[colon + 1..at_sign];
    let host_start = text.get(at_sign + 1).copied();
    let is_secret = password.len() >= MIN_PASSWORD_BYTES
        && text[..colon].iter().all(|byte| is_authority_byte(*byte) && *byte != b'@')
        && host_start.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"[$_-{%".contains(&byte))
        && !secret_value::is_template(password)
        && !secret_value::is_example_value(password)
        && password.iter().any(u8::is_ascii_alphanumeric);
    let kind = detect_kind(password);
    is_secret.then_some((from + colon + 1, from + at_sign, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_ends_within_512_bytes_of_a_url() {
        assert_eq!(MAX_AUTHORITY_BYTES, 512);
        let has_password = |authority_len: usize| {
            let length = authority_len - "u:@h".len();
            let text = format!("https://u:{}@h", &"a1b2c3d4".repeat(length)[..length]);
            let (start, end) = ("https".len(), "https://".len());
            let window = Window::new(text.as_bytes(), start, 0);
            match_url_password(&window, start, end).is_some()
        };
        assert!(has_password(MAX_AUTHORITY_BYTES) && !has_password(MAX_AUTHORITY_BYTES + 1));
    }
}
