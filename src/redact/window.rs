//! Bounded view of the text around one keyword. A read past the end returns `None` and sets a flag:
//! with more input, the result could differ. Streams use the flag to hold text in their buffer.
use std::cell::Cell;

/// Maximum look-behind in bytes, from the start of the keyword.
pub(super) const BEHIND: usize = 256;

pub(super) struct Window<'t> {
    bytes: &'t [u8],
    hit: usize,
    /// End of the last secret or placeholder before the keyword.
    covered: usize,
    ran_out: Cell<bool>,
}

impl<'t> Window<'t> {
    pub(super) fn new(bytes: &'t [u8], hit: usize, covered: usize) -> Window<'t> {
        Window { bytes, hit, covered, ran_out: Cell::new(false) }
    }

    /// Whether a matcher has read past the end of the text.
    pub(super) fn ran_out(&self) -> bool {
        self.ran_out.get()
    }

    pub(super) fn at(&self, place: usize) -> Option<u8> {
        let byte = self.bytes.get(place).copied();
        if byte.is_none() {
            self.ran_out.set(true);
        }
        byte
    }

    /// The byte before an offset. In place of a redacted secret, it is the `]` of the placeholder.
    pub(super) fn before(&self, place: usize) -> Option<u8> {
        let place = place.checked_sub(1)?;
        if place + BEHIND < self.hit {
            None
        } else if place < self.covered {
            Some(b']')
        } else {
            self.at(place)
        }
    }

    pub(super) fn starts(&self, place: usize, with: &str) -> bool {
        with.bytes().enumerate().all(|(more, byte)| self.at(place + more) == Some(byte))
    }

    /// Whether the text before an offset ends with a string.
    pub(super) fn ends(&self, place: usize, with: &str) -> bool {
        with.bytes().rev().enumerate().all(|(less, byte)| {
            place.checked_sub(less).and_then(|place| self.before(place)) == Some(byte)
        })
    }

    /// End of the run of matching bytes from `from` on, of at most `most` bytes.
    pub(super) fn run(&self, from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let mut end = from;
        while end < from + most && self.at(end).is_some_and(&of) {
            end += 1;
        }
        end
    }

    /// Start of the run of matching bytes that ends at `to`, of at most `most` bytes.
    pub(super) fn run_back(&self, to: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let mut start = to;
        while to - start < most && self.before(start).is_some_and(&of) {
            start -= 1;
        }
        start
    }

    /// Skips spaces and tabs, at most 64.
    pub(super) fn blank(&self, from: usize) -> usize {
        self.run(from, 64, |byte| byte == b' ' || byte == b'\t')
    }

    /// A slice of bytes that were already read. Never sets the flag.
    pub(super) fn part(&self, from: usize, to: usize) -> &'t [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Whether a token can start here: not after a word byte, nor after a hyphen or dot that joins
    /// it to a word. Escapes (`\n`, `%20`) and ANSI color codes do not count as words.
    pub(super) fn opens(&self, place: usize) -> bool {
        let Some(last) = self.before(place) else { return true };
        if last == b'-' || last == b'.' {
            return place < 2 || !self.before(place - 1).is_some_and(wordish);
        }
        if !wordish(last) {
            return true;
        }
        match last {
            b'n' | b'r' | b't' if self.ends(place - 1, "\\") => true,
            b'm' => {
                let digits = self.run_back(place - 1, 12, |b| b.is_ascii_digit() || b == b';');
                self.ends(digits, "\u{1b}[")
            }
            _ if last.is_ascii_hexdigit() && place >= 3 => self.ends(place - 2, "%"),
            _ => false,
        }
    }

    /// Whether a token can end here.
    pub(super) fn closes(&self, place: usize) -> bool {
        !self.at(place).is_some_and(wordish)
    }
}

pub(super) fn wordish(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
