//! Bounded view of the text around one keyword. A read past the end returns `None` and sets a flag:
//! with more input, the result could differ. Streams use the flag to hold text in their buffer.
use std::cell::Cell;

/// Maximum look-behind in bytes, from the start of the keyword.
pub(super) const LOOK_BEHIND: usize = 256;
/// Maximum number of spaces and tabs skipped at once.
const MAX_BLANKS: usize = 64;
/// Maximum length in bytes of the numbers in an ANSI color code.
const MAX_COLOR_CODE_BYTES: usize = 12;

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

    pub(super) fn byte_at(&self, offset: usize) -> Option<u8> {
        let byte = self.bytes.get(offset).copied();
        if byte.is_none() {
            self.read_past_end.set(true);
        }
        byte
    }

    /// The byte before an offset. In place of a redacted secret, it is the `]` of the placeholder.
    pub(super) fn byte_before(&self, offset: usize) -> Option<u8> {
        let offset = offset.checked_sub(1)?;
        if offset + LOOK_BEHIND < self.keyword_start {
            None
        } else if offset < self.covered {
            Some(b']')
        } else {
            self.byte_at(offset)
        }
    }

    pub(super) fn starts_with(&self, offset: usize, text: &str) -> bool {
        text.bytes().enumerate().all(|(i, byte)| self.byte_at(offset + i) == Some(byte))
    }

    /// Whether the text before an offset ends with a string.
    pub(super) fn ends_with(&self, offset: usize, text: &str) -> bool {
        text.bytes().rev().enumerate().all(|(i, byte)| {
            offset.checked_sub(i).and_then(|offset| self.byte_before(offset)) == Some(byte)
        })
    }

    /// End of the run of matching bytes from `from` on, of at most `max_len` bytes.
    pub(super) fn run_end(
        &self,
        from: usize,
        max_len: usize,
        accepts: impl Fn(u8) -> bool,
    ) -> usize {
        let mut end = from;
        while end < from + max_len && self.byte_at(end).is_some_and(&accepts) {
            end += 1;
        }
        end
    }

    /// Start of the run of matching bytes that ends at `to`, of at most `max_len` bytes.
    pub(super) fn run_start(
        &self,
        to: usize,
        max_len: usize,
        accepts: impl Fn(u8) -> bool,
    ) -> usize {
        let mut start = to;
        while to - start < max_len && self.byte_before(start).is_some_and(&accepts) {
            start -= 1;
        }
        start
    }

    /// Skips spaces and tabs.
    pub(super) fn skip_blanks(&self, from: usize) -> usize {
        self.run_end(from, MAX_BLANKS, |byte| byte == b' ' || byte == b'\t')
    }

    /// A slice of bytes that were already read. Never sets the flag.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'t [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Whether a token can start here: not after a word byte, nor after a hyphen or dot that joins
    /// it to a word. Escapes (`\n`, `%20`) and ANSI color codes do not count as words.
    pub(super) fn is_token_start(&self, offset: usize) -> bool {
        let Some(last) = self.byte_before(offset) else { return true };
        if last == b'-' || last == b'.' {
            return offset < 2 || !self.byte_before(offset - 1).is_some_and(is_word_byte);
        }
        if !is_word_byte(last) {
            return true;
        }
        match last {
            b'n' | b'r' | b't' if self.ends_with(offset - 1, "\\") => true,
            b'm' => {
                let is_code_byte = |byte: u8| byte.is_ascii_digit() || byte == b';';
                let digits = self.run_start(offset - 1, MAX_COLOR_CODE_BYTES, is_code_byte);
                self.ends_with(digits, "\u{1b}[")
            }
            _ if last.is_ascii_hexdigit() && offset >= 3 => self.ends_with(offset - 2, "%"),
            _ => false,
        }
    }

    /// Whether a token can end here.
    pub(super) fn is_token_end(&self, offset: usize) -> bool {
        !self.byte_at(offset).is_some_and(is_word_byte)
    }
}

pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_behind_is_256_bytes() {
        assert_eq!(LOOK_BEHIND, 256);
        let text = [b'a'; 2 * LOOK_BEHIND];
        let window = Window::new(&text, text.len(), 0);
        assert_eq!(window.run_start(text.len(), text.len(), |_| true), text.len() - LOOK_BEHIND);
    }
}
