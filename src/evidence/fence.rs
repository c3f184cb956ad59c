//! Parser for the origin of a fenced code block: its info string, its first comment, or the line
//! before it. A block without an origin is not a citation.
use super::markdown::Fence;
use super::place::{self, Setting};
use super::{Cited, Place, Words, line};

/// Words allowed beside the location on a line that introduces a block.
const FILLER: &[&str] = &[
    "in",
    "from",
    "see",
    "at",
    "file",
    "the",
    "lines",
    "line",
    "of",
    "code",
    "here",
    "is",
    "current",
    "currently",
    "existing",
    "says",
    "reads",
    "contains",
    "shows",
    "has",
    "example",
    "for",
    "and",
    "below",
    "excerpt",
    "quote",
    "quoted",
    "evidence",
    "we",
    "have",
    "there",
    "this",
    "as",
    "implementation",
    "function",
    "method",
    "looks",
    "like",
    "path",
    "title",
    "which",
    "e",
    "g",
    "relevant",
    "snippet",
];

/// Comment markers of common languages.
const COMMENTS: &[&str] = &["<!--", "///", "//!", "//", "/*", "--", "#", ";;", ";", "%"];

/// Keys in an info string whose value is a path.
const KEYS: &[&str] = &["title=", "file=", "filename=", "path=", "name=", "src="];

/// Parses a block into a location with a quote, and the raw text of the location. `before` is the
/// line before the block.
pub(super) fn cited<'a>(fence: &Fence<'a>, before: Option<&'a str>) -> Option<(Place, &'a str)> {
    // A suggested edit is not in the file yet.
    if fence.info.trim_start().starts_with("suggestion") {
        return None;
    }
    if let Some((place, raw)) = from_info(fence.info) {
        return quoting(place, fence.body).map(|place| (place, raw));
    }
    // A diff is a proposal, unless its info string names a file.
    if changes(fence.body) {
        return None;
    }
    if let Some((place, raw, rest)) = from_comment(fence.body) {
        return quoting(place, rest).map(|place| (place, raw));
    }
    let (place, raw) = introduced(before?)?;
    quoting(place, fence.body).map(|place| (place, raw))
}

fn quoting(mut place: Place, body: &str) -> Option<Place> {
    let body = body.trim_matches('\n').trim_end();
    let says = body.chars().any(char::is_alphanumeric);
    place.words = says.then(|| Words::Quote(body.to_owned()));
    place.sure = true;
    says.then_some(place)
}

fn from_info(info: &str) -> Option<(Place, &str)> {
    if info.len() > 400 {
        return None;
    }
    for (nth, word) in info.split(|c: char| c.is_whitespace() || "{},".contains(c)).enumerate() {
        let bare = KEYS.iter().find_map(|key| word.strip_prefix(key)).unwrap_or(word);
        let bare = bare.trim_matches(['"', '\'', '(', ')', '[', ']', '`']);
        let place = place::whole(bare, Setting::Offered)
            .or_else(|| place::whole(bare.split_once(':')?.1, Setting::Offered))
            .or_else(|| numbers_first(bare));
        let Some(mut place) = place else { continue };
        // The first word is the language, and some languages are named like files.
        if nth == 0 && !place.path.contains(['/', '.']) && place.lines.is_none() {
            continue;
        }
        let end = bare.as_ptr() as usize - info.as_ptr() as usize + bare.len();
        let after = info[end..].trim_start_matches(['"', '\'', ')', ']', '`']);
        if place.lines.is_none() {
            place.lines = place::lines_after(after).map(|(lines, _)| lines);
        }
        return Some((place, info));
    }
    None
}

/// Parses `10:14:src/a.rs`.
fn numbers_first(word: &str) -> Option<Place> {
    let mut parts = word.splitn(3, ':');
    let (first, last) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let place = place::whole(parts.next()?, Setting::Offered)?;
    Some(Place { lines: Some((u32::min(first, last), u32::max(first, last))), ..place })
}

/// Location from a first line that is a comment with a path and nothing else.
fn from_comment(body: &str) -> Option<(Place, &str, &str)> {
    let body = body.trim_start_matches('\n');
    let (first, rest) = body.split_once('\n')?;
    let text = first.trim();
    let inner = COMMENTS.iter().find_map(|mark| text.strip_prefix(mark))?;
    let inner = inner.trim_end_matches("-->").trim_end_matches("*/").trim();
    let (place, raw) = only_place(inner, Setting::Marked)?;
    Some((place, raw, rest))
}

/// Location from an introducing line, which ends in a colon or has no other text.
fn introduced(line: &str) -> Option<(Place, &str)> {
    let bare = line.trim().trim_start_matches(['#', '>', '-', '*', ' ']);
    let counted = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let bare = counted.strip_prefix(". ").filter(|_| counted.len() < bare.len()).unwrap_or(bare);
    let (place, raw) = only_place(bare, Setting::Offered)?;
    let rest = bare.replace(raw, "");
    let announced = bare.trim_end_matches(['*', '_', '`', ' ']).ends_with([':', '：']);
    let alone = !rest.chars().any(char::is_alphanumeric);
    (announced || alone).then_some((place, raw))
}

/// The only location in a text, if the remaining words are fillers.
fn only_place(text: &str, setting: Setting) -> Option<(Place, &str)> {
    if text.len() > 400 {
        return None;
    }
    let mut found = None;
    let mut rest = text.to_owned();
    for (cited, range) in line::cited(text, setting) {
        match cited {
            // A symbol before the location is the subject of the block.
            Cited::Place(mut place) if found.is_none() => {
                if matches!(place.words, Some(Words::Quote(_))) {
                    return None;
                }
                place.words = None;
                rest.replace_range(range.clone(), &" ".repeat(range.len()));
                found = Some((place, &text[range]));
            }
            Cited::Name(_) => rest.replace_range(range.clone(), &" ".repeat(range.len())),
            _ => return None,
        }
    }
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let silent = words.all(|word| FILLER.contains(&&*word.to_lowercase()));
    found.filter(|_| silent)
}

/// Whether a block is a diff that removes and adds lines.
fn changes(body: &str) -> bool {
    let starts = |mark: char| {
        body.lines().any(|line| line.starts_with(mark) && line.chars().any(char::is_alphanumeric))
    };
    let code = |line: &str| line.is_empty() || line.starts_with(['+', '-', ' ', '@']);
    starts('+') && starts('-') && body.lines().all(code)
}
