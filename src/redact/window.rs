//! Bounded view of the text around one keyword. A read past the end returns `None` and sets a flag:
//! with more input, the result could differ. Streams use the flag to hold text in their buffer.
use std::cell::Cell;

/// Maximum look-behind in bytes, from the start of the keyword.
pub(super) const LOOK_BEHIND: usize = 256;

pub(super) struct Window<'t> {
    bytes: &'t [u8],
    keyword_start: usize,
    /// End of the last secret or placeholder before the keyword.
    covered: usize,
    read_past_end: Cell<bool>,
}

impl<'t> Window<'t> {
    pub(super) fn new(bytes: &'t [u8], keyword_start: usize, covered: usize) -> Window<'t> {
        Window { bytes, keyword_start, covered, read_past_end: Cell::new(false) }
    }

    /// Whether a matcher has read past the end of the text.
    pub(super) fn has_read_past_end(&self) -> bool {
        self.read_past_end.get()
    }

    pub(super) fn byte_at(&self, place: usize) -> Option<u8> {
        let byte = self.bytes.get(place).copied();
        if byte.is_none() {
            self.read_past_end.set(true);
        }
        byte
    }

    /// The byte before an offset. In place of a redacted secret, it is the `]` of the placeholder.
    pub(super) fn byte_before(&self, place: usize) -> Option<u8> {
        let place = place.checked_sub(1)?;
        if place + LOOK_BEHIND < self.keyword_start {
            None
        } else if place < self.covered {
            Some(b']')
        } else {
            self.byte_at(place)
        }
    }

    pub(super) fn starts_with(&self, place: usize, with: &str) -> bool {
        with.bytes().enumerate().all(|(more, byte)| self.byte_at(place + more) == Some(byte))
    }

    /// Whether the text before an offset ends with a string.
    pub(super) fn ends_with(&self, place: usize, with: &str) -> bool {
        with.bytes().rev().enumerate().all(|(less, byte)| {
            place.checked_sub(less).and_then(|place| self.byte_before(place)) == Some(byte)
        })
    }

    /// End of the run of matching bytes from `from` on, of at most `most` bytes.
    pub(super) fn run_end(&self, from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let mut end = from;
        while end < from + most && self.byte_at(end).is_some_and(&of) {
            end += 1;
        }
        end
    }

    /// Start of the run of matching bytes that ends at `to`, of at most `most` bytes.
    pub(super) fn run_start(&self, to: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let mut start = to;
        while to - start < most && self.byte_before(start).is_some_and(&of) {
            start -= 1;
        }
        start
    }

    /// Skips spaces and tabs, at most 64.
    pub(super) fn skip_blanks(&self, from: usize) -> usize {
        self.run_end(from, 64, |byte| byte == b' ' || byte == b'\t')
    }

    /// A slice of bytes that were already read. Never sets the flag.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'t [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Whether a token can start here: not after a word byte, nor after a hyphen or dot that joins
    /// it to a word. Escapes (`\n`, `%20`) and ANSI color codes do not count as words.
    pub(super) fn is_token_start(&self, place: usize) -> bool {
        let Some(last) = self.byte_before(place) else { return true };
        if last == b'-' || last == b'.' {
            return place < 2 || !self.byte_before(place - 1).is_some_and(is_word_byte);
        }
        if !is_word_byte(last) {
            return true;
        }
        match last {
            b'n' | b'r' | b't' if self.ends_with(place - 1, "\\") => true,
            b'm' => {
                let digits = self.run_start(place - 1, 12, |b| b.is_ascii_digit() || b == b';');
                self.ends_with(digits, "\u{1b}[")
            }
            _ if last.is_ascii_hexdigit() && place >= 3 => self.ends_with(place - 2, "%"),
            _ => false,
        }
    }

    /// Whether a token can end here.
    pub(super) fn is_token_end(&self, place: usize) -> bool {
        !self.byte_at(place).is_some_and(is_word_byte)
    }
}

pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
