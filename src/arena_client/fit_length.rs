//! Fits a model's reply to the length limits of the remote arena. Lengths are counted in characters
//! (Unicode code points), as in the protocol.
use super::protocol::LengthLimits;

/// Minimum share of the text to keep when looking for a better place to cut, in percent.
const MIN_KEPT_PERCENT: usize = 60;

/// Result of a length check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthCheck {
    /// Within the limits.
    WithinLimits,
    /// Too short. Holds the length in characters.
    TooShort(usize),
    /// Too long. Holds the length in characters.
    TooLong(usize),
}

/// Checks a text against the limits.
pub(super) fn check_length(text: &str, limits: LengthLimits) -> LengthCheck {
    let length = text.chars().count();
    if length < limits.min {
        LengthCheck::TooShort(length)
    } else if length > limits.max {
        LengthCheck::TooLong(length)
    } else {
        LengthCheck::WithinLimits
    }
}

/// Normalizes a reply: removes control characters, and the code fence that some models put around
/// the whole reply.
pub(super) fn normalize(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let is_allowed = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || *c == '\u{feff}');
    let text: String = text.chars().filter(is_allowed).collect();
    strip_outer_fence(text.trim()).trim().to_owned()
}

/// Strips a code fence that encloses the whole text. A text with an inner fence stays as it is.
fn strip_outer_fence(text: &str) -> &str {
    let fence_len = text.len() - text.trim_start_matches('`').len();
    if fence_len < 3 {
        return text;
    }
    let fence = &text[..fence_len];
    let Some((info, rest)) = text[fence_len..].split_once('\n') else { return text };
    let is_prose = matches!(info.trim().to_lowercase().as_str(), "" | "markdown" | "md" | "text");
    let Some(inner) = rest.strip_suffix(fence).filter(|_| is_prose) else { return text };
    let ends_line = inner.is_empty() || inner.ends_with('\n');
    let has_inner_fence = inner.lines().any(|line| line.trim() == fence);
    if ends_line && !has_inner_fence { inner } else { text }
}

/// Truncates a text to the limit, at the end of a paragraph, a sentence or a word, else at a
/// grapheme boundary.
pub(super) fn truncate(text: &str, limits: LengthLimits) -> String {
    let max = limits.max;
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let truncated = truncate_at_boundary(text, max, limits.min);
    if !has_open_fence(&truncated) {
        return truncated;
    }
    // The cut is inside a code block, so close the fence.
    let max_unclosed = max.saturating_sub(CLOSING_FENCE.chars().count());
    let closed = format!("{}{CLOSING_FENCE}", truncate_at_boundary(text, max_unclosed, 0));
    let fits = check_length(&closed, limits) == LengthCheck::WithinLimits;
    if fits && !has_open_fence(&closed) { closed } else { truncated }
}

/// Truncates an incomplete text after its last full sentence, if that keeps most of it.
pub(super) fn truncate_incomplete(text: &str, limits: LengthLimits) -> String {
    let text = truncate(text, limits);
    let chars: Vec<char> = text.chars().collect();
    let min_kept = limits.min.max(chars.len() * MIN_KEPT_PERCENT / 100).max(1);
    // The end of the text ends a sentence, too.
    let next_char = |index: usize| chars.get(index).copied().unwrap_or('\n');
    let end = (min_kept..=chars.len())
        .rev()
        .find(|index| is_sentence_end(chars[index - 1], next_char(*index)));
    end.map_or(text, |end| chars[..end].iter().collect())
}

const CLOSING_FENCE: &str = "\n```";

/// Whether a code fence is left open.
fn has_open_fence(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

fn truncate_at_boundary(text: &str, max: usize, min: usize) -> String {
    let chars: Vec<char> = text.chars().take(max + 1).collect();
    if chars.len() <= max {
        return text.to_owned();
    }
    let min_kept = min.max(max * MIN_KEPT_PERCENT / 100);
    // A position is the number of characters before it.
    let last_boundary =
        |is_end: &dyn Fn(usize) -> bool| (min_kept..=max).rev().find(|index| is_end(*index));
    let paragraph_end =
        |index: usize| chars[index] == '\n' && chars.get(index + 1).is_none_or(|c| *c == '\n');
    let paragraph_end = |index: usize| index > 0 && index < max && paragraph_end(index);
    let sentence_end = |index: usize| index > 0 && is_sentence_end(chars[index - 1], chars[index]);
    let word_end = |index: usize| chars[index].is_whitespace();
    let end = last_boundary(&paragraph_end)
        .or_else(|| last_boundary(&sentence_end))
        .or_else(|| last_boundary(&word_end))
        .or_else(|| last_boundary(&|index: usize| index > 0 && is_grapheme_boundary(&chars, index)))
        .unwrap_or(max);
    let head: String = chars[..end].iter().collect();
    let trimmed = head.trim_end();
    if trimmed.chars().count() >= min.min(end) { trimmed.to_owned() } else { head }
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
fn is_grapheme_boundary(chars: &[char], index: usize) -> bool {
    let (before, after) = (chars[index - 1], chars[index]);
    if before == '\u{200d}' || extends_grapheme(after) {
        return false;
    }
    let is_flag = |c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    let flag_count = chars[..index].iter().rev().take_while(|c| is_flag(**c)).count();
    !(is_flag(after) && flag_count % 2 == 1)
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
pub(super) fn lower_limits(text: &str, limits: LengthLimits) -> LengthLimits {
    let (chars, bytes) = (text.chars().count().max(1), text.len());
    let max =
        if bytes > limits.max { chars * limits.max / bytes } else { chars.min(limits.max) * 4 / 5 };
    let max = max.max(1);
    LengthLimits { min: limits.min.min(max), max }
}
