//! Placeholders, `[REDACTED:kind:tag]`: written, parsed and counted. Entry points:
//! `write_placeholder`, with which the redactor replaces a secret, `parse_placeholder`, by which
//! `scan` leaves existing placeholders alone, and [`count_placeholders`].
use super::vendor_keys::VENDOR_KEYS;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::fmt;

/// Prefix of every placeholder.
pub(super) const PLACEHOLDER_PREFIX: &str = "[REDACTED:";

/// Kind of secrets found by context: an assignment, a URL or a header.
pub(super) const KIND_SECRET: &str = "secret";
pub(super) const KIND_PRIVATE_KEY: &str = "private-key";
pub(super) const KIND_KNOWN_VALUE: &str = "known-value";
pub(super) const KIND_JWT: &str = "jwt";

/// Kinds reported by `token_formats`, besides `jwt`.
const TOKEN_KINDS: &[&str] = &[
    "discord-token",
    "telegram-token",
    "terraform-token",
    "mailchimp-key",
    "slack-webhook",
    "discord-webhook",
    "azure-signature",
];

/// Hex digits of the tag.
const TAG_DIGITS: usize = 6;
/// Maximum length of a kind in bytes.
const MAX_KIND_LEN: usize = 32;

/// Number of redacted secrets, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactionCounts {
    by_kind: BTreeMap<&'static str, usize>,
}

impl RedactionCounts {
    /// Whether no secret was redacted.
    pub fn is_empty(&self) -> bool {
        self.by_kind.is_empty()
    }

    /// Number of secrets of all kinds.
    pub fn total(&self) -> usize {
        self.by_kind.values().sum()
    }

    /// Adds the counts of another text.
    pub fn add(&mut self, other: &RedactionCounts) {
        for (kind, count) in &other.by_kind {
            *self.by_kind.entry(kind).or_default() += count;
        }
    }

    /// Kinds in alphabetical order, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.by_kind.iter().map(|(kind, count)| (*kind, *count))
    }

    pub(super) fn increment(&mut self, kind: &'static str) {
        *self.by_kind.entry(kind).or_default() += 1;
    }
}

impl fmt::Display for RedactionCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (kind, count)) in self.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{count} {kind}")?;
        }
        Ok(())
    }
}

/// Counts the placeholders in a text, by kind.
pub fn count_placeholders(text: &str) -> RedactionCounts {
    let mut counts = RedactionCounts::default();
    for (start, _) in text.match_indices(PLACEHOLDER_PREFIX) {
        if let Some((kind, _)) = parse_placeholder(&text.as_bytes()[start..]) {
            counts.increment(kind);
        }
    }
    counts
}

/// Parses the placeholder at the start of a text. Returns its kind and its length.
pub(super) fn parse_placeholder(bytes: &[u8]) -> Option<(&'static str, usize)> {
    let rest = bytes.strip_prefix(PLACEHOLDER_PREFIX.as_bytes())?;
    let colon = rest.iter().take(MAX_KIND_LEN).position(|byte| *byte == b':')?;
    let kind = all_kinds().find(|kind| kind.as_bytes() == &rest[..colon])?;
    let tag = rest.get(colon + 1..colon + 1 + TAG_DIGITS)?;
    let is_hex = tag.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_closed = rest.get(colon + 1 + TAG_DIGITS) == Some(&b']');
    (is_hex && is_closed).then_some((kind, PLACEHOLDER_PREFIX.len() + colon + TAG_DIGITS + 2))
}

/// Maximum length of a placeholder in bytes.
pub(super) const MAX_PLACEHOLDER_LEN: usize =
    PLACEHOLDER_PREFIX.len() + MAX_KIND_LEN + TAG_DIGITS + 2;

fn all_kinds() -> impl Iterator<Item = &'static str> {
    let others = [KIND_SECRET, KIND_PRIVATE_KEY, KIND_KNOWN_VALUE, KIND_JWT]
        .into_iter()
        .chain(TOKEN_KINDS.iter().copied());
    VENDOR_KEYS.iter().map(|row| row.kind).chain(others)
}

/// Keyed hash (HMAC-SHA256) of a secret within a scope. Without the key, guesses of the secret
/// cannot be checked against it.
pub(super) fn hmac_tag(key: &[u8], scope: &str, secret: &[u8]) -> [u8; 32] {
    // HMAC accepts a key of any length, so there is no error to handle.
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .unwrap_or_else(|_| Hmac::<Sha256>::new(&[0; 64].into()));
    mac.update(scope.as_bytes());
    mac.update(&[0]);
    mac.update(secret);
    mac.finalize().into_bytes().into()
}

/// Writes the placeholder of a secret, then its line breaks, so that line numbers stay valid.
pub(super) fn write_placeholder(
    kind: &str,
    secret: &[u8],
    key: &[u8],
    scope: &str,
    output: &mut Vec<u8>,
) {
    let tag = hmac_tag(key, scope, secret);
    output.extend_from_slice(PLACEHOLDER_PREFIX.as_bytes());
    output.extend_from_slice(kind.as_bytes());
    output.push(b':');
    let hex_digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
    output.extend(
        tag.iter().flat_map(|byte| [hex_digit(byte >> 4), hex_digit(byte & 15)]).take(TAG_DIGITS),
    );
    output.push(b']');
    for (index, _) in secret.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        if index > 0 && secret[index - 1] == b'\r' {
            output.push(b'\r');
        }
        output.push(b'\n');
    }
}
