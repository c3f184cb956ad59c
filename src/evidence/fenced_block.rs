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

/// Maximum length in bytes of an info string, or of a line that names the origin of a block.
const MAX_ORIGIN_BYTES: usize = 400;

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
    if let Some((location, raw)) = location_from_info(fence.info) {
        return with_quote(location, fence.body).map(|location| (location, raw));
    }
    // A diff is a proposal, unless its info string names a file.
    if is_diff(fence.body) {
        return None;
    }
    if let Some((location, raw, rest)) = location_from_comment(fence.body) {
        return with_quote(location, rest).map(|location| (location, raw));
    }
    let (location, raw) = location_from_intro(before?)?;
    with_quote(location, fence.body).map(|location| (location, raw))
}

fn with_quote(mut location: CitedLocation, body: &str) -> Option<CitedLocation> {
    let body = body.trim_matches('\n').trim_end();
    let has_text = body.chars().any(char::is_alphanumeric);
    location.text = has_text.then(|| CitedText::Quote(body.to_owned()));
    location.certain = true;
    has_text.then_some(location)
}

fn location_from_info(info: &str) -> Option<(CitedLocation, &str)> {
    if info.len() > MAX_ORIGIN_BYTES {
        return None;
    }
    for (index, word) in info.split(|c: char| c.is_whitespace() || "{},".contains(c)).enumerate() {
        let bare = PATH_KEYS.iter().find_map(|key| word.strip_prefix(key)).unwrap_or(word);
        let bare = bare.trim_matches(['"', '\'', '(', ')', '[', ']', '`']);
        let location = location::parse_location(bare, PathContext::Evidence)
            .or_else(|| location::parse_location(bare.split_once(':')?.1, PathContext::Evidence))
            .or_else(|| parse_numbers_first(bare));
        let Some(mut location) = location else { continue };
        // The first word is the language, and some languages are named like files.
        if index == 0 && !location.path.contains(['/', '.']) && location.lines.is_none() {
            continue;
        }
        let end = bare.as_ptr() as usize - info.as_ptr() as usize + bare.len();
        let after = info[end..].trim_start_matches(['"', '\'', ')', ']', '`']);
        if location.lines.is_none() {
            location.lines = location::parse_lines_after(after).map(|(lines, _)| lines);
        }
        return Some((location, info));
    }
    None
}

/// Parses `10:14:src/a.rs`.
fn parse_numbers_first(word: &str) -> Option<CitedLocation> {
    let mut parts = word.splitn(3, ':');
    let (first, last) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let location = location::parse_location(parts.next()?, PathContext::Evidence)?;
    Some(CitedLocation { lines: Some((u32::min(first, last), u32::max(first, last))), ..location })
}

/// Location from a first line that is a comment with a path and nothing else.
fn location_from_comment(body: &str) -> Option<(CitedLocation, &str, &str)> {
    let body = body.trim_start_matches('\n');
    let (first, rest) = body.split_once('\n')?;
    let text = first.trim();
    let inner = COMMENT_MARKERS.iter().find_map(|mark| text.strip_prefix(mark))?;
    let inner = inner.trim_end_matches("-->").trim_end_matches("*/").trim();
    let (location, raw) = only_location(inner, PathContext::Quoted)?;
    Some((location, raw, rest))
}

/// Location from an introducing line, which ends in a colon or has no other text.
fn location_from_intro(line: &str) -> Option<(CitedLocation, &str)> {
    let bare = line.trim().trim_start_matches(['#', '>', '-', '*', ' ']);
    let after_number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let bare =
        after_number.strip_prefix(". ").filter(|_| after_number.len() < bare.len()).unwrap_or(bare);
    let (location, raw) = only_location(bare, PathContext::Evidence)?;
    let rest = bare.replace(raw, "");
    let ends_in_colon = bare.trim_end_matches(['*', '_', '`', ' ']).ends_with([':', '：']);
    let is_alone = !rest.chars().any(char::is_alphanumeric);
    (ends_in_colon || is_alone).then_some((location, raw))
}

/// The only location in a text, if the remaining words are fillers.
fn only_location(text: &str, context: PathContext) -> Option<(CitedLocation, &str)> {
    if text.len() > MAX_ORIGIN_BYTES {
        return None;
    }
    let mut found = None;
    let mut rest = text.to_owned();
    for (target, range) in prose_line::parse_line(text, context) {
        match target {
            // A symbol before the location is the subject of the block.
            CitedTarget::Location(mut location) if found.is_none() => {
                if matches!(location.text, Some(CitedText::Quote(_))) {
                    return None;
                }
                location.text = None;
                rest.replace_range(range.clone(), &" ".repeat(range.len()));
                found = Some((location, &text[range]));
            }
            CitedTarget::Symbol(_) => rest.replace_range(range.clone(), &" ".repeat(range.len())),
            _ => return None,
        }
    }
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let only_fillers = words.all(|word| FILLER_WORDS.contains(&&*word.to_lowercase()));
    found.filter(|_| only_fillers)
}

/// Whether a block is a diff that removes and adds lines.
fn is_diff(body: &str) -> bool {
    let has_line = |mark: char| {
        body.lines().any(|line| line.starts_with(mark) && line.chars().any(char::is_alphanumeric))
    };
    let is_diff_line = |line: &str| line.is_empty() || line.starts_with(['+', '-', ' ', '@']);
    has_line('+') && has_line('-') && body.lines().all(is_diff_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_of_a_block_has_400_bytes() {
        let info = format!("src/a.rs {}", "x".repeat(MAX_ORIGIN_BYTES - 9));
        assert!(location_from_info(&info).is_some());
        assert!(location_from_info(&format!("{info}x")).is_none());
        let line = format!("src/a.rs{}", " ".repeat(MAX_ORIGIN_BYTES - 8));
        assert!(only_location(&line, PathContext::Evidence).is_some());
        assert!(only_location(&format!("{line} "), PathContext::Evidence).is_none());
        assert_eq!(MAX_ORIGIN_BYTES, 400);
    }
}
