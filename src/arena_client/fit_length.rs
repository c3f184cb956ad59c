//! Fits a model's reply to the length limits of the remote arena. Lengths are counted in characters
//! (Unicode code points), as in the protocol.
use super::protocol::LengthLimits;

/// Minimum share of the text to keep when looking for a better place to cut, in percent.
const MIN_KEPT_PERCENT: usize = 60;

/// Result of a length check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthCheck {
    /// Within the limits.
    WithinLimits,
    /// Too short. Holds the length in characters.
    TooShort(usize),
    /// Too long. Holds the length in characters.
    TooLong(usize),
}

/// Checks a text against the limits.
pub fn check_length(text: &str, lengths: LengthLimits) -> LengthCheck {
    let length = text.chars().count();
    if length < lengths.min {
        LengthCheck::TooShort(length)
    } else if length > lengths.max {
        LengthCheck::TooLong(length)
    } else {
        LengthCheck::WithinLimits
    }
}

/// Normalizes a reply: removes control characters, and the code fence that some models put around
/// the whole reply.
pub fn normalize(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let plain = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || *c == '\u{feff}');
    let text: String = text.chars().filter(plain).collect();
    strip_outer_fence(text.trim()).trim().to_owned()
}

/// Strips a code fence that encloses the whole text. A text with an inner fence stays as it is.
fn strip_outer_fence(text: &str) -> &str {
    let marks = text.len() - text.trim_start_matches('`').len();
    if marks < 3 {
        return text;
    }
    let fence = &text[..marks];
    let Some((info, rest)) = text[marks..].split_once('\n') else { return text };
    let prose = matches!(info.trim().to_lowercase().as_str(), "" | "markdown" | "md" | "text");
    let Some(inside) = rest.strip_suffix(fence).filter(|_| prose) else { return text };
    let ends = inside.is_empty() || inside.ends_with('\n');
    let other = inside.lines().any(|line| line.trim() == fence);
    if ends && !other { inside } else { text }
}

/// Truncates a text to the limit, at the end of a paragraph, a sentence or a word, else at a
/// grapheme boundary.
pub fn truncate(text: &str, lengths: LengthLimits) -> String {
    let most = lengths.max;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let whole = truncate_at_boundary(text, most, lengths.min);
    if !has_open_fence(&whole) {
        return whole;
    }
    // The cut is inside a code block, so close the fence.
    let room = most.saturating_sub(CLOSING_FENCE.chars().count());
    let closed = format!("{}{CLOSING_FENCE}", truncate_at_boundary(text, room, 0));
    let fits = check_length(&closed, lengths) == LengthCheck::WithinLimits;
    if fits && !has_open_fence(&closed) { closed } else { whole }
}

/// Truncates an incomplete text after its last full sentence, if that keeps most of it.
pub fn truncate_incomplete(text: &str, lengths: LengthLimits) -> String {
    let text = truncate(text, lengths);
    let chars: Vec<char> = text.chars().collect();
    let enough = lengths.min.max(chars.len() * MIN_KEPT_PERCENT / 100).max(1);
    // The end of the text ends a sentence, too.
    let after = |at: usize| chars.get(at).copied().unwrap_or('\n');
    let end = (enough..=chars.len()).rev().find(|at| is_sentence_end(chars[at - 1], after(*at)));
    end.map_or(text, |end| chars[..end].iter().collect())
}

const CLOSING_FENCE: &str = "\n```";

/// Whether a code fence is left open.
fn has_open_fence(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

fn truncate_at_boundary(text: &str, most: usize, least: usize) -> String {
    let chars: Vec<char> = text.chars().take(most + 1).collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let enough = least.max(most * MIN_KEPT_PERCENT / 100);
    // A position is the number of characters before it.
    let nearest = |is_end: &dyn Fn(usize) -> bool| (enough..=most).rev().find(|at| is_end(*at));
    let paragraph = |at: usize| chars[at] == '\n' && chars.get(at + 1).is_none_or(|c| *c == '\n');
    let paragraph = |at: usize| at > 0 && at < most && paragraph(at);
    let sentence = |at: usize| at > 0 && is_sentence_end(chars[at - 1], chars[at]);
    let word = |at: usize| chars[at].is_whitespace();
    let end = nearest(&paragraph)
        .or_else(|| nearest(&sentence))
        .or_else(|| nearest(&word))
        .or_else(|| nearest(&|at: usize| at > 0 && is_grapheme_boundary(&chars, at)))
        .unwrap_or(most);
    let kept: String = chars[..end].iter().collect();
    let trimmed = kept.trim_end();
    if trimmed.chars().count() >= least.min(end) { trimmed.to_owned() } else { kept }
}

fn is_sentence_end(before: char, after: char) -> bool {
    match before {
        '。' | '！' | '？' | '…' => !matches!(after, '”' | '’' | '」' | '』' | '）' | '*'),
        '.' | '!' | '?' => after.is_whitespace(),
        _ => false,
    }
}

/// Whether a grapheme ends between two characters. Approximation for combining marks, joiners, skin
/// tones and flags.
fn is_grapheme_boundary(chars: &[char], at: usize) -> bool {
    let (before, after) = (chars[at - 1], chars[at]);
    if before == '\u{200d}' || extends_grapheme(after) {
        return false;
    }
    let flag = |c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    let flags = chars[..at].iter().rev().take_while(|c| flag(**c)).count();
    !(flag(after) && flags % 2 == 1)
}

/// Whether a character extends the grapheme before it.
fn extends_grapheme(c: char) -> bool {
    matches!(
        c,
        '\u{200d}'
            | '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{591}'..='\u{5bd}'
            | '\u{610}'..='\u{61a}'
            | '\u{64b}'..='\u{65f}'
            | '\u{93a}'..='\u{93c}'
            | '\u{93e}'..='\u{94f}'
            | '\u{e31}'
            | '\u{e34}'..='\u{e3a}'
            | '\u{e47}'..='\u{e4e}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{3099}'..='\u{309a}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0020}'..='\u{e007f}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

/// Lower limits after the server rejected a speech as too long although it was not. If the server
/// seems to count bytes, converts the limit. Otherwise takes a fifth off.
pub fn lower_limits(text: &str, lengths: LengthLimits) -> LengthLimits {
    let (chars, bytes) = (text.chars().count().max(1), text.len());
    let most = if bytes > lengths.max {
        chars * lengths.max / bytes
    } else {
        chars.min(lengths.max) * 4 / 5
    };
    let most = most.max(1);
    LengthLimits { min: lengths.min.min(most), max: most }
}
