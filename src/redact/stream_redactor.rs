//! Streaming redaction. Text stays in a buffer until no secret can start in it, so the concatenated
//! output equals the redaction of the whole text. `StreamRedactor` takes chunks of text,
//! `redact_stream` copies a reader to a writer.
use super::known_values;
use super::placeholder::RedactionCounts;
use super::redactor::{Redactor, into_text};
use super::scan::{self, ScanResult};
use super::window::LOOK_BEHIND;
use std::io::{self, Read, Write};

/// Maximum size of the buffer in bytes. Every secret is shorter, so text without whitespace can
/// still be cut.
const MAX_BUFFER_BYTES: usize = 64 * 1024;
/// Maximum size in bytes of a chunk that is added to the buffer at once.
const MAX_CHUNK_BYTES: usize = MAX_BUFFER_BYTES / 4;
/// Share of the held bytes that must arrive before the next scan, if nothing could be released. A
/// scan for every byte received would take quadratic time.
const RESCAN_DIVISOR: usize = 16;
/// Distance between such a cut and undecided bytes: more than any keyword or look-behind.
const CUT_MARGIN_BYTES: usize = 2 * LOOK_BEHIND;
/// Size of the read buffer in bytes.
const READ_BUFFER_BYTES: usize = 256 * 1024;

/// Redacts text that arrives in chunks. Buffers it until no secret can start in it.
pub struct StreamRedactor {
    buffer: RedactionBuffer,
}

impl Redactor {
    /// A redactor for text that arrives in chunks.
    pub fn stream_redactor(&self) -> StreamRedactor {
        StreamRedactor::new(self.clone())
    }
}

impl StreamRedactor {
    pub(super) fn new(redactor: Redactor) -> StreamRedactor {
        StreamRedactor { buffer: RedactionBuffer::new(redactor) }
    }

    /// Appends a chunk. Returns the redacted text that no later chunk can change.
    pub fn push(&mut self, chunk: &str) -> String {
        let mut ready = String::new();
        let mut rest = chunk;
        while !rest.is_empty() {
            let end =
                (0..=rest.len().min(MAX_CHUNK_BYTES)).rev().find(|at| rest.is_char_boundary(*at));
            let (head, tail) = rest.split_at(end.unwrap_or(rest.len()));
            ready.push_str(&into_text(self.buffer.push(head.as_bytes())));
            rest = tail;
        }
        ready
    }

    /// Flushes the buffer at the end of the stream.
    pub fn finish(mut self) -> String {
        into_text(self.buffer.finish())
    }
}

/// Copies a stream with secrets redacted, with a bounded buffer. Returns their number by kind.
pub fn redact_stream(
    mut input: impl Read,
    mut output: impl Write,
    redactor: &Redactor,
) -> io::Result<RedactionCounts> {
    let mut buffer = RedactionBuffer::new(redactor.clone());
    let mut chunk = vec![0; READ_BUFFER_BYTES];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => output.write_all(&buffer.push(&chunk[..length]))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    output.write_all(&buffer.finish())?;
    output.flush()?;
    Ok(buffer.counts)
}

struct RedactionBuffer {
    redactor: Redactor,
    /// Released bytes kept for look-behind, followed by the held bytes.
    text: Vec<u8>,
    /// Start of the held bytes.
    held_start: usize,
    /// End of the last secret or placeholder among the released bytes.
    covered: usize,
    /// Minimum length of `text` for the next scan.
    next_scan_len: usize,
    counts: RedactionCounts,
}

impl RedactionBuffer {
    fn new(redactor: Redactor) -> RedactionBuffer {
        RedactionBuffer {
            redactor,
            text: vec![],
            held_start: 0,
            covered: 0,
            next_scan_len: 0,
            counts: RedactionCounts::default(),
        }
    }

    fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.text.extend_from_slice(chunk);
        if self.text.len() < self.next_scan_len {
            return vec![];
        }
        let scan = scan::scan_text(
            &self.text,
            self.held_start,
            self.covered,
            self.redactor.known_values(),
        );
        let cut = self.cut_offset(&scan);
        let ready = self.release(&scan, cut);
        let held_len = self.text.len() - self.held_start;
        self.next_scan_len =
            self.text.len() + if ready.is_empty() { held_len / RESCAN_DIVISOR } else { 0 };
        ready
    }

    fn finish(&mut self) -> Vec<u8> {
        let scan = scan::scan_text(
            &self.text,
            self.held_start,
            self.covered,
            self.redactor.known_values(),
        );
        self.release(&scan, self.text.len())
    }

    fn release(&mut self, scan: &ScanResult, cut: usize) -> Vec<u8> {
        let mut ready = vec![];
        let part = self.held_start..cut;
        self.redactor.write_redacted(&self.text, part, &scan.secrets, &mut ready, &mut self.counts);
        let ends = scan
            .secrets
            .iter()
            .map(|secret| secret.end)
            .chain(scan.placeholder_ends.iter().copied());
        self.covered = ends.filter(|end| *end <= cut).fold(self.covered, usize::max);
        let drained = cut.saturating_sub(LOOK_BEHIND);
        self.covered = self.covered.saturating_sub(drained);
        self.text.drain(..drained);
        self.held_start = cut - drained;
        ready
    }

    /// End of the bytes that can be released, after whitespace if there is any.
    fn cut_offset(&self, scan: &ScanResult) -> usize {
        let end = self.text.len();
        let undecided = scan
            .undecided_from
            .unwrap_or(end)
            .min(self.redactor.known_values().partial_match_start(&self.text));
        let last_space =
            self.text[self.held_start..undecided].iter().rposition(u8::is_ascii_whitespace);
        let cut = avoid_split(
            scan,
            last_space.map_or(self.held_start, |last_space| self.held_start + last_space + 1),
        );
        if cut > self.held_start
            || end - self.held_start <= MAX_BUFFER_BYTES - READ_BUFFER_BYTES.min(MAX_CHUNK_BYTES)
        {
            return cut.max(self.held_start);
        }
        let mut cut = undecided
            .min(end.saturating_sub(known_values::MAX_KNOWN_VALUE_BYTES))
            .saturating_sub(CUT_MARGIN_BYTES);
        while cut > self.held_start && self.text[cut] & 0b1100_0000 == 0b1000_0000 {
            cut -= 1;
        }
        avoid_split(scan, cut).max(self.held_start)
    }
}

/// Moves a cut to the start of the secret, keyword or placeholder it would split.
fn avoid_split(scan: &ScanResult, cut: usize) -> usize {
    let found = scan.secrets.iter().map(|found| (found.keyword_start, found.end));
    let mut spans: Vec<_> = found.chain(scan.unsplittable.iter().copied()).collect();
    spans.sort_unstable();
    spans.into_iter().rev().fold(
        cut,
        |cut, (start, end)| {
            if start < cut && cut < end { start } else { cut }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Secrets;

    #[test]
    fn text_without_whitespace_is_held_while_a_chunk_fits_into_64_kib() {
        assert_eq!((MAX_BUFFER_BYTES, MAX_CHUNK_BYTES), (64 * 1024, 16 * 1024));
        let redactor = Secrets::new(Vec::new, []).redactor("debate");
        let released_len = |length: usize| {
            let mut buffer = RedactionBuffer::new(redactor.clone());
            buffer.push("a".repeat(length).as_bytes()).len()
        };
        let max_held = MAX_BUFFER_BYTES - MAX_CHUNK_BYTES;
        assert_eq!(released_len(max_held), 0);
        assert!(released_len(max_held + 1) > 0);
    }
}
