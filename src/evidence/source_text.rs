//! A file prepared for searching. White space is ignored, but line breaks count: text on one line
//! of a quote must be on one line of the file.
use super::quote_variants::{QuotePart, squeeze};
use std::ops::RangeInclusive;

/// Lines past the cited range in which the later parts of a quote with elisions may be.
const MAX_ELISION_LINES: u32 = 15;
/// Bytes checked for a NUL byte to detect binary files.
pub(super) const BINARY_SNIFF_BYTES: usize = 8_000;

/// A text file with an index of its lines.
pub(super) struct SourceText {
    raw: String,
    /// Byte offset of each line in `raw`.
    line_starts: Vec<u32>,
    /// Non-blank lines without white space, separated by newlines.
    squeezed: String,
    /// Offset of each line in `squeezed`, and its line number in the file.
    squeezed_starts: Vec<u32>,
    squeezed_numbers: Vec<u32>,
}

/// A search term.
#[derive(Clone, Copy)]
pub(super) enum SearchTerm<'a> {
    /// Parts of a quote, in order.
    Parts(&'a [QuotePart]),
    /// A symbol, as a whole word.
    Symbol(&'a str),
}

impl SourceText {
    /// Prepares a file. None if it is binary.
    pub(super) fn new(bytes: &[u8]) -> Option<SourceText> {
        if bytes[..bytes.len().min(BINARY_SNIFF_BYTES)].contains(&0) {
            return None;
        }
        // Invalid UTF-8 is decoded as Latin-1, where every byte is a character.
        let raw = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().copied().map(char::from).collect(),
        };
        let raw = raw.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(raw);
        let mut squeezed = String::with_capacity(raw.len());
        let (mut line_starts, mut squeezed_starts, mut squeezed_numbers) = (vec![], vec![], vec![]);
        let mut offset = 0;
        for (line, number) in raw.split_inclusive('\n').zip(1..) {
            line_starts.push(offset as u32);
            offset += line.len();
            let start = squeezed.len();
            squeeze(line, &mut squeezed);
            if squeezed.len() > start {
                squeezed_starts.push(start as u32);
                squeezed_numbers.push(number);
                squeezed.push('\n');
            }
        }
        Some(SourceText { raw, line_starts, squeezed, squeezed_starts, squeezed_numbers })
    }

    /// Number of lines. A final newline starts no new one.
    pub(super) fn line_count(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// First line in the range on which a match starts.
    pub(super) fn find_first(
        &self,
        term: SearchTerm<'_>,
        lines: RangeInclusive<u32>,
    ) -> Option<u32> {
        match term {
            SearchTerm::Parts(parts) => self.find_parts(parts, lines),
            SearchTerm::Symbol(name) => {
                let mut mentions = self.mentions(name, *lines.start());
                mentions.next().map(|(line, _)| line).filter(|line| lines.contains(line))
            }
        }
    }

    /// Last line in the range on which a match starts. Linear in the matches, so for small ranges.
    pub(super) fn find_last(
        &self,
        term: SearchTerm<'_>,
        lines: RangeInclusive<u32>,
    ) -> Option<u32> {
        let (mut from, mut last) = (*lines.start(), None);
        while let Some(line) = self.find_first(term, from..=*lines.end()) {
            last = Some(line);
            from = line + 1;
        }
        last
    }

    /// Whether the file contains a match.
    pub(super) fn contains(&self, term: SearchTerm<'_>) -> bool {
        self.find_first(term, 1..=u32::MAX).is_some()
    }

    fn find_parts(&self, parts: &[QuotePart], lines: RangeInclusive<u32>) -> Option<u32> {
        let (first, later_parts) = parts.split_first()?;
        let index = self.squeezed_numbers.partition_point(|number| number < lines.start());
        let from = *self.squeezed_starts.get(index)? as usize;
        // Later parts are matched from the end, within the tolerance, and the first part must end
        // before them.
        let last_line = lines.end().saturating_add(MAX_ELISION_LINES);
        let end_index = self.squeezed_numbers.partition_point(|number| *number <= last_line);
        let mut end = self
            .squeezed_starts
            .get(end_index)
            .map_or(self.squeezed.len(), |start| *start as usize);
        for part in later_parts.iter().rev() {
            let found = self.squeezed.get(from..end)?.rmatch_indices(part.needle.as_str());
            end = found
                .map(|(offset, _)| offset + from)
                .find(|offset| self.is_whole_number(*offset, &part.needle))?;
        }
        let end = if later_parts.is_empty() { self.squeezed.len() } else { end };
        let found = self.squeezed.get(from..end)?.match_indices(first.needle.as_str());
        let offset = found
            .map(|(offset, _)| offset + from)
            .find(|offset| self.is_whole_number(*offset, &first.needle))?;
        let index = self.squeezed_starts.partition_point(|start| *start as usize <= offset);
        self.squeezed_numbers
            .get(index.checked_sub(1)?)
            .copied()
            .filter(|line| lines.contains(line))
    }

    /// Whether a match cuts no number in two: 15 does not match in 150.
    fn is_whole_number(&self, offset: usize, needle: &str) -> bool {
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let is_joint = |c: Option<char>| c.is_some_and(|c| c == '_' || c == '.');
        let mut before = self.squeezed[..offset].chars().rev();
        let mut after = self.squeezed[offset + needle.len()..].chars();
        let (last, first) = (before.next(), after.next());
        let before = is_digit(last) || is_joint(last) && is_digit(before.next());
        let after = is_digit(first) || is_joint(first) && is_digit(after.next());
        !(before && is_digit(needle.chars().next())
            || after && is_digit(needle.chars().next_back()))
    }

    /// Whole-word occurrences of a name from a line on: line number and byte offset.
    pub(super) fn mentions<'a>(
        &'a self,
        name: &'a str,
        from: u32,
    ) -> impl Iterator<Item = (u32, usize)> + 'a {
        let index = from.saturating_sub(1) as usize;
        let start = self.line_starts.get(index).map_or(self.raw.len(), |start| *start as usize);
        let is_word_char = |c: char| c.is_alphanumeric() || c == '_';
        let found = self.raw[start..].match_indices(name).map(move |(offset, _)| start + offset);
        let found = found.filter(move |offset| {
            !self.raw[..*offset].ends_with(is_word_char)
                && !self.raw[offset + name.len()..].starts_with(is_word_char)
        });
        found.map(|offset| {
            (self.line_starts.partition_point(|start| *start as usize <= offset) as u32, offset)
        })
    }

    /// Text before and after an offset on its line.
    pub(super) fn line_around(&self, offset: usize) -> (&str, &str) {
        let start = self.raw[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.raw[offset..].find('\n').map_or(self.raw.len(), |newline| offset + newline);
        (&self.raw[start..offset], &self.raw[offset..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_part_of_a_quote_is_at_most_15_lines_past_the_cited_lines() {
        let parts = ["first_part", "later_part"].map(|line| QuotePart::from_line(line).unwrap());
        let find = |distance: u32| {
            let lines_between = "x\n".repeat(distance as usize - 1);
            let text = format!("first_part\n{lines_between}later_part\n");
            let text = SourceText::new(text.as_bytes()).unwrap();
            text.find_first(SearchTerm::Parts(&parts), 1..=1)
        };
        assert_eq!(find(MAX_ELISION_LINES), Some(1));
        assert_eq!(find(MAX_ELISION_LINES + 1), None);
        assert_eq!(MAX_ELISION_LINES, 15);
    }
}
