//! Characters of a text: what happens to each, and which ones form words.

/// What happens to a character.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CharAction {
    Keep,
    /// Kept without Markdown meaning: inline code, or escaped by a backslash.
    Literal,
    Drop,
    /// Dropped together with an adjacent space.
    DropEmoji,
}

/// Letters and digits of scripts that separate words by spaces.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

/// Scripts without spaces between words.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(
        c,
        '\u{2E80}'..='\u{312F}'
            | '\u{31A0}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{3FFFF}'
    )
}
