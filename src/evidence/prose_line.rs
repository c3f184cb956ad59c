//! Parser for one line of prose: finds locations, quotes, symbols and URLs, and attaches quotes and
//! line numbers to the location they belong to.
use super::location::{self, PathContext};
use super::markdown::{self, InlineSpan};
use super::{CitedLocation, CitedTarget, CitedText, UnverifiableKind, symbol_names, unverifiable};
use std::ops::Range;

/// Pairs of quotation marks.
pub(super) const QUOTE_MARKS: &[(char, char)] =
    &[('"', '"'), ('“', '”'), ('„', '“'), ('‘', '’'), ('「', '」'), ('『', '』'), ('«', '»')];

/// Words allowed between a location and a quote from it.
const JOINING_WORDS: &[&str] = &[
    "says", "reads", "contains", "shows", "has", "is", "states", "defines", "uses", "calls",
    "which", "that", "does", "declares", "quote", "quoted", "code", "the", "line", "sets",
    "returns",
];

/// Maximum number of items parsed per line, against floods.
const MAX_ITEMS: usize = 1_000;
/// Length in bytes of a word that is parsed.
const WORD_BYTES: std::ops::RangeInclusive<usize> = 3..=2_000;
/// Maximum number of closing marks tried per quotation.
const MAX_CLOSING_MARKS: usize = 200;
/// Minimum length in bytes of a quotation that counts as a line of code.
const MIN_CODE_LINE_BYTES: usize = 12;
/// Maximum length in bytes of the text that joins a location and a quote.
const MAX_GAP_BYTES: usize = 40;

/// An item found in a line, with its byte range.
struct LineItem<'a> {
    range: Range<usize>,
    kind: ItemKind<'a>,
}

enum ItemKind<'a> {
    Location(CitedLocation),
    /// Text between quotation marks.
    Quote(&'a str),
    /// Inline code that is not a location.
    Code(&'a str),
    Url,
    Commit(&'a str),
}

/// Parses a line into targets, in order, with their byte ranges.
pub(super) fn parse_line(line: &str, context: PathContext) -> Vec<(CitedTarget, Range<usize>)> {
    let mut items = scan_items(line, context);
    attach_line_numbers(line, &mut items);
    attach_quotes(line, &mut items);
    items.into_iter().filter_map(|item| Some((item.kind.into_target()?, item.range))).collect()
}

impl ItemKind<'_> {
    fn into_target(self) -> Option<CitedTarget> {
        Some(match self {
            ItemKind::Location(location) => CitedTarget::Location(location),
            ItemKind::Url => CitedTarget::Unverifiable(UnverifiableKind::Url),
            ItemKind::Commit(id) => CitedTarget::Commit(id.to_owned()),
            ItemKind::Code(code) => {
                CitedTarget::Symbol(symbol_names::parse_symbol(code)?.to_owned())
            }
            ItemKind::Quote(_) => return None,
        })
    }
}

/// Scans a line for items, before quotes are attached.
fn scan_items(line: &str, context: PathContext) -> Vec<LineItem<'_>> {
    let mut items = vec![];
    for span in markdown::split_spans(line) {
        if items.len() >= MAX_ITEMS {
            break;
        }
        match span {
            InlineSpan::Code(range) => {
                let code = markdown::strip_backticks(&line[range.clone()]);
                if let Some(kind) = classify_code(code, &line[..range.start]) {
                    items.push(LineItem { range, kind });
                }
            }
            InlineSpan::Text(range) => {
                TextScanner { line, context, items: &mut items }.scan_text(range);
            }
        }
    }
    items
}

/// Classifies inline code.
fn classify_code<'a>(code: &'a str, before: &str) -> Option<ItemKind<'a>> {
    if code.is_empty() {
        return None;
    }
    if unverifiable::is_url(code) && !code.contains(' ') {
        return Some(ItemKind::Url);
    }
    if symbol_names::is_likely_commit_id(code)
        || symbol_names::is_commit_id(code) && symbol_names::announces_commit(before)
    {
        return Some(ItemKind::Commit(code));
    }
    if let Some(location) = location::parse_location(code, PathContext::Quoted) {
        return Some(ItemKind::Location(location));
    }
    Some(ItemKind::Code(code))
}

/// Scanner for the text outside inline code.
struct TextScanner<'a, 'b> {
    line: &'a str,
    context: PathContext,
    items: &'b mut Vec<LineItem<'a>>,
}

impl TextScanner<'_, '_> {
    /// Scans quotations first. The text between them, and quotations that are not one item, are
    /// scanned word by word.
    fn scan_text(&mut self, range: Range<usize>) {
        let (mut from, mut position) = (range.start, range.start);
        // Unclosed marks are remembered, so that the scan stays linear.
        let mut unclosed: Vec<char> = vec![];
        while position < range.end {
            let rest = &self.line[position..range.end];
            let opening = rest.char_indices().find(|(_, c)| {
                !unclosed.contains(c) && QUOTE_MARKS.iter().any(|(open, _)| open == c)
            });
            let Some((offset, mark)) = opening else { break };
            let (start, inner) = (position + offset, position + offset + mark.len_utf8());
            let follows_word = self.line[..start].ends_with(char::is_alphanumeric);
            if follows_word {
                position = inner;
                continue;
            }
            let closing =
                QUOTE_MARKS.iter().find(|(open, _)| *open == mark).map_or('"', |pair| pair.1);
            let Some(end) = find_closing_mark(&self.line[inner..range.end], closing) else {
                unclosed.push(mark);
                position = inner;
                continue;
            };
            let (end, after) = (inner + end, inner + end + closing.len_utf8());
            self.scan_words(from..start);
            self.scan_quotation(start..after, inner..end);
            (from, position) = (after, after);
        }
        self.scan_words(from..range.end);
    }

    fn scan_quotation(&mut self, range: Range<usize>, inner: Range<usize>) {
        let text = self.line[inner.clone()].trim();
        let location =
            location::parse_location(text, PathContext::Quoted).filter(|location| location.certain);
        if let Some(location) = location {
            self.items.push(LineItem { range, kind: ItemKind::Location(location) });
            return;
        }
        let item_count = self.items.len();
        self.scan_words(inner);
        // A quotation that contains locations is a sentence, not code.
        if self.items.len() == item_count && !text.is_empty() {
            self.items.push(LineItem { range, kind: ItemKind::Quote(text) });
        }
    }

    fn scan_words(&mut self, range: Range<usize>) {
        let is_separator = |c: char| c.is_whitespace() || "，。；、（）！？《》".contains(c);
        let text = &self.line[range.clone()];
        for word in text.split(is_separator).flat_map(|word| word.split("](")) {
            // Each word is a slice of the text, so its offset follows from the pointers.
            let offset = word.as_ptr() as usize - text.as_ptr() as usize;
            self.scan_word(range.start + offset, word);
        }
    }

    fn scan_word(&mut self, offset: usize, word: &str) {
        if !WORD_BYTES.contains(&word.len()) || self.items.len() >= MAX_ITEMS {
            return;
        }
        let bare = trim_punctuation(word);
        let start = offset + (bare.as_ptr() as usize - word.as_ptr() as usize);
        let range = start..start + bare.len();
        let kind = if unverifiable::is_url(bare) {
            ItemKind::Url
        } else if symbol_names::is_commit_id(bare)
            && symbol_names::announces_commit(&self.line[..start])
        {
            ItemKind::Commit(&self.line[range.clone()])
        } else if let Some(location) = location::parse_location(bare, self.context) {
            ItemKind::Location(location)
        } else if let Some(prefix) = location::location_before_code(bare)
            && let Some(location) = location::parse_location(prefix, self.context)
        {
            let range = start..start + prefix.len();
            self.items.push(LineItem { range, kind: ItemKind::Location(location) });
            return;
        } else {
            return;
        };
        self.items.push(LineItem { range, kind });
    }
}

/// Strips surrounding punctuation from a word.
fn trim_punctuation(word: &str) -> &str {
    let punctuation = ['.', ',', ';', ':', '!', '?', '\'', '*', '|'];
    let word = word.trim_start_matches(['(', '[', '{', '<', '\'', '*', '|', ':']);
    let mut word = word.trim_end_matches(punctuation);
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
        if word.ends_with(close) && !word.contains(open) {
            word = word.trim_end_matches(close).trim_end_matches(punctuation);
        }
    }
    word
}

/// Position of the closing mark. A mark inside a word does not close a quotation.
fn find_closing_mark(text: &str, mark: char) -> Option<usize> {
    let closes = |offset: usize| {
        let next = text[offset + mark.len_utf8()..].chars().next();
        mark != '"' && mark != '’' || next.is_none_or(|c| !c.is_alphanumeric())
    };
    text.match_indices(mark)
        .map(|(offset, _)| offset)
        .take(MAX_CLOSING_MARKS)
        .find(|offset| closes(*offset))
}

/// Attaches line numbers written beside a path to it.
fn attach_line_numbers(line: &str, items: &mut [LineItem<'_>]) {
    for index in 0..items.len() {
        let until = items.get(index + 1).map_or(line.len(), |next| next.range.start);
        let from = index.checked_sub(1).map_or(0, |previous| items[previous].range.end);
        let LineItem { range, kind: ItemKind::Location(location) } = &mut items[index] else {
            continue;
        };
        if location.lines.is_some() {
            continue;
        }
        // Line numbers can be inside brackets that were trimmed from the word.
        let (after, before) = (&line[range.end..until.max(range.end)], &line[from..range.start]);
        if let Some((lines, used)) = location::parse_lines_after(after) {
            location.lines = Some(lines);
            location.certain = true;
            range.end += used;
        } else if let Some(lines) =
            location::parse_lines_before(before.trim_end_matches(['`', '(', '"']))
        {
            location.lines = Some(lines);
            location.certain = true;
        }
    }
}

/// Attaches a quote that follows a location, and a quote or symbol that precedes one.
fn attach_quotes(line: &str, items: &mut Vec<LineItem<'_>>) {
    let mut index = 0;
    while index + 1 < items.len() {
        let (head, tail) = items.split_at_mut(index + 1);
        let (Some(current), Some(next)) = (head.last_mut(), tail.first_mut()) else { break };
        let gap = &line[current.range.end..next.range.start.max(current.range.end)];
        let range = current.range.start..next.range.end;
        let line_of_code =
            is_code_line(&current.kind).then(|| to_cited_text(&current.kind)).flatten();
        match (&mut current.kind, &mut next.kind) {
            (ItemKind::Location(location), ItemKind::Quote(_) | ItemKind::Code(_))
                if location.text.is_none() && is_joining_gap(gap) =>
            {
                location.text = to_cited_text(&next.kind);
                location.certain = true;
                current.range = range;
                items.remove(index + 1);
            }
            (_, ItemKind::Location(location))
                if location.text.is_none() && is_containment_gap(gap) && line_of_code.is_some() =>
            {
                location.text = line_of_code;
                location.certain = true;
                next.range = range;
                items.remove(index);
            }
            (ItemKind::Code(code), ItemKind::Location(location))
                if location.text.is_none()
                    && is_containment_gap(gap)
                    && symbol_names::parse_symbol(code).is_some() =>
            {
                location.text =
                    symbol_names::parse_symbol(code).map(|name| CitedText::Symbol(name.to_owned()));
                next.range = range;
                items.remove(index);
            }
            _ => {}
        }
        index += 1;
    }
}

/// Whether the text before a location is a line of code, and not only a symbol in it.
fn is_code_line(kind: &ItemKind<'_>) -> bool {
    match kind {
        ItemKind::Quote(text) => text.len() >= MIN_CODE_LINE_BYTES,
        ItemKind::Code(code) => {
            code.len() >= MIN_CODE_LINE_BYTES
                && symbol_names::parse_symbol(code).is_none()
                && code.contains(' ')
        }
        _ => false,
    }
}

fn to_cited_text(kind: &ItemKind<'_>) -> Option<CitedText> {
    match kind {
        ItemKind::Quote(text) => Some(CitedText::Quote((*text).to_owned())),
        ItemKind::Code(code) => Some(match symbol_names::parse_symbol(code) {
            Some(name) if !code.contains('(') || code.ends_with("()") => {
                CitedText::Symbol(name.into())
            }
            _ => CitedText::Quote((*code).to_owned()),
        }),
        _ => None,
    }
}

/// Whether the text between a location and a quote connects them.
fn is_joining_gap(gap: &str) -> bool {
    let punctuation = |c: char| " \t:-–—→=>()|*_'`]".contains(c);
    let bare = gap.trim_matches(punctuation);
    gap.len() <= MAX_GAP_BYTES
        && bare.split(' ').all(|word| word.is_empty() || JOINING_WORDS.contains(&word))
}

/// Whether the text between a symbol and a location means "in": `foo` in `a.rs`.
fn is_containment_gap(gap: &str) -> bool {
    matches!(
        gap.trim(),
        "in" | "at" | "from" | "(" | "(in" | "(at" | "in file" | "in the file" | "@"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quote that is attached to the only location of a line.
    fn attached_quote(line: &str) -> Option<CitedText> {
        let mut targets = parse_line(line, PathContext::Prose);
        assert_eq!(targets.len(), 1, "{line}");
        match targets.remove(0).0 {
            CitedTarget::Location(location) => location.text,
            _ => None,
        }
    }

    #[test]
    fn items_over_the_limit_are_not_parsed() {
        let count = |count: usize| {
            let words: Vec<String> = (0..count).map(|nth| format!("src/a{nth}.rs:1")).collect();
            parse_line(&words.join(" "), PathContext::Prose).len()
        };
        assert_eq!((count(MAX_ITEMS), count(MAX_ITEMS + 1)), (1_000, 1_000));
    }

    #[test]
    fn words_over_2_000_bytes_are_not_parsed() {
        let count = |bytes: usize| {
            let url = format!("https://{}", "x".repeat(bytes - "https://".len()));
            parse_line(&url, PathContext::Prose).len()
        };
        let max_bytes = *WORD_BYTES.end();
        assert_eq!((max_bytes, count(max_bytes), count(max_bytes + 1)), (2_000, 1, 0));
    }

    #[test]
    fn closing_mark_is_searched_among_200() {
        // A mark before a letter closes nothing.
        let find = |count: usize| find_closing_mark(&("\"a".repeat(count - 1) + "\""), '"');
        assert_eq!(find(MAX_CLOSING_MARKS), Some(2 * (MAX_CLOSING_MARKS - 1)));
        assert_eq!(find(MAX_CLOSING_MARKS + 1), None);
        assert_eq!(MAX_CLOSING_MARKS, 200);
    }

    #[test]
    fn line_of_code_before_a_location_has_12_bytes() {
        let quote = |bytes: usize| {
            let code = format!("let x = {};", "1".repeat(bytes - 9));
            attached_quote(&format!("\"{code}\" in src/a.rs:1"))
        };
        assert!(quote(MIN_CODE_LINE_BYTES).is_some());
        assert!(quote(MIN_CODE_LINE_BYTES - 1).is_none());
        assert_eq!(MIN_CODE_LINE_BYTES, 12);
    }

    #[test]
    fn quote_is_at_most_40_bytes_after_its_location() {
        let quote =
            |gap: usize| attached_quote(&format!("src/a.rs:1{}\"let x = 1;\"", " ".repeat(gap)));
        assert!(quote(MAX_GAP_BYTES).is_some());
        assert!(quote(MAX_GAP_BYTES + 1).is_none());
        assert_eq!(MAX_GAP_BYTES, 40);
    }
}
