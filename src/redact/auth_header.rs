//! Credentials after `Bearer` and `Basic`, in HTTP headers and elsewhere.
use super::placeholder::KIND_SECRET;
use super::scan::{MatchedSpan, detect_kind};
use super::secret_value;
use super::window::{Window, is_word_byte};

const MAX_TOKEN_BYTES: usize = 4096;

/// Whether RFC 9110 allows the byte in a bearer token (`token68`).
fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// Matches `Bearer TOKEN`.
pub(super) fn match_bearer(window: &Window, start: usize, end: usize) -> Option<MatchedSpan> {
    let from = token_start(window, start, end)?;
    let end = trim_punctuation(window, from, window.run_end(from, MAX_TOKEN_BYTES, is_token68));
    let token = window.slice(from, end);
    let fits = token.len() >= 12 && secret_value::is_random(token) && window.is_token_end(end);
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
    let readable = text.iter().all(|byte| (b' '..127).contains(byte));
    let password = text.get(colon + 1..).unwrap_or_default();
    let name = text.get(..colon).unwrap_or_default();
    let real = name.len() + password.len() >= 6 && !secret_value::is_template(password);
    (readable && real && window.is_token_end(end)).then_some((from, end, KIND_SECRET))
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
    if text.len() < 8 || text.len() % 4 == 1 {
        return None;
    }
    let (mut bits, mut many, mut bytes) = (0_u32, 0, vec![]);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        many += 6;
        if many >= 8 {
            many -= 8;
            bytes.push((bits >> many) as u8);
            bits &= (1 << many) - 1;
        }
    }
    Some(bytes)
}
