//! A text around one word. Whoever asks for what is past the end of the text is told there is
//! nothing, and it is remembered: more text might have made a difference.
use std::cell::Cell;

/// How far back a matcher can look from the word it was called for.
pub(super) const BEHIND: usize = 256;

pub(super) struct Window<'t> {
    bytes: &'t [u8],
    hit: usize,
    /// Up to where everything is dealt with.
    covered: usize,
    ran_out: Cell<bool>,
}

impl<'t> Window<'t> {
    pub(super) fn new(bytes: &'t [u8], hit: usize, covered: usize) -> Window<'t> {
        Window { bytes, hit, covered, ran_out: Cell::new(false) }
    }

    /// Whether somebody looked past the end.
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

    /// The byte before a place. Where a secret was, there is what its placeholder ends with.
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

    /// Whether the text up to a place ends with something.
    pub(super) fn ends(&self, place: usize, with: &str) -> bool {
        with.bytes().rev().enumerate().all(|(less, byte)| {
            place.checked_sub(less).and_then(|place| self.before(place)) == Some(byte)
        })
    }

    /// Where a run of such bytes ends, after no more than `most` of them.
    pub(super) fn run(&self, from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let mut end = from;
        while end < from + most && self.at(end).is_some_and(&of) {
            end += 1;
        }
        end
    }

    /// Where a run of such bytes begins that ends here.
    pub(super) fn run_back(&self, to: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let mut start = to;
        while to - start < most && self.before(start).is_some_and(&of) {
            start -= 1;
        }
        start
    }

    /// Spaces and tabs are skipped.
    pub(super) fn blank(&self, from: usize) -> usize {
        self.run(from, 64, |byte| byte == b' ' || byte == b'\t')
    }

    /// A part that was already read.
    pub(super) fn part(&self, from: usize, to: usize) -> &'t [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Whether a word could begin here: what is before is not part of one, nor a hyphen or a dot
    /// that joins it to one. Escapes and colours before it are not part of it.
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

    /// Whether a word could end here.
    pub(super) fn closes(&self, place: usize) -> bool {
        !self.at(place).is_some_and(wordish)
    }
}

pub(super) fn wordish(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
