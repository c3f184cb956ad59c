//! Parser for the syntax between a name and its value, in common programming languages and config
//! formats.
use super::secret_value::ValueContext;
use super::window::Window;

/// Byte range of a name.
#[derive(Clone, Copy)]
pub(super) struct NameSpan {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Possible position of a value, and what is valid there.
pub(super) struct ValueSlot {
    pub(super) start: usize,
    pub(super) context: ValueContext,
    /// Whether the value must be quoted.
    pub(super) quoted_only: bool,
    /// Bytes that end an unquoted value, besides whitespace.
    pub(super) terminators: &'static [u8],
}

/// Maximum length of a type annotation between a name and its value.
const MAX_TYPE_LEN: usize = 48;

/// Possible positions of the value of a name, in the order to try.
pub(super) fn value_slots(window: &Window, name: NameSpan) -> Vec<ValueSlot> {
    let (end, quoted) = skip_name_end(window, name.end);
    let at = window.skip_blanks(end);
    let place = |from: usize, shape, quotes| ValueSlot {
        start: window.skip_blanks(from),
        context: shape,
        quoted_only: quotes,
        terminators: b",;",
    };
    let bare = |from| place(from, ValueContext::Unquoted, false);
    let loose = |from| place(from, ValueContext::QuotedArgument, true);
    if let Some(from) = paired_value_start(window, name, end) {
        return vec![bare(from)];
    }
    let optional = window.byte_at(at) == Some(b'?') && window.byte_at(at + 1) == Some(b':');
    let at = at + usize::from(optional);
    match (window.byte_at(at), window.byte_at(at + 1)) {
        (Some(b'='), Some(b'~')) | (Some(b':'), Some(b':')) => vec![],
        (Some(b'='), Some(b'>')) | (Some(b':'), Some(b'=')) => vec![bare(at + 2)],
        (Some(b'='), Some(b'=')) => {
            vec![place(window.run_end(at, 3, |byte| byte == b'='), ValueContext::Quoted, true)]
        }
        (Some(b'='), _) if at == name.end => vec![unspaced_slot(window, name, at + 1)],
        (Some(b'='), _) => vec![bare(at + 1)],
        (Some(b':'), _) => {
            let typed = typed_value_start(window, at + 1)
                .map(|from| place(from, ValueContext::Quoted, true));
            [bare(at + 1)].into_iter().chain(typed).collect()
        }
        (Some(b'?' | b'|' | b'+' | b'!'), _) => {
            let equals = window.run_end(at, 3, |byte| b"?|+!=".contains(&byte));
            let assigns = window.slice(equals - 1, equals) == b"=";
            if assigns { vec![place(equals, ValueContext::Quoted, true)] } else { vec![] }
        }
        (Some(b','), _) if quoted => vec![loose(at + 1)],
        (Some(b'('), _) if !quoted => vec![loose(at + 1)],
        (Some(b'>'), _) if window.byte_before(name.start) == Some(b'<') => {
            vec![ValueSlot {
                start: at + 1,
                context: ValueContext::Quoted,
                quoted_only: false,
                terminators: b"<",
            }]
        }
        (Some(b'"' | b'\''), _) if at > end => vec![loose(at)],
        (Some(_), _) if at > end && window.ends_with(name.start, "--") => vec![bare(at)],
        // `password string = "…"`
        (Some(byte), _) if at > end && byte.is_ascii_alphabetic() => typed_value_start(window, at)
            .map(|from| place(from, ValueContext::Quoted, true))
            .into_iter()
            .collect(),
        _ => vec![],
    }
}

/// Skips the quote, bracket or array length after a name. Also returns whether it was a quote.
fn skip_name_end(window: &Window, end: usize) -> (usize, bool) {
    let mut at = end;
    if window.byte_at(at) == Some(b'\\') {
        at += 1;
    }
    let quoted = matches!(window.byte_at(at), Some(b'"' | b'\'' | b'`'));
    if quoted {
        at += 1;
        return (if window.byte_at(at) == Some(b']') { at + 1 } else { at }, true);
    }
    if window.byte_at(end) == Some(b'[') {
        let length = window.run_end(end + 1, 8, |byte| byte.is_ascii_digit());
        if window.byte_at(length) == Some(b']') {
            return (length + 1, false);
        }
    }
    (end, false)
}

/// Slot of `name=value`, without a blank before `=`. An uppercase name is an environment variable.
fn unspaced_slot(window: &Window, name: NameSpan, from: usize) -> ValueSlot {
    let loud = window
        .slice(name.start, name.end)
        .iter()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    let until: &[u8] = match window.byte_before(name.start) {
        Some(b'?' | b'&') => b"&#,;",
        _ if loud => b"",
        _ => b",;&",
    };
    let spaced = window.skip_blanks(from);
    let shape = if loud && spaced == from { ValueContext::Env } else { ValueContext::Unquoted };
    ValueSlot { start: spaced, context: shape, quoted_only: false, terminators: until }
}

/// Start of the value in `name: TYPE = …`.
fn typed_value_start(window: &Window, from: usize) -> Option<usize> {
    let of = |byte: u8| byte.is_ascii_alphanumeric() || b" _&'<>[]*:.?|".contains(&byte);
    let equals = window.run_end(from, MAX_TYPE_LEN, of);
    let assigns = window.byte_at(equals) == Some(b'=') && window.byte_at(equals + 1) != Some(b'=');
    assigns.then_some(equals + 1)
}

/// Start of the value in a pair: `name: PASSWORD` and `value: …`, on one line or two, or
/// `key="password" value="…"`.
fn paired_value_start(window: &Window, name: NameSpan, end: usize) -> Option<usize> {
    let quote = window.run_start(name.start, 2, |byte| byte == b'"' || byte == b'\'');
    let spaces = window.run_start(quote, 2, |byte| byte == b' ');
    let operator = window.run_start(spaces, 1, |byte| byte == b':' || byte == b'=');
    let words = window.run_start(operator, 1, |byte| byte == b'"');
    let names = ["name", "key", "Name", "Key"].iter().any(|word| window.ends_with(words, word));
    if operator == spaces || !names {
        return None;
    }
    let mut at = window.run_end(end, 80, |byte| byte.is_ascii_whitespace() || byte == b',');
    at = window.run_end(at, 1, |byte| byte == b'"');
    if !window.starts_with(at, "value") && !window.starts_with(at, "Value") {
        return None;
    }
    at = window.run_end(at + 5, 1, |byte| byte == b'"');
    let operator = window.skip_blanks(at);
    matches!(window.byte_at(operator), Some(b':' | b'=')).then_some(operator + 1)
}
