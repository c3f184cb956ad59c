//! Credentials after `Bearer` and `Basic`, in HTTP headers and elsewhere.
use super::mark::SECRET;
use super::scan::{Span, kind_of};
use super::value;
use super::window::{Window, wordish};

const LONGEST: usize = 4096;

/// Whether RFC 9110 allows the byte in a bearer token (`token68`).
fn token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// Matches `Bearer TOKEN`.
pub(super) fn bearer(window: &Window, start: usize, end: usize) -> Option<Span> {
    let from = follows(window, start, end)?;
    let end = trimmed(window, from, window.run(from, LONGEST, token68));
    let token = window.part(from, end);
    let fits = token.len() >= 12 && value::random(token) && window.closes(end);
    (fits && !value::template(token) && !value::placeholder(token))
        .then(|| (from, end, kind_of(token)))
}

/// Matches `Basic BASE64` if it decodes to `user:password`.
pub(super) fn basic(window: &Window, start: usize, end: usize) -> Option<Span> {
    let from = follows(window, start, end)?;
    let end =
        window.run(from, LONGEST, |byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    let text = decoded(window.part(from, end))?;
    let colon = text.iter().position(|byte| *byte == b':')?;
    let readable = text.iter().all(|byte| (b' '..127).contains(byte));
    let password = text.get(colon + 1..).unwrap_or_default();
    let name = text.get(..colon).unwrap_or_default();
    let real = name.len() + password.len() >= 6 && !value::template(password);
    (readable && real && window.closes(end)).then_some((from, end, SECRET))
}

/// Start of the token: after blanks, or after `%20`.
fn follows(window: &Window, start: usize, end: usize) -> Option<usize> {
    if window.before(start).is_some_and(wordish) && !window.opens(start) {
        return None;
    }
    let from = if window.starts(end, "%20") { end + 3 } else { window.blank(end) };
    (from > end).then_some(from)
}

fn trimmed(window: &Window, from: usize, mut end: usize) -> usize {
    while end > from && matches!(window.part(end - 1, end), b"." | b"-" | b"~") {
        end -= 1;
    }
    end
}

/// Decodes standard base64, padded or not.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
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
