//! Invisible Unicode characters: people do not see them, models and parsers do.
use std::borrow::Cow;

/// Whether a character is invisible or changes its neighbours: control characters, bidi marks,
/// zero-width characters, tags, fillers. Newline and tab are excluded.
pub fn is_invisible(c: char) -> bool {
    let is_listed = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    is_listed || c.is_control() && !matches!(c, '\n' | '\t')
}

/// Whether this is a joiner or variation selector after a non-ASCII character, as some scripts and
/// emoji need it.
pub fn is_visible_joiner(c: char, previous: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') && !previous.is_ascii()
}

/// Escapes invisible characters, as `\u{200b}`.
pub fn escape_invisible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let (mut escaped, mut previous) = (String::with_capacity(text.len()), ' ');
    for c in text.chars() {
        if is_invisible(c) && !is_visible_joiner(c, previous) {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
        previous = c;
    }
    Cow::Owned(escaped)
}
