//! Parser for the syntax between a name and its value, in common programming languages and config
//! formats.
use super::value::Shape;
use super::window::Window;

/// Byte range of a name.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Possible position of a value, and what is valid there.
pub(super) struct Place {
    pub(super) from: usize,
    pub(super) shape: Shape,
    /// Whether the value must be quoted.
    pub(super) quotes: bool,
    /// Bytes that end an unquoted value, besides whitespace.
    pub(super) until: &'static [u8],
}

/// Maximum length of a type annotation between a name and its value.
const TYPE: usize = 48;

/// Possible positions of the value of a name, in the order to try.
pub(super) fn places(window: &Window, name: Name) -> Vec<Place> {
    let (end, quoted) = closed(window, name.end);
    let at = window.blank(end);
    let place = |from: usize, shape, quotes| Place {
        from: window.blank(from),
        shape,
        quotes,
        until: b",;",
    };
    let bare = |from| place(from, Shape::Bare, false);
    let loose = |from| place(from, Shape::Loose, true);
    if let Some(from) = pair(window, name, end) {
        return vec![bare(from)];
    }
    let optional = window.at(at) == Some(b'?') && window.at(at + 1) == Some(b':');
    let at = at + usize::from(optional);
    match (window.at(at), window.at(at + 1)) {
        (Some(b'='), Some(b'~')) | (Some(b':'), Some(b':')) => vec![],
        (Some(b'='), Some(b'>')) | (Some(b':'), Some(b'=')) => vec![bare(at + 2)],
        (Some(b'='), Some(b'=')) => {
            vec![place(window.run(at, 3, |byte| byte == b'='), Shape::Quoted, true)]
        }
        (Some(b'='), _) if at == name.end => vec![tight(window, name, at + 1)],
        (Some(b'='), _) => vec![bare(at + 1)],
        (Some(b':'), _) => {
            let typed = typed(window, at + 1).map(|from| place(from, Shape::Quoted, true));
            [bare(at + 1)].into_iter().chain(typed).collect()
        }
        (Some(b'?' | b'|' | b'+' | b'!'), _) => {
            let equals = window.run(at, 3, |byte| b"?|+!=".contains(&byte));
            let assigns = window.part(equals - 1, equals) == b"=";
            if assigns { vec![place(equals, Shape::Quoted, true)] } else { vec![] }
        }
        (Some(b','), _) if quoted => vec![loose(at + 1)],
        (Some(b'('), _) if !quoted => vec![loose(at + 1)],
        (Some(b'>'), _) if window.before(name.start) == Some(b'<') => {
            vec![Place { from: at + 1, shape: Shape::Quoted, quotes: false, until: b"<" }]
        }
        (Some(b'"' | b'\''), _) if at > end => vec![loose(at)],
        (Some(_), _) if at > end && window.ends(name.start, "--") => vec![bare(at)],
        // `password string = "…"`
        (Some(byte), _) if at > end && byte.is_ascii_alphabetic() => {
            typed(window, at).map(|from| place(from, Shape::Quoted, true)).into_iter().collect()
        }
        _ => vec![],
    }
}

/// Skips the quote, bracket or array length after a name. Also returns whether it was a quote.
fn closed(window: &Window, end: usize) -> (usize, bool) {
    let mut at = end;
    if window.at(at) == Some(b'\\') {
        at += 1;
    }
    let quoted = matches!(window.at(at), Some(b'"' | b'\'' | b'`'));
    if quoted {
        at += 1;
        return (if window.at(at) == Some(b']') { at + 1 } else { at }, true);
    }
    if window.at(end) == Some(b'[') {
        let length = window.run(end + 1, 8, |byte| byte.is_ascii_digit());
        if window.at(length) == Some(b']') {
            return (length + 1, false);
        }
    }
    (end, false)
}

/// Slot of `name=value`, without a blank before `=`. An uppercase name is an environment variable.
fn tight(window: &Window, name: Name, from: usize) -> Place {
    let loud = window
        .part(name.start, name.end)
        .iter()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    let until: &[u8] = match window.before(name.start) {
        Some(b'?' | b'&') => b"&#,;",
        _ if loud => b"",
        _ => b",;&",
    };
    let spaced = window.blank(from);
    let shape = if loud && spaced == from { Shape::Env } else { Shape::Bare };
    Place { from: spaced, shape, quotes: false, until }
}

/// Start of the value in `name: TYPE = …`.
fn typed(window: &Window, from: usize) -> Option<usize> {
    let of = |byte: u8| byte.is_ascii_alphanumeric() || b" _&'<>[]*:.?|".contains(&byte);
    let equals = window.run(from, TYPE, of);
    let assigns = window.at(equals) == Some(b'=') && window.at(equals + 1) != Some(b'=');
    assigns.then_some(equals + 1)
}

/// Start of the value in a pair: `name: PASSWORD` and `value: …`, on one line or two, or
/// `key="password" value="…"`.
fn pair(window: &Window, name: Name, end: usize) -> Option<usize> {
    let quote = window.run_back(name.start, 2, |byte| byte == b'"' || byte == b'\'');
    let spaces = window.run_back(quote, 2, |byte| byte == b' ');
    let operator = window.run_back(spaces, 1, |byte| byte == b':' || byte == b'=');
    let words = window.run_back(operator, 1, |byte| byte == b'"');
    let names = ["name", "key", "Name", "Key"].iter().any(|word| window.ends(words, word));
    if operator == spaces || !names {
        return None;
    }
    let mut at = window.run(end, 80, |byte| byte.is_ascii_whitespace() || byte == b',');
    at = window.run(at, 1, |byte| byte == b'"');
    if !window.starts(at, "value") && !window.starts(at, "Value") {
        return None;
    }
    at = window.run(at + 5, 1, |byte| byte == b'"');
    let operator = window.blank(at);
    matches!(window.at(operator), Some(b':' | b'=')).then_some(operator + 1)
}
