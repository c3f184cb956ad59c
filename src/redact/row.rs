//! Pattern of a vendor key: prefix, alphabet, length and character classes.
use super::window::Window;

/// Format of a vendor key with a unique prefix. Alphabet and lengths are those of the rest.
pub(super) struct Row {
    /// Kind in placeholders.
    pub(super) kind: &'static str,
    pub(super) prefixes: &'static [&'static str],
    pub(super) of: Alphabet,
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) with: Check,
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
    Url,
    /// The same and `.`.
    Dotted,
    /// Both base64 alphabets, with padding.
    Base64,
}

/// Character classes that must occur, so that plain words are not valid keys.
#[derive(Clone, Copy)]
pub(super) enum Check {
    Nothing,
    /// Letters of both cases, or letters and digits.
    Mixed,
    Digits,
    Rich,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Alphabet::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Alphabet::Alnum => byte.is_ascii_alphanumeric(),
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Alphabet::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Alphabet::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=')
            }
        }
    }
}

impl Check {
    fn holds(self, rest: &[u8]) -> bool {
        let any = |of: fn(&u8) -> bool| rest.iter().any(of);
        match self {
            Check::Nothing => true,
            Check::Mixed => {
                let upper = any(u8::is_ascii_uppercase);
                let lower = any(u8::is_ascii_lowercase);
                upper && lower || any(u8::is_ascii_digit) && (upper || lower)
            }
            Check::Digits => any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic),
            Check::Rich => {
                any(u8::is_ascii_digit)
                    && any(u8::is_ascii_lowercase)
                    && any(u8::is_ascii_uppercase)
            }
        }
    }
}

impl Row {
    /// End of the key that starts at `start` with this prefix, if it is valid.
    pub(super) fn end(&self, window: &Window, start: usize, prefix: &str) -> Option<usize> {
        if !window.opens(start) || !window.starts(start, prefix) {
            return None;
        }
        let from = start + prefix.len();
        let mut end = window.run(from, self.most + 1, |byte| self.of.has(byte));
        // Five dashes are the header of a key block, not part of the key.
        end = (from..end).find(|at| window.starts(*at, "-----")).unwrap_or(end);
        if end - from > self.most {
            return None;
        }
        // Punctuation of the sentence around the key is not part of it.
        while end > from && matches!(window.part(end - 1, end), b"." | b"-") {
            end -= 1;
        }
        let rest = window.part(from, end);
        let fits = rest.len() >= self.least && self.with.holds(rest) && window.closes(end);
        (fits && !made_up(rest)).then_some(end)
    }
}

/// Whether a key is an example: few distinct characters, or a word such as `example` in it.
pub(super) fn made_up(rest: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in rest {
        seen[usize::from(*byte)] = true;
    }
    let few = seen.iter().filter(|seen| **seen).count() < 5;
    let lower = rest.to_ascii_lowercase();
    let says = |word: &[u8]| lower.windows(word.len()).any(|part| part == word);
    few || says(b"example") || says(b"xxxxx") || says(b"redacted") || says(b"placeholder")
}
