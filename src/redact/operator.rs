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

/// Maximum length in bytes of a type annotation between a name and its value.
const MAX_TYPE_LEN: usize = 48;
/// Maximum number of digits in the array length after a name.
const MAX_ARRAY_LENGTH_DIGITS: usize = 8;
/// Maximum number of blanks and line breaks between the name and the value of a pair.
const MAX_PAIR_GAP_BYTES: usize = 80;

/// Possible positions of the value of a name, in the order to try.
pub(super) fn value_slots(window: &Window, name: NameSpan) -> Vec<ValueSlot> {
    let (end, quoted) = skip_name_end(window, name.end);
    let position = window.skip_blanks(end);
    let slot = |from: usize, context, quoted_only| ValueSlot {
        start: window.skip_blanks(from),
        context,
        quoted_only,
        terminators: b",;",
    };
    let unquoted = |from| slot(from, ValueContext::Unquoted, false);
    let argument = |from| slot(from, ValueContext::QuotedArgument, true);
    if let Some(from) = paired_value_start(window, name, end) {
        return vec![unquoted(from)];
    }
    let is_optional =
        window.byte_at(position) == Some(b'?') && window.byte_at(position + 1) == Some(b':');
    let position = position + usize::from(is_optional);
    match (window.byte_at(position), window.byte_at(position + 1)) {
        (Some(b'='), Some(b'~')) | (Some(b':'), Some(b':')) => vec![],
        (Some(b'='), Some(b'>')) | (Some(b':'), Some(b'=')) => vec![unquoted(position + 2)],
        (Some(b'='), Some(b'=')) => {
            vec![slot(window.run_end(position, 3, |byte| byte == b'='), ValueContext::Quoted, true)]
        }
        (Some(b'='), _) if position == name.end => vec![unspaced_slot(window, name, position + 1)],
        (Some(b'='), _) => vec![unquoted(position + 1)],
        (Some(b':'), _) => {
            let typed_slot = typed_value_start(window, position + 1)
                .map(|from| slot(from, ValueContext::Quoted, true));
            [unquoted(position + 1)].into_iter().chain(typed_slot).collect()
        }
        (Some(b'?' | b'|' | b'+' | b'!'), _) => {
            let equals = window.run_end(position, 3, |byte| b"?|+!=".contains(&byte));
            let assigns = window.slice(equals - 1, equals) == b"=";
            if assigns { vec![slot(equals, ValueContext::Quoted, true)] } else { vec![] }
        }
        (Some(b','), _) if quoted => vec![argument(position + 1)],
        (Some(b'('), _) if !quoted => vec![argument(position + 1)],
        (Some(b'>'), _) if window.byte_before(name.start) == Some(b'<') => {
            vec![ValueSlot {
                start: position + 1,
                context: ValueContext::Quoted,
                quoted_only: false,
                terminators: b"<",
            }]
        }
        (Some(b'"' | b'\''), _) if position > end => vec![argument(position)],
        (Some(_), _) if position > end && window.ends_with(name.start, "--") => {
            vec![unquoted(position)]
        }
        // `password string = "…"`
        (Some(byte), _) if position > end && byte.is_ascii_alphabetic() => {
            typed_value_start(window, position)
                .map(|from| slot(from, ValueContext::Quoted, true))
                .into_iter()
                .collect()
        }
        _ => vec![],
    }
}

/// Skips the quote, bracket or array length after a name. Also returns whether it was a quote.
fn skip_name_end(window: &Window, end: usize) -> (usize, bool) {
    let mut position = end;
    if window.byte_at(position) == Some(b'\\') {
        position += 1;
    }
    let quoted = matches!(window.byte_at(position), Some(b'"' | b'\'' | b'`'));
    if quoted {
        position += 1;
        return (
            if window.byte_at(position) == Some(b']') { position + 1 } else { position },
            true,
        );
    }
    if window.byte_at(end) == Some(b'[') {
        let length = window.run_end(end + 1, MAX_ARRAY_LENGTH_DIGITS, |byte| byte.is_ascii_digit());
        if window.byte_at(length) == Some(b']') {
            return (length + 1, false);
        }
    }
    (end, false)
}

/// Slot of `name=value`, without a blank before `=`. An uppercase name is an environment variable.
fn unspaced_slot(window: &Window, name: NameSpan, from: usize) -> ValueSlot {
    let is_uppercase = window
        .slice(name.start, name.end)
        .iter()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    let terminators: &[u8] = match window.byte_before(name.start) {
        Some(b'?' | b'&') => b"&#,;",
        _ if is_uppercase => b"",
        _ => b",;&",
    };
    let start = window.skip_blanks(from);
    let context =
        if is_uppercase && start == from { ValueContext::Env } else { ValueContext::Unquoted };
    ValueSlot { start, context, quoted_only: false, terminators }
}

/// Start of the value in `name: TYPE = …`.
fn typed_value_start(window: &Window, from: usize) -> Option<usize> {
    let is_type_byte = |byte: u8| byte.is_ascii_alphanumeric() || b" _&'<>[]*:.?|".contains(&byte);
    let equals = window.run_end(from, MAX_TYPE_LEN, is_type_byte);
    let assigns = window.byte_at(equals) == Some(b'=') && window.byte_at(equals + 1) != Some(b'=');
    assigns.then_some(equals + 1)
}

/// Start of the value in a pair: `name: PASSWORD` and `value: …`, on one line or two, or
/// `key="password" value="…"`.
fn paired_value_start(window: &Window, name: NameSpan, end: usize) -> Option<usize> {
    let quote = window.run_start(name.start, 2, |byte| byte == b'"' || byte == b'\'');
    let spaces = window.run_start(quote, 2, |byte| byte == b' ');
    let operator = window.run_start(spaces, 1, |byte| byte == b':' || byte == b'=');
    let key_end = window.run_start(operator, 1, |byte| byte == b'"');
    let is_name_key =
        ["name", "key", "Name", "Key"].iter().any(|word| window.ends_with(key_end, word));
    if operator == spaces || !is_name_key {
        return None;
    }
    let mut position =
        window.run_end(end, MAX_PAIR_GAP_BYTES, |byte| byte.is_ascii_whitespace() || byte == b',');
    position = window.run_end(position, 1, |byte| byte == b'"');
    if !window.starts_with(position, "value") && !window.starts_with(position, "Value") {
        return None;
    }
    position = window.run_end(position + 5, 1, |byte| byte == b'"');
    let operator = window.skip_blanks(position);
    matches!(window.byte_at(operator), Some(b':' | b'=')).then_some(operator + 1)
}
