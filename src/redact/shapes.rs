//! Matchers for tokens that have a fixed structure instead of a unique prefix: JWT, bot tokens,
//! webhook URLs and signed URLs.
use super::mark::JWT;
use super::row::made_up;
use super::scan::Span;
use super::window::{Window, wordish};

fn url(byte: u8) -> bool {
    wordish(byte) || byte == b'-'
}

fn hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// JSON Web Token: header, payload and signature in base64url, separated by dots.
pub(super) fn jwt(window: &Window, start: usize) -> Option<Span> {
    if !window.opens(start) {
        return None;
    }
    let head = window.run(start, 2048, url);
    if head - start < 12 || !window.starts(head, ".eyJ") {
        return None;
    }
    let body = window.run(head + 1, 8192, url);
    if window.at(body) != Some(b'.') {
        return None;
    }
    let end = window.run(body + 1, 2048, url);
    (end - body > 10 && window.closes(end)).then_some((start, end, JWT))
}

/// Discord bot token: account number, timestamp and signature, separated by dots.
pub(super) fn discord(window: &Window, start: usize) -> Option<Span> {
    if !window.opens(start) || !matches!(window.at(start + 3), Some(b'w'..=b'z' | b'0'..=b'5')) {
        return None;
    }
    let id = window.run(start, 29, |byte| byte.is_ascii_alphanumeric());
    if !(23..=28).contains(&(id - start)) || window.at(id) != Some(b'.') {
        return None;
    }
    let time = window.run(id + 1, 8, url);
    if !(6..=7).contains(&(time - id - 1)) || window.at(time) != Some(b'.') {
        return None;
    }
    let end = window.run(time + 1, 41, url);
    ((27..=40).contains(&(end - time - 1)) && window.closes(end)).then_some((
        start,
        end,
        "discord-token",
    ))
}

/// Telegram bot token: 8 to 10 digits, a colon and 35 characters that start with `AA`.
pub(super) fn telegram(window: &Window, colon: usize) -> Option<Span> {
    let end = window.run(colon + 1, 36, url);
    if end - colon - 1 != 35 || !window.closes(end) || made_up(window.part(colon + 3, end)) {
        return None;
    }
    let start = window.run_back(colon, 11, |byte| byte.is_ascii_digit());
    let before = window.ends(start, "bot") || window.opens(start);
    ((8..=10).contains(&(colon - start)) && before).then_some((start, end, "telegram-token"))
}

/// Terraform Cloud token: 14 characters, `.atlasv1.`, and 40 to 100 characters.
pub(super) fn terraform(window: &Window, start: usize, end: usize) -> Option<Span> {
    let first = window.run_back(start, 15, |byte| byte.is_ascii_alphanumeric());
    let last = window.run(end, 101, url);
    let fits = start - first == 14 && (40..=100).contains(&(last - end));
    (fits && window.opens(first) && !made_up(window.part(end, last))).then_some((
        first,
        last,
        "terraform-token",
    ))
}

/// Mailchimp API key: 32 hex digits and the data center, such as `-us12`.
pub(super) fn mailchimp(window: &Window, dash: usize, end: usize) -> Option<Span> {
    let last = window.run(end, 3, |byte| byte.is_ascii_digit());
    if last == end || last - end > 2 || !window.closes(last) {
        return None;
    }
    let start = window.run_back(dash, 33, hex);
    let fits = dash - start == 32 && window.opens(start);
    (fits && !made_up(window.part(start, dash))).then_some((start, last, "mailchimp-key"))
}

/// Webhook URL, which is a credential in itself. Only the part after the common prefix is redacted.
pub(super) fn hook(window: &Window, end: usize, kind: &'static str) -> Option<Span> {
    let last = window.run(end, 255, |byte| url(byte) || byte == b'/');
    let rest = window.part(end, last);
    let digit = rest.iter().any(u8::is_ascii_digit);
    (rest.len() >= 24 && digit && !made_up(rest)).then_some((end, last, kind))
}

/// Azure shared access signature: the `sig` parameter of a query string.
pub(super) fn signature(window: &Window, start: usize, end: usize) -> Option<Span> {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"%+/=".contains(&byte);
    let last = window.run(end, 201, part);
    let rest = window.part(end, last);
    let fits = (40..=200).contains(&rest.len()) && rest.iter().any(u8::is_ascii_digit);
    let before =
        matches!(window.before(start), Some(b'?' | b'&' | b';' | b'"' | b'\'' | b' ') | None);
    (fits && before && !made_up(rest)).then_some((end, last, "azure-signature"))
}
