//! Minimal Markdown parser: fences with info string, and inline code. Linear time for any input.
//! Entry points: `split_blocks` for a text and `split_spans` for a line, used by `extract`,
//! `prose_line` and `verification_marks` to tell prose from code.
//!
//! `pulldown-cmark` is not used here: by the standard, an unindented line ends a list item and the
//! fence in it, so that the code of a model that does not indent it would be lost.
use std::collections::HashMap;
use std::ops::Range;

/// Minimum number of characters in a fence.
const MIN_FENCE_CHARS: usize = 3;
/// Maximum number of digits in the number of a list item.
const MAX_LIST_DIGITS: usize = 3;

/// A line or fenced block of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MarkdownBlock<'a> {
    /// One line of prose.
    Line(&'a str),
    /// A fenced block.
    Fence(FencedBlock<'a>),
}

/// A fenced block: info string after the opening fence, and body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FencedBlock<'a> {
    pub(super) info: &'a str,
    pub(super) body: &'a str,
}

/// A byte range of a line: text or inline code.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InlineSpan {
    Text(Range<usize>),
    /// Inline code, with its backticks.
    Code(Range<usize>),
}

/// Opening fence: its character and length, which the closing fence must match.
struct FenceMarker {
    character: u8,
    length: usize,
}

/// Splits a text into lines of prose and fenced blocks. An unclosed fence extends to the end.
pub(super) fn split_blocks(text: &str) -> Vec<MarkdownBlock<'_>> {
    let mut blocks = vec![];
    let mut open: Option<(FenceMarker, &str, usize)> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let (start, bare) = (offset, line.trim_end_matches(['\n', '\r']));
        offset += line.len();
        match &open {
            Some((marker, info, body)) if marker.closes(bare) => {
                blocks.push(MarkdownBlock::Fence(FencedBlock { info, body: &text[*body..start] }));
                open = None;
            }
            Some(_) => {}
            None => match FenceMarker::open(bare) {
                Some((marker, info)) => open = Some((marker, info, offset)),
                None => blocks.push(MarkdownBlock::Line(bare)),
            },
        }
    }
    if let Some((_, info, body)) = open {
        blocks.push(MarkdownBlock::Fence(FencedBlock { info, body: &text[body..] }));
    }
    blocks
}

/// Whether a text contains a fence.
pub(super) fn has_fence(text: &str) -> bool {
    text.lines().any(|line| FenceMarker::open(line).is_some())
}

impl FenceMarker {
    fn open(line: &str) -> Option<(FenceMarker, &str)> {
        let line = strip_block_markers(line);
        let character = *line.as_bytes().first().filter(|first| matches!(first, b'`' | b'~'))?;
        let length = line.bytes().take_while(|byte| *byte == character).count();
        let info = line[length..].trim();
        let is_fence = length >= MIN_FENCE_CHARS && !(character == b'`' && info.contains('`'));
        is_fence.then_some((FenceMarker { character, length }, info))
    }

    fn closes(&self, line: &str) -> bool {
        let line = strip_block_markers(line).trim_end();
        line.len() >= self.length && line.bytes().all(|byte| byte == self.character)
    }
}

/// Strips block quote and list markers from the start of a line.
fn strip_block_markers(line: &str) -> &str {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let bullet = if (1..=MAX_LIST_DIGITS).contains(&digits) { &line[digits..] } else { line };
    let rest =
        bullet.strip_prefix(['-', '*', '+', '.', ')']).and_then(|rest| rest.strip_prefix(' '));
    rest.map_or(line, |rest| rest.trim_start_matches(' '))
}

/// Splits a line into text and inline code. Code ends at a backtick run as long as the opening one.
/// A run without a match is plain text.
pub(super) fn split_spans(line: &str) -> Vec<InlineSpan> {
    let runs = backtick_runs(line);
    // Backtick runs by length, last first, so that those already passed can be popped.
    let mut runs_by_length: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        runs_by_length.entry(run.len()).or_default().push(index);
    }
    let (mut spans, mut text_start, mut index) = (vec![], 0, 0);
    while let Some(opening) = runs.get(index) {
        let candidates = runs_by_length.entry(opening.len()).or_default();
        while candidates.last().is_some_and(|other| *other <= index) {
            candidates.pop();
        }
        let Some(closing) = candidates.last().copied() else {
            index += 1;
            continue;
        };
        if text_start < opening.start {
            spans.push(InlineSpan::Text(text_start..opening.start));
        }
        text_start = runs[closing].end;
        spans.push(InlineSpan::Code(opening.start..text_start));
        index = closing + 1;
    }
    if text_start < line.len() {
        spans.push(InlineSpan::Text(text_start..line.len()));
    }
    spans
}

/// Inline code without backticks and padding.
pub(super) fn strip_backticks(code: &str) -> &str {
    code.trim_matches('`').trim()
}

/// Byte ranges of consecutive backticks.
fn backtick_runs(line: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = vec![];
    for (start, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == start => run.end += 1,
            _ => runs.push(start..start + 1),
        }
    }
    runs
}
