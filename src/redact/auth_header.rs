//! Credentials after `Bearer` and `Basic`, in HTTP headers and elsewhere. Entry points:
//! `match_bearer` and `match_basic`, which `scan` calls where one of these words occurs.
use super::placeholder::KIND_SECRET;
use super::secret_span::MatchedSpan;
use super::secret_value;
use super::token_kind::detect_kind;
use super::window::{Window, is_word_byte};

/// Maximum length of a credential in bytes.
const MAX_TOKEN_BYTES: usize = 4096;
/// Minimum length of a bearer token in bytes.
const MIN_BEARER_BYTES: usize = 12;
/// Minimum length in bytes of user and password together.
const MIN_BASIC_BYTES: usize = 6;
/// Minimum length in bytes of base64 that is decoded.
const MIN_BASE64_BYTES: usize = 8;

/// Whether RFC 9110 allows the byte in a bearer token (`token68`).
fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// Matches `Bearer TOKEN`.
pub(super) fn match_bearer(window: &Window, start: usize, end: usize) -> Option<MatchedSpan> {
    let from = token_start(window, start, end)?;
    let end = trim_punctuation(window, from, window.run_end(from, MAX_TOKEN_BYTES, is_token68));
    let token = window.slice(from, end);
    let fits = token.len() >= MIN_BEARER_BYTES
        && secret_value::is_random(token)
        && window.is_token_end(end);
    (fits && !secret_value::is_template(token) && !secret_value::is_example_value(token))
        .then(|| (from, end, detect_kind(token)))
}

/// Matches `Basic BASE64` if it decodes to `user:password`.
pub(super) fn match_basic(window: &Window, start: usize, end: usize) -> Option<MatchedSpan> {
    let from = token_start(window, start, end)?;
    let end = window.run_end(from, MAX_TOKEN_BYTES, |byte| {
        byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
    });
    let text = decode_base64(window.slice(from, end))?;
    let colon = text.iter().position(|byte| *byte == b':')?;
    let is_printable = text.iter().all(|byte| (b' '..127).contains(byte));
    let password = text.get(colon + 1..).unwrap_or_default();
    let name = text.get(..colon).unwrap_or_default();
    let is_credential =
        name.len() + password.len() >= MIN_BASIC_BYTES && !secret_value::is_template(password);
    (is_printable && is_credential && window.is_token_end(end)).then_some((from, end, KIND_SECRET))
}

/// Start of the token: after blanks, or after `%20`.
fn token_start(window: &Window, start: usize, end: usize) -> Option<usize> {
    if window.byte_before(start).is_some_and(is_word_byte) && !window.is_token_start(start) {
        return None;
    }
    let from = if window.starts_with(end, "%20") { end + 3 } else { window.skip_blanks(end) };
    (from > end).then_some(from)
}

fn trim_punctuation(window: &Window, from: usize, mut end: usize) -> usize {
    while end > from && matches!(window.slice(end - 1, end), b"." | b"-" | b"~") {
        end -= 1;
    }
    end
}

/// Decodes standard base64, padded or not.
fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text);
    if text.len() < MIN_BASE64_BYTES || text.len() % 4 == 1 {
        return None;
    }
    let (mut bits, mut bit_count, mut bytes) = (0_u32, 0, vec![]);
    for byte in text {
        let sextet = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(sextet);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((bits >> bit_count) as u8);
            bits &= (1 << bit_count) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_token_has_12_to_4096_bytes() {
        assert_eq!((MIN_BEARER_BYTES, MAX_TOKEN_BYTES), (12, 4_096));
        let is_token = |length: usize| {
            let text = format!("Bearer {}", &"a1b2c3d4".repeat(length)[..length]);
            let window = Window::new(text.as_bytes(), 0, 0);
            match_bearer(&window, 0, "Bearer".len()).is_some()
        };
        assert!(!is_token(MIN_BEARER_BYTES - 1) && is_token(MIN_BEARER_BYTES));
        assert!(is_token(MAX_TOKEN_BYTES) && !is_token(MAX_TOKEN_BYTES + 1));
    }

    #[test]
    fn basic_credential_has_6_bytes_and_up_to_4096_of_base64() {
        assert_eq!((MIN_BASIC_BYTES, MAX_TOKEN_BYTES), (6, 4_096));
        let is_credential = |base64: &str| {
            let text = format!("Basic {base64}");
            let window = Window::new(text.as_bytes(), 0, 0);
            match_basic(&window, 0, "Basic".len()).is_some()
        };
        // `user:p` and `user:pw`
        assert!(!is_credential("dXNlcjpw") && is_credential("dXNlcjpwdw=="));
        // `r:pr:p…`
        let longest = "cjpw".repeat(MAX_TOKEN_BYTES / 4);
        assert!(is_credential(&longest) && !is_credential(&(longest + "c")));
    }
}
