//! Text people do not see and models do: it is shown for what it is in code, and taken out of what
//! somebody says about a change.
use std::borrow::Cow;

/// Whether a character cannot be seen, turns the direction of what follows, ends a line where git
/// sees none, or spells something out of sight. Joiners stay, and so does what chooses the look of a
/// picture: whole scripts are written with them.
fn unseen(c: char) -> bool {
    let unseen = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    unseen || c.is_control() && !matches!(c, '\n' | '\t')
}

/// With what cannot be seen written out.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if unseen(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Without what cannot be seen: comments of HTML, and characters of no width. Says whether there
/// was any.
pub(super) fn taken_out(text: &str) -> (String, bool) {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        left.push_str(&rest[..at]);
        rest = rest[at + 4..].find("-->").map_or("", |end| &rest[at + 4 + end + 3..]);
    }
    left.push_str(rest);
    left.retain(|c| !unseen(c));
    let hidden = left.len() != text.replace('\r', "").len();
    (left, hidden)
}
