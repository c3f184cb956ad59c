//! A row of the table of vendors' keys, and whether a text fits it.
use super::window::Window;

/// Keys that begin with something only they begin with.
pub(super) struct Row {
    /// What it is called in placeholders.
    pub(super) kind: &'static str,
    /// What such keys begin with.
    pub(super) prefixes: &'static [&'static str],
    /// What the rest is made of.
    pub(super) of: Alphabet,
    /// How long the rest is at least.
    pub(super) least: usize,
    /// How long it is at most.
    pub(super) most: usize,
    /// What else must hold for the rest.
    pub(super) with: Check,
}

#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    /// Small hexadecimal digits.
    Hex,
    /// Letters and digits.
    Alnum,
    /// Capitals and digits.
    Upper,
    /// Letters, digits, `_` and `-`.
    Url,
    /// The same with `.`
    Dotted,
    /// Letters, digits, `+`, `/`, `=`, `_` and `-`.
    Base64,
}

#[derive(Clone, Copy)]
pub(super) enum Check {
    Nothing,
    /// Letters, and digits or letters of both cases.
    Mixed,
    /// Letters and digits.
    Digits,
    /// Digits and letters of both cases.
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
    /// Where a key of this row ends that begins here with this prefix.
    pub(super) fn end(&self, window: &Window, start: usize, prefix: &str) -> Option<usize> {
        if !window.opens(start) || !window.starts(start, prefix) {
            return None;
        }
        let from = start + prefix.len();
        let mut end = window.run(from, self.most + 1, |byte| self.of.has(byte));
        // A line of dashes, such as a key block begins with, is not its own either.
        end = (from..end).find(|at| window.starts(*at, "-----")).unwrap_or(end);
        if end - from > self.most {
            return None;
        }
        // The full stop or dash of the sentence it stands in is not its own.
        while end > from && matches!(window.part(end - 1, end), b"." | b"-") {
            end -= 1;
        }
        let rest = window.part(from, end);
        let fits = rest.len() >= self.least && self.with.holds(rest) && window.closes(end);
        (fits && !made_up(rest)).then_some(end)
    }
}

/// Keys of documents and tests, which say so.
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
