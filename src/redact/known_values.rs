//! Known secret values, such as API keys from the environment. They are redacted wherever they
//! occur, also JSON-escaped or percent-encoded.
use super::placeholder;
use super::secret_span::SecretSpan;
use super::secret_value;
use aho_corasick::{AhoCorasick, MatchKind};
use std::fmt::Write;

/// Minimum length of a value in characters. Shorter ones are ignored.
const MIN_KNOWN_VALUE_CHARS: usize = 8;
/// Maximum length of a value in bytes. Longer ones are ignored.
pub(super) const MAX_KNOWN_VALUE_BYTES: usize = 16 * 1024;

#[derive(Default)]
pub(super) struct KnownValues {
    automaton: Option<AhoCorasick>,
    values: Vec<Vec<u8>>,
}

impl KnownValues {
    pub(super) fn new(values: impl IntoIterator<Item = String>) -> KnownValues {
        let mut needles: Vec<Vec<u8>> = vec![];
        for value in values {
            let value = value.trim();
            if is_distinctive(value) {
                needles.extend(
                    [value.into(), escape_json(value), percent_encode(value)]
                        .map(String::into_bytes),
                );
            }
        }
        needles.sort();
        needles.dedup();
        needles.retain(|value| value.len() <= MAX_KNOWN_VALUE_BYTES);
        let mut automaton = AhoCorasick::builder();
        let automaton = automaton.match_kind(MatchKind::LeftmostLongest);
        let automaton = if needles.is_empty() { None } else { automaton.build(&needles).ok() };
        KnownValues { automaton, values: needles }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All values, separated by NUL: the input of the redaction fingerprint.
    pub(super) fn joined_values(&self) -> Vec<u8> {
        self.values.join(&0)
    }

    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Vec<SecretSpan> {
        let Some(automaton) = &self.automaton else { return vec![] };
        let input = aho_corasick::Input::new(bytes).span(from..bytes.len());
        let found = automaton.find_iter(input).map(|hit| (hit.start(), hit.end()));
        found
            .map(|(start, end)| SecretSpan {
                start,
                end,
                kind: placeholder::KIND_KNOWN_VALUE,
                keyword_start: start,
            })
            .collect()
    }

    /// Start of the suffix that could be the beginning of a value. A stream must not release it.
    pub(super) fn partial_match_start(&self, bytes: &[u8]) -> usize {
        let max_len = self.values.iter().map(Vec::len).max().unwrap_or_default();
        let from = bytes.len().saturating_sub(max_len);
        let is_value_start =
            |at: &usize| self.values.iter().any(|value| value.starts_with(&bytes[*at..]));
        (from..bytes.len()).find(is_value_start).unwrap_or(bytes.len())
    }
}

/// Whether a value is distinctive enough: no ordinary words, path or plain URL, and not short.
fn is_distinctive(value: &str) -> bool {
    let first = value.chars().next();
    let is_uniform = value.chars().all(|c| Some(c) == first);
    let is_path = value.starts_with(['/', '~'])
        || value.starts_with("./")
        || value.starts_with("../")
        || value.get(1..3) == Some(":\\");
    let is_plain = secret_value::has_only_words(value.as_bytes());
    let is_plain_url = value.contains("://")
        && !value.contains(['@', '?'])
        && !secret_value::is_strong_token(value.as_bytes());
    value.chars().count() >= MIN_KNOWN_VALUE_CHARS
        && !is_uniform
        && !is_path
        && !is_plain
        && !is_plain_url
}

/// Escapes a value as in a JSON string.
fn escape_json(value: &str) -> String {
    let mut text = String::new();
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c => text.push(c),
        }
    }
    text
}

/// Percent-encodes a value as in a URL query.
fn percent_encode(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_value_has_8_characters_to_16_kib() {
        assert_eq!((MIN_KNOWN_VALUE_CHARS, MAX_KNOWN_VALUE_BYTES), (8, 16 * 1024));
        let is_found = |length: usize| {
            let value = "a1b2c3d4".repeat(length)[..length].to_owned();
            KnownValues::new([value.clone()]).find(value.as_bytes(), 0).len() == 1
        };
        assert!(!is_found(MIN_KNOWN_VALUE_CHARS - 1) && is_found(MIN_KNOWN_VALUE_CHARS));
        assert!(is_found(MAX_KNOWN_VALUE_BYTES) && !is_found(MAX_KNOWN_VALUE_BYTES + 1));
    }
}
