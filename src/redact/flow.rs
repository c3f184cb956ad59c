//! Text that comes in pieces. What has come is held back until it is certain that no secret begins
//! in it, so that the pieces, joined, are what the whole would have become.
use super::mark::Removed;
use super::scan::{self, Scan};
use super::window::BEHIND;
use super::{Redactor, in_words, known};
use std::io::{self, Read, Write};

/// No more than this is held back. Every secret there can be is shorter, so a text without any
/// whitespace can be cut somewhere in it.
const MOST: usize = 64 * 1024;
/// Longer than any word, and further than any matcher looks back.
const MARGIN: usize = 2 * BEHIND;
/// How much is read at once.
const PIECE: usize = 256 * 1024;

/// Holds text back until it is certain that no secret begins in it.
pub struct Held {
    flow: Flow,
}

impl Held {
    pub(super) fn new(redactor: Redactor) -> Held {
        Held { flow: Flow::new(redactor) }
    }

    /// Takes a piece, and gives what is certain by now.
    pub fn push(&mut self, piece: &str) -> String {
        let mut ready = String::new();
        let mut rest = piece;
        while !rest.is_empty() {
            let most = (0..=rest.len().min(MOST / 4)).rev().find(|at| rest.is_char_boundary(*at));
            let (now, later) = rest.split_at(most.unwrap_or(rest.len()));
            ready.push_str(&in_words(self.flow.push(now.as_bytes())));
            rest = later;
        }
        ready
    }

    /// What is left.
    pub fn finish(mut self) -> String {
        in_words(self.flow.finish())
    }
}

/// Takes the secrets out of whatever passes through, holding no more of it than it must.
pub fn filter(
    mut input: impl Read,
    mut output: impl Write,
    redactor: &Redactor,
) -> io::Result<Removed> {
    let mut flow = Flow::new(redactor.clone());
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(many) => output.write_all(&flow.push(&piece[..many]))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    output.write_all(&flow.finish())?;
    output.flush()?;
    Ok(flow.removed)
}

struct Flow {
    redactor: Redactor,
    /// What is held, after as much of what was released as a matcher may look back to.
    text: Vec<u8>,
    /// Where what is held begins.
    from: usize,
    /// Up to where what was released is dealt with.
    covered: usize,
    /// How long the text must be to be looked at again.
    due: usize,
    removed: Removed,
}

impl Flow {
    fn new(redactor: Redactor) -> Flow {
        Flow { redactor, text: vec![], from: 0, covered: 0, due: 0, removed: Removed::default() }
    }

    fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.text.extend_from_slice(piece);
        if self.text.len() < self.due {
            return vec![];
        }
        let scan = scan::scan(&self.text, self.from, self.covered, &self.redactor.inner.known);
        let cut = self.cut(&scan);
        let ready = self.release(&scan, cut);
        // Looking at it again for every byte would take the square of its length.
        let held = self.text.len() - self.from;
        self.due = self.text.len() + if ready.is_empty() { held / 16 } else { 0 };
        ready
    }

    fn finish(&mut self) -> Vec<u8> {
        let scan = scan::scan(&self.text, self.from, self.covered, &self.redactor.inner.known);
        self.release(&scan, self.text.len())
    }

    fn release(&mut self, scan: &Scan, cut: usize) -> Vec<u8> {
        let mut ready = vec![];
        let part = self.from..cut;
        self.redactor.write(&self.text, part, &scan.found, &mut ready, &mut self.removed);
        let ends = scan.found.iter().map(|found| found.end).chain(scan.marks.iter().copied());
        self.covered = ends.filter(|end| *end <= cut).fold(self.covered, usize::max);
        let keep = cut.saturating_sub(BEHIND);
        self.covered = self.covered.saturating_sub(keep);
        self.text.drain(..keep);
        self.from = cut - keep;
        ready
    }

    /// Up to where everything is certain: after whitespace if there is any.
    fn cut(&self, scan: &Scan) -> usize {
        let end = self.text.len();
        let open = scan.open.unwrap_or(end).min(self.redactor.inner.known.begun(&self.text));
        let last = self.text[self.from..open].iter().rposition(u8::is_ascii_whitespace);
        let cut = whole(scan, last.map_or(self.from, |last| self.from + last + 1));
        if cut > self.from || end - self.from <= MOST - PIECE.min(MOST / 4) {
            return cut.max(self.from);
        }
        let mut cut = open.min(end.saturating_sub(known::LONGEST)).saturating_sub(MARGIN);
        while cut > self.from && self.text[cut] & 0b1100_0000 == 0b1000_0000 {
            cut -= 1;
        }
        whole(scan, cut).max(self.from)
    }
}

/// A place, or the beginning of what must not be cut there.
fn whole(scan: &Scan, cut: usize) -> usize {
    let found = scan.found.iter().map(|found| (found.hit, found.end));
    let mut spans: Vec<_> = found.chain(scan.whole.iter().copied()).collect();
    spans.sort_unstable();
    spans.into_iter().rev().fold(
        cut,
        |cut, (start, end)| {
            if start < cut && cut < end { start } else { cut }
        },
    )
}
