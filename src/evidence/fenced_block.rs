//! Parser for the origin of a fenced code block: its info string, its first comment, or the line
//! before it. A block without an origin is not a citation.
use super::location::{self, PathContext};
use super::markdown::FencedBlock;
use super::{CitedLocation, CitedTarget, CitedText, prose_line};

/// Words allowed beside the location on a line that introduces a block.
const FILLER_WORDS: &[&str] = &[
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
const COMMENT_MARKERS: &[&str] = &["<!--", "///", "//!", "//", "/*", "--", "#", ";;", ";", "%"];

/// Keys in an info string whose value is a path.
const PATH_KEYS: &[&str] = &["title=", "file=", "filename=", "path=", "name=", "src="];

/// Parses a block into a location with a quote, and the raw text of the location. `before` is the
/// line before the block.
pub(super) fn parse_block<'a>(
    fence: &FencedBlock<'a>,
    before: Option<&'a str>,
) -> Option<(CitedLocation, &'a str)> {
    // A suggested edit is not in the file yet.
    if fence.info.trim_start().starts_with("suggestion") {
        return None;
    }
    if let Some((place, raw)) = location_from_info(fence.info) {
        return with_quote(place, fence.body).map(|place| (place, raw));
    }
    // A diff is a proposal, unless its info string names a file.
    if is_diff(fence.body) {
        return None;
    }
    if let Some((place, raw, rest)) = location_from_comment(fence.body) {
        return with_quote(place, rest).map(|place| (place, raw));
    }
    let (place, raw) = location_from_intro(before?)?;
    with_quote(place, fence.body).map(|place| (place, raw))
}

fn with_quote(mut place: CitedLocation, body: &str) -> Option<CitedLocation> {
    let body = body.trim_matches('\n').trim_end();
    let says = body.chars().any(char::is_alphanumeric);
    place.text = says.then(|| CitedText::Quote(body.to_owned()));
    place.certain = true;
    says.then_some(place)
}

fn location_from_info(info: &str) -> Option<(CitedLocation, &str)> {
    if info.len() > 400 {
        return None;
    }
    for (nth, word) in info.split(|c: char| c.is_whitespace() || "{},".contains(c)).enumerate() {
        let bare = PATH_KEYS.iter().find_map(|key| word.strip_prefix(key)).unwrap_or(word);
        let bare = bare.trim_matches(['"', '\'', '(', ')', '[', ']', '`']);
        let place = location::parse_location(bare, PathContext::Evidence)
            .or_else(|| location::parse_location(bare.split_once(':')?.1, PathContext::Evidence))
            .or_else(|| parse_numbers_first(bare));
        let Some(mut place) = place else { continue };
        // The first word is the language, and some languages are named like files.
        if nth == 0 && !place.path.contains(['/', '.']) && place.lines.is_none() {
            continue;
        }
        let end = bare.as_ptr() as usize - info.as_ptr() as usize + bare.len();
        let after = info[end..].trim_start_matches(['"', '\'', ')', ']', '`']);
        if place.lines.is_none() {
            place.lines = location::parse_lines_after(after).map(|(lines, _)| lines);
        }
        return Some((place, info));
    }
    None
}

/// Parses `10:14:src/a.rs`.
fn parse_numbers_first(word: &str) -> Option<CitedLocation> {
    let mut parts = word.splitn(3, ':');
    let (first, last) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let place = location::parse_location(parts.next()?, PathContext::Evidence)?;
    Some(CitedLocation { lines: Some((u32::min(first, last), u32::max(first, last))), ..place })
}

/// Location from a first line that is a comment with a path and nothing else.
fn location_from_comment(body: &str) -> Option<(CitedLocation, &str, &str)> {
    let body = body.trim_start_matches('\n');
    let (first, rest) = body.split_once('\n')?;
    let text = first.trim();
    let inner = COMMENT_MARKERS.iter().find_map(|mark| text.strip_prefix(mark))?;
    let inner = inner.trim_end_matches("-->").trim_end_matches("*/").trim();
    let (place, raw) = only_location(inner, PathContext::Quoted)?;
    Some((place, raw, rest))
}

/// Location from an introducing line, which ends in a colon or has no other text.
fn location_from_intro(line: &str) -> Option<(CitedLocation, &str)> {
    let bare = line.trim().trim_start_matches(['#', '>', '-', '*', ' ']);
    let counted = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let bare = counted.strip_prefix(". ").filter(|_| counted.len() < bare.len()).unwrap_or(bare);
    let (place, raw) = only_location(bare, PathContext::Evidence)?;
    let rest = bare.replace(raw, "");
    let announced = bare.trim_end_matches(['*', '_', '`', ' ']).ends_with([':', '：']);
    let alone = !rest.chars().any(char::is_alphanumeric);
    (announced || alone).then_some((place, raw))
}

/// The only location in a text, if the remaining words are fillers.
fn only_location(text: &str, setting: PathContext) -> Option<(CitedLocation, &str)> {
    if text.len() > 400 {
        return None;
    }
    let mut found = None;
    let mut rest = text.to_owned();
    for (cited, range) in prose_line::parse_line(text, setting) {
        match cited {
            // A symbol before the location is the subject of the block.
            CitedTarget::Location(mut place) if found.is_none() => {
                if matches!(place.text, Some(CitedText::Quote(_))) {
                    return None;
                }
                place.text = None;
                rest.replace_range(range.clone(), &" ".repeat(range.len()));
                found = Some((place, &text[range]));
            }
            CitedTarget::Symbol(_) => rest.replace_range(range.clone(), &" ".repeat(range.len())),
            _ => return None,
        }
    }
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let silent = words.all(|word| FILLER_WORDS.contains(&&*word.to_lowercase()));
    found.filter(|_| silent)
}

/// Whether a block is a diff that removes and adds lines.
fn is_diff(body: &str) -> bool {
    let starts = |mark: char| {
        body.lines().any(|line| line.starts_with(mark) && line.chars().any(char::is_alphanumeric))
    };
    let code = |line: &str| line.is_empty() || line.starts_with(['+', '-', ' ', '@']);
    starts('+') && starts('-') && body.lines().all(code)
}
