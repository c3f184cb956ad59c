//! Pattern of a vendor key: prefix, alphabet, length and character classes.
use super::window::Window;

/// Minimum number of distinct bytes in a real key.
const MIN_DISTINCT_BYTES: usize = 5;

/// Format of a vendor key with a unique prefix. Alphabet and lengths are those of the rest.
pub(super) struct KeyPattern {
    /// Kind in placeholders.
    pub(super) kind: &'static str,
    pub(super) prefixes: &'static [&'static str],
    pub(super) alphabet: Alphabet,
    pub(super) min_len: usize,
    pub(super) max_len: usize,
    pub(super) check: ClassCheck,
}

#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    /// Lowercase hexadecimal digits.
    Hex,
    /// Letters and digits.
    Alnum,
    /// Uppercase letters and digits.
    Upper,
    /// Unpadded base64url: letters, digits, `_` and `-`.
    Base64Url,
    /// The same and `.`.
    Dotted,
    /// Both base64 alphabets, with padding.
    Base64,
}

/// Character classes that must occur, so that plain words are not valid keys.
#[derive(Clone, Copy)]
pub(super) enum ClassCheck {
    Any,
    /// Letters of both cases, or letters and digits.
    Mixed,
    LetterAndDigit,
    UpperLowerDigit,
}

impl Alphabet {
    fn contains(self, byte: u8) -> bool {
        match self {
            Alphabet::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Alphabet::Alnum => byte.is_ascii_alphanumeric(),
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Base64Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Alphabet::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Alphabet::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=')
            }
        }
    }
}

impl ClassCheck {
    fn accepts(self, rest: &[u8]) -> bool {
        let any = |class: fn(&u8) -> bool| rest.iter().any(class);
        match self {
            ClassCheck::Any => true,
            ClassCheck::Mixed => {
                let upper = any(u8::is_ascii_uppercase);
                let lower = any(u8::is_ascii_lowercase);
                upper && lower || any(u8::is_ascii_digit) && (upper || lower)
            }
            ClassCheck::LetterAndDigit => any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic),
            ClassCheck::UpperLowerDigit => {
                any(u8::is_ascii_digit)
                    && any(u8::is_ascii_lowercase)
                    && any(u8::is_ascii_uppercase)
            }
        }
    }
}

impl KeyPattern {
    /// End of the key that starts at `start` with this prefix, if it is valid.
    pub(super) fn match_end(&self, window: &Window, start: usize, prefix: &str) -> Option<usize> {
        if !window.is_token_start(start) || !window.starts_with(start, prefix) {
            return None;
        }
        let from = start + prefix.len();
        let mut end = window.run_end(from, self.max_len + 1, |byte| self.alphabet.contains(byte));
        // Five dashes are the header of a key block, not part of the key.
        end = (from..end).find(|at| window.starts_with(*at, "-----")).unwrap_or(end);
        if end - from > self.max_len {
            return None;
        }
        // Punctuation of the sentence around the key is not part of it.
        while end > from && matches!(window.slice(end - 1, end), b"." | b"-") {
            end -= 1;
        }
        let rest = window.slice(from, end);
        let fits =
            rest.len() >= self.min_len && self.check.accepts(rest) && window.is_token_end(end);
        (fits && !is_example_key(rest)).then_some(end)
    }
}

/// Whether a key is an example: few distinct characters, or a word such as `example` in it.
pub(super) fn is_example_key(rest: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in rest {
        seen[usize::from(*byte)] = true;
    }
    let has_few = seen.iter().filter(|seen| **seen).count() < MIN_DISTINCT_BYTES;
    let lower = rest.to_ascii_lowercase();
    let contains = |word: &[u8]| lower.windows(word.len()).any(|part| part == word);
    has_few
        || contains(b"example")
        || contains(b"xxxxx")
        || contains(b"redacted")
        || contains(b"placeholder")
}
