//! Parser for one line of prose: finds locations, quotes, symbols and URLs, and attaches quotes and
//! line numbers to the location they belong to.
use super::markdown::{self, Span};
use super::place::{self, Setting};
use super::{Cited, Place, Stated, Words, names, stated};
use std::ops::Range;

/// Pairs of quotation marks.
pub(super) const MARKS: &[(char, char)] =
    &[('"', '"'), ('“', '”'), ('„', '“'), ('‘', '’'), ('「', '」'), ('『', '』'), ('«', '»')];

/// Words allowed between a location and a quote from it.
const JOINTS: &[&str] = &[
    "says", "reads", "contains", "shows", "has", "is", "states", "defines", "uses", "calls",
    "which", "that", "does", "declares", "quote", "quoted", "code", "the", "line", "sets",
    "returns",
];

/// Maximum number of items parsed per line, against floods.
const MOST: usize = 1_000;

/// An item found in a line, with its byte range.
struct Item<'a> {
    range: Range<usize>,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Place(Place),
    /// Text between quotation marks.
    Quote(&'a str),
    /// Inline code that is not a location.
    Code(&'a str),
    Address,
    Commit(&'a str),
}

/// Parses a line into targets, in order, with their byte ranges.
pub(super) fn cited(line: &str, setting: Setting) -> Vec<(Cited, Range<usize>)> {
    let mut items = items(line, setting);
    name_lines(line, &mut items);
    attach(line, &mut items);
    items.into_iter().filter_map(|item| Some((item.kind.cited()?, item.range))).collect()
}

impl Kind<'_> {
    fn cited(self) -> Option<Cited> {
        Some(match self {
            Kind::Place(place) => Cited::Place(place),
            Kind::Address => Cited::Stated(Stated::Address),
            Kind::Commit(id) => Cited::Commit(id.to_owned()),
            Kind::Code(code) => Cited::Name(names::name(code)?.to_owned()),
            Kind::Quote(_) => return None,
        })
    }
}

/// Scans a line for items, before quotes are attached.
fn items(line: &str, setting: Setting) -> Vec<Item<'_>> {
    let mut items = vec![];
    for span in markdown::spans(line) {
        if items.len() >= MOST {
            break;
        }
        match span {
            Span::Code(range) => {
                let code = markdown::inner(&line[range.clone()]);
                if let Some(kind) = marked(code, &line[..range.start]) {
                    items.push(Item { range, kind });
                }
            }
            Span::Text(range) => Scan { line, setting, items: &mut items }.text(range),
        }
    }
    items
}

/// Classifies inline code.
fn marked<'a>(code: &'a str, before: &str) -> Option<Kind<'a>> {
    if code.is_empty() {
        return None;
    }
    if stated::address(code) && !code.contains(' ') {
        return Some(Kind::Address);
    }
    if names::plain_commit(code) || names::commit(code) && names::announces_commit(before) {
        return Some(Kind::Commit(code));
    }
    if let Some(place) = place::whole(code, Setting::Marked) {
        return Some(Kind::Place(place));
    }
    Some(Kind::Code(code))
}

/// Scanner for the text outside inline code.
struct Scan<'a, 'b> {
    line: &'a str,
    setting: Setting,
    items: &'b mut Vec<Item<'a>>,
}

impl Scan<'_, '_> {
    /// Scans quotations first. The text between them, and quotations that are not one item, are
    /// scanned word by word.
    fn text(&mut self, range: Range<usize>) {
        let (mut from, mut at) = (range.start, range.start);
        // Unclosed marks are remembered, so that the scan stays linear.
        let mut unclosed: Vec<char> = vec![];
        while at < range.end {
            let rest = &self.line[at..range.end];
            let opening = rest
                .char_indices()
                .find(|(_, c)| !unclosed.contains(c) && MARKS.iter().any(|(open, _)| open == c));
            let Some((found, mark)) = opening else { break };
            let (start, inner) = (at + found, at + found + mark.len_utf8());
            let joined = self.line[..start].ends_with(char::is_alphanumeric);
            if joined {
                at = inner;
                continue;
            }
            let closing = MARKS.iter().find(|(open, _)| *open == mark).map_or('"', |pair| pair.1);
            let Some(end) = closes(&self.line[inner..range.end], closing) else {
                unclosed.push(mark);
                at = inner;
                continue;
            };
            let (end, after) = (inner + end, inner + end + closing.len_utf8());
            self.words(from..start);
            self.quotation(start..after, inner..end);
            (from, at) = (after, after);
        }
        self.words(from..range.end);
    }

    fn quotation(&mut self, whole: Range<usize>, inner: Range<usize>) {
        let text = self.line[inner.clone()].trim();
        let place = place::whole(text, Setting::Marked).filter(|place| place.sure);
        if let Some(place) = place {
            self.items.push(Item { range: whole, kind: Kind::Place(place) });
            return;
        }
        let nth = self.items.len();
        self.words(inner);
        // A quotation that contains locations is a sentence, not code.
        if self.items.len() == nth && !text.is_empty() {
            self.items.push(Item { range: whole, kind: Kind::Quote(text) });
        }
    }

    fn words(&mut self, range: Range<usize>) {
        let apart = |c: char| c.is_whitespace() || "，。；、（）！？《》".contains(c);
        let text = &self.line[range.clone()];
        for word in text.split(apart).flat_map(|word| word.split("](")) {
            // Each word is a slice of the text, so its offset follows from the pointers.
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            self.word(range.start + at, word);
        }
    }

    fn word(&mut self, at: usize, word: &str) {
        if word.len() < 3 || word.len() > 2_000 || self.items.len() >= MOST {
            return;
        }
        let bare = trimmed(word);
        let start = at + (bare.as_ptr() as usize - word.as_ptr() as usize);
        let range = start..start + bare.len();
        let kind = if stated::address(bare) {
            Kind::Address
        } else if names::commit(bare) && names::announces_commit(&self.line[..start]) {
            Kind::Commit(&self.line[range.clone()])
        } else if let Some(place) = place::whole(bare, self.setting) {
            Kind::Place(place)
        } else if let Some(before) = place::before_code(bare)
            && let Some(place) = place::whole(before, self.setting)
        {
            let range = start..start + before.len();
            self.items.push(Item { range, kind: Kind::Place(place) });
            return;
        } else {
            return;
        };
        self.items.push(Item { range, kind });
    }
}

/// Strips surrounding punctuation from a word.
fn trimmed(word: &str) -> &str {
    let tail = ['.', ',', ';', ':', '!', '?', '\'', '*', '|'];
    let word = word.trim_start_matches(['(', '[', '{', '<', '\'', '*', '|', ':']);
    let mut word = word.trim_end_matches(tail);
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
        if word.ends_with(close) && !word.contains(open) {
            word = word.trim_end_matches(close).trim_end_matches(tail);
        }
    }
    word
}

/// Position of the closing mark. A mark inside a word does not close a quotation.
fn closes(text: &str, mark: char) -> Option<usize> {
    let ends = |at: usize| {
        let rest = text[at + mark.len_utf8()..].chars().next();
        mark != '"' && mark != '’' || rest.is_none_or(|c| !c.is_alphanumeric())
    };
    text.match_indices(mark).map(|(at, _)| at).take(200).find(|at| ends(*at))
}

/// Attaches line numbers written beside a path to it.
fn name_lines(line: &str, items: &mut [Item<'_>]) {
    for nth in 0..items.len() {
        let until = items.get(nth + 1).map_or(line.len(), |next| next.range.start);
        let from = nth.checked_sub(1).map_or(0, |last| items[last].range.end);
        let Item { range, kind: Kind::Place(place) } = &mut items[nth] else { continue };
        if place.lines.is_some() {
            continue;
        }
        // Line numbers can be inside brackets that were trimmed from the word.
        let (after, before) = (&line[range.end..until.max(range.end)], &line[from..range.start]);
        if let Some((lines, used)) = place::lines_after(after) {
            place.lines = Some(lines);
            place.sure = true;
            range.end += used;
        } else if let Some(lines) = place::lines_before(before.trim_end_matches(['`', '(', '"'])) {
            place.lines = Some(lines);
            place.sure = true;
        }
    }
}

/// Attaches a quote that follows a location, and a quote or symbol that precedes one.
fn attach(line: &str, items: &mut Vec<Item<'_>>) {
    let mut nth = 0;
    while nth + 1 < items.len() {
        let (head, tail) = items.split_at_mut(nth + 1);
        let (Some(one), Some(next)) = (head.last_mut(), tail.first_mut()) else { break };
        let gap = &line[one.range.end..next.range.start.max(one.range.end)];
        let range = one.range.start..next.range.end;
        let line_of_code = long_enough(&one.kind).then(|| words(&one.kind)).flatten();
        match (&mut one.kind, &mut next.kind) {
            (Kind::Place(place), Kind::Quote(_) | Kind::Code(_))
                if place.words.is_none() && joins(gap) =>
            {
                place.words = words(&next.kind);
                place.sure = true;
                one.range = range;
                items.remove(nth + 1);
            }
            (_, Kind::Place(place))
                if place.words.is_none() && stands_in(gap) && line_of_code.is_some() =>
            {
                place.words = line_of_code;
                place.sure = true;
                next.range = range;
                items.remove(nth);
            }
            (Kind::Code(code), Kind::Place(place))
                if place.words.is_none() && stands_in(gap) && names::name(code).is_some() =>
            {
                place.words = names::name(code).map(|name| Words::Name(name.to_owned()));
                next.range = range;
                items.remove(nth);
            }
            _ => {}
        }
        nth += 1;
    }
}

/// Whether the text before a location is a line of code, and not only a symbol in it.
fn long_enough(kind: &Kind<'_>) -> bool {
    match kind {
        Kind::Quote(text) => text.len() >= 12,
        Kind::Code(code) => code.len() >= 12 && names::name(code).is_none() && code.contains(' '),
        _ => false,
    }
}

fn words(kind: &Kind<'_>) -> Option<Words> {
    match kind {
        Kind::Quote(text) => Some(Words::Quote((*text).to_owned())),
        Kind::Code(code) => Some(match names::name(code) {
            Some(name) if !code.contains('(') || code.ends_with("()") => Words::Name(name.into()),
            _ => Words::Quote((*code).to_owned()),
        }),
        _ => None,
    }
}

/// Whether the text between a location and a quote connects them.
fn joins(gap: &str) -> bool {
    let punctuation = |c: char| " \t:-–—→=>()|*_'`]".contains(c);
    let bare = gap.trim_matches(punctuation);
    gap.len() <= 40 && bare.split(' ').all(|word| word.is_empty() || JOINTS.contains(&word))
}

/// Whether the text between a symbol and a location means "in": `foo` in `a.rs`.
fn stands_in(gap: &str) -> bool {
    matches!(
        gap.trim(),
        "in" | "at" | "from" | "(" | "(in" | "(at" | "in file" | "in the file" | "@"
    )
}
