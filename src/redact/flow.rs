//! Streaming redaction. Text stays in a buffer until no secret can start in it, so the concatenated
//! output equals the redaction of the whole text. `StreamRedactor` takes chunks of text,
//! `redact_stream` copies a reader to a writer.
use super::mark::Removed;
use super::scan::{self, Scan};
use super::window::BEHIND;
use super::{Redactor, in_words, known};
use std::io::{self, Read, Write};

/// Maximum size of the buffer in bytes. Every secret is shorter, so text without whitespace can
/// still be cut.
const MOST: usize = 64 * 1024;
/// Distance between such a cut and undecided bytes: more than any keyword or look-behind.
const MARGIN: usize = 2 * BEHIND;
/// Size of the read buffer in bytes.
const PIECE: usize = 256 * 1024;

/// Redacts text that arrives in chunks. Buffers it until no secret can start in it.
pub struct Held {
    flow: Flow,
}

impl Held {
    pub(super) fn new(redactor: Redactor) -> Held {
        Held { flow: Flow::new(redactor) }
    }

    /// Appends a chunk. Returns the redacted text that no later chunk can change.
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

    /// Flushes the buffer at the end of the stream.
    pub fn finish(mut self) -> String {
        in_words(self.flow.finish())
    }
}

/// Copies a stream with secrets redacted, with a bounded buffer. Returns their number by kind.
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
    /// Released bytes kept for look-behind, followed by the held bytes.
    text: Vec<u8>,
    /// Start of the held bytes.
    from: usize,
    /// End of the last secret or placeholder among the released bytes.
    covered: usize,
    /// Minimum length of `text` for the next scan.
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
        // A scan for every byte received would take quadratic time.
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

    /// End of the bytes that can be released, after whitespace if there is any.
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

/// Moves a cut to the start of the secret, keyword or placeholder it would split.
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
