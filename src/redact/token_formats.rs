//! Matchers for tokens that have a fixed structure instead of a unique prefix: JWT, bot tokens,
//! webhook URLs and signed URLs.
use super::key_pattern::is_example_key;
use super::placeholder::KIND_JWT;
use super::secret_span::MatchedSpan;
use super::window::{Window, is_word_byte};
use std::ops::RangeInclusive;

/// Maximum length in bytes of the header of a JWT, and of its signature.
const MAX_JWT_PART_BYTES: usize = 2_048;
/// Maximum length in bytes of the payload of a JWT.
const MAX_JWT_PAYLOAD_BYTES: usize = 8_192;
/// Minimum length in bytes of the header of a JWT.
const MIN_JWT_HEADER_BYTES: usize = 12;
/// Minimum length in bytes of the signature of a JWT.
const MIN_JWT_SIGNATURE_BYTES: usize = 10;
/// Length in bytes of the secret part of a webhook URL. A longer one is cut at the maximum.
const WEBHOOK_BYTES: RangeInclusive<usize> = 24..=255;
/// Length in bytes of an Azure signature.
const AZURE_SIGNATURE_BYTES: RangeInclusive<usize> = 40..=200;

fn is_base64url(byte: u8) -> bool {
    is_word_byte(byte) || byte == b'-'
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// JSON Web Token: header, payload and signature in base64url, separated by dots.
pub(super) fn match_jwt(window: &Window, start: usize) -> Option<MatchedSpan> {
    if !window.is_token_start(start) {
        return None;
    }
    let head = window.run_end(start, MAX_JWT_PART_BYTES, is_base64url);
    if head - start < MIN_JWT_HEADER_BYTES || !window.starts_with(head, ".eyJ") {
        return None;
    }
    let body = window.run_end(head + 1, MAX_JWT_PAYLOAD_BYTES, is_base64url);
    if window.byte_at(body) != Some(b'.') {
        return None;
    }
    let end = window.run_end(body + 1, MAX_JWT_PART_BYTES, is_base64url);
    let fits = end - body > MIN_JWT_SIGNATURE_BYTES && window.is_token_end(end);
    fits.then_some((start, end, KIND_JWT))
}

/// Discord bot token: account number, timestamp and signature, separated by dots.
pub(super) fn match_discord(window: &Window, start: usize) -> Option<MatchedSpan> {
    if !window.is_token_start(start)
        || !matches!(window.byte_at(start + 3), Some(b'w'..=b'z' | b'0'..=b'5'))
    {
        return None;
    }
    let id = window.run_end(start, 29, |byte| byte.is_ascii_alphanumeric());
    if !(23..=28).contains(&(id - start)) || window.byte_at(id) != Some(b'.') {
        return None;
    }
    let time = window.run_end(id + 1, 8, is_base64url);
    if !(6..=7).contains(&(time - id - 1)) || window.byte_at(time) != Some(b'.') {
        return None;
    }
    let end = window.run_end(time + 1, 41, is_base64url);
    ((27..=40).contains(&(end - time - 1)) && window.is_token_end(end)).then_some((
        start,
        end,
        "discord-token",
    ))
}

/// Telegram bot token: 8 to 10 digits, a colon and 35 characters that start with `AA`.
pub(super) fn match_telegram(window: &Window, colon: usize) -> Option<MatchedSpan> {
    let end = window.run_end(colon + 1, 36, is_base64url);
    if end - colon - 1 != 35
        || !window.is_token_end(end)
        || is_example_key(window.slice(colon + 3, end))
    {
        return None;
    }
    let start = window.run_start(colon, 11, |byte| byte.is_ascii_digit());
    let is_boundary = window.ends_with(start, "bot") || window.is_token_start(start);
    ((8..=10).contains(&(colon - start)) && is_boundary).then_some((start, end, "telegram-token"))
}

/// Terraform Cloud token: 14 characters, `.atlasv1.`, and 40 to 100 characters.
pub(super) fn match_terraform(window: &Window, start: usize, end: usize) -> Option<MatchedSpan> {
    let first = window.run_start(start, 15, |byte| byte.is_ascii_alphanumeric());
    let last = window.run_end(end, 101, is_base64url);
    let fits = start - first == 14 && (40..=100).contains(&(last - end));
    (fits && window.is_token_start(first) && !is_example_key(window.slice(end, last))).then_some((
        first,
        last,
        "terraform-token",
    ))
}

/// Mailchimp API key: 32 hex digits and the data center, such as `-us12`.
pub(super) fn match_mailchimp(window: &Window, dash: usize, end: usize) -> Option<MatchedSpan> {
    let last = window.run_end(end, 3, |byte| byte.is_ascii_digit());
    if last == end || last - end > 2 || !window.is_token_end(last) {
        return None;
    }
    let start = window.run_start(dash, 33, is_lower_hex);
    let fits = dash - start == 32 && window.is_token_start(start);
    (fits && !is_example_key(window.slice(start, dash))).then_some((start, last, "mailchimp-key"))
}

/// Webhook URL, which is a credential in itself. Only the part after the common prefix is redacted.
pub(super) fn match_webhook(
    window: &Window,
    end: usize,
    kind: &'static str,
) -> Option<MatchedSpan> {
    let last = window.run_end(end, *WEBHOOK_BYTES.end(), |byte| is_base64url(byte) || byte == b'/');
    let rest = window.slice(end, last);
    let has_digit = rest.iter().any(u8::is_ascii_digit);
    (WEBHOOK_BYTES.contains(&rest.len()) && has_digit && !is_example_key(rest))
        .then_some((end, last, kind))
}

/// Azure shared access signature: the `sig` parameter of a query string.
pub(super) fn match_azure_signature(
    window: &Window,
    start: usize,
    end: usize,
) -> Option<MatchedSpan> {
    let is_signature_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"%+/=".contains(&byte);
    let last = window.run_end(end, AZURE_SIGNATURE_BYTES.end() + 1, is_signature_byte);
    let rest = window.slice(end, last);
    let fits = AZURE_SIGNATURE_BYTES.contains(&rest.len()) && rest.iter().any(u8::is_ascii_digit);
    let is_boundary =
        matches!(window.byte_before(start), Some(b'?' | b'&' | b';' | b'"' | b'\'' | b' ') | None);
    (fits && is_boundary && !is_example_key(rest)).then_some((end, last, "azure-signature"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_jwt_have_minimum_and_maximum_lengths() {
        assert_eq!((MIN_JWT_HEADER_BYTES, MIN_JWT_SIGNATURE_BYTES), (12, 10));
        assert_eq!((MAX_JWT_PART_BYTES, MAX_JWT_PAYLOAD_BYTES), (2_048, 8_192));
        let is_jwt = |header: usize, payload: usize, signature: usize| {
            let part = |length: usize| format!("eyJ{}", "a".repeat(length - 3));
            let signature = "a".repeat(signature);
            let text = format!("{}.{}.{signature}", part(header), part(payload));
            match_jwt(&Window::new(text.as_bytes(), 0, 0), 0).is_some()
        };
        let (min_header, min_signature) = (MIN_JWT_HEADER_BYTES, MIN_JWT_SIGNATURE_BYTES);
        let (max_part, max_payload) = (MAX_JWT_PART_BYTES, MAX_JWT_PAYLOAD_BYTES);
        assert!(is_jwt(min_header, 20, min_signature) && is_jwt(max_part, max_payload, max_part));
        assert!(!is_jwt(min_header - 1, 20, 20) && !is_jwt(max_part + 1, 20, 20));
        assert!(!is_jwt(20, max_payload + 1, 20));
        assert!(!is_jwt(20, 20, min_signature - 1) && !is_jwt(20, 20, max_part + 1));
    }

    /// A secret of this length after a prefix.
    fn text_with_secret(prefix: &str, length: usize) -> String {
        format!("{prefix}{}", &"a1b2c3d4".repeat(length)[..length])
    }

    #[test]
    fn webhook_has_24_to_255_bytes() {
        assert_eq!(WEBHOOK_BYTES, 24..=255);
        let secret_len = |length: usize| {
            let prefix = "hooks.slack.com/services/";
            let text = text_with_secret(prefix, length);
            let window = Window::new(text.as_bytes(), 0, 0);
            match_webhook(&window, prefix.len(), "slack-webhook").map(|(start, end, _)| end - start)
        };
        let (min, max) = (*WEBHOOK_BYTES.start(), *WEBHOOK_BYTES.end());
        assert_eq!((secret_len(min - 1), secret_len(min)), (None, Some(min)));
        assert_eq!((secret_len(max), secret_len(max + 1)), (Some(max), Some(max)));
    }

    #[test]
    fn azure_signature_has_40_to_200_bytes() {
        assert_eq!(AZURE_SIGNATURE_BYTES, 40..=200);
        let is_signature = |length: usize| {
            let text = text_with_secret("?sig=", length);
            let window = Window::new(text.as_bytes(), 1, 0);
            match_azure_signature(&window, 1, "?sig=".len()).is_some()
        };
        let (min, max) = (*AZURE_SIGNATURE_BYTES.start(), *AZURE_SIGNATURE_BYTES.end());
        assert!(!is_signature(min - 1) && is_signature(min));
        assert!(is_signature(max) && !is_signature(max + 1));
    }
}
