//! Assignments of secrets: a name such as `api_key`, an operator and a value. Only the value is
//! redacted. Name, operator and quotes stay.
use super::operator::{self, NameSpan, ValueSlot};
use super::scan::{MatchedSpan, detect_kind};
use super::secret_names::{self, NameClass};
use super::secret_value::{self, ValueContext};
use super::window::{Window, is_word_byte};

const MAX_NAME_BYTES: usize = 64;
const MAX_VALUE_BYTES: usize = 4096;
/// Maximum length of a password chosen by a person. In longer values, `:` and `=` are separators.
const MAX_PASSWORD_BYTES: usize = 128;

/// Matches the value assigned to the name that contains the keyword.
pub(super) fn match_assignment(window: &Window, start: usize, end: usize) -> Option<MatchedSpan> {
    let named = |byte: u8| is_word_byte(byte) || byte == b'-';
    let mut name = NameSpan {
        start: window.run_start(start, MAX_NAME_BYTES, named),
        end: window.run_end(end, MAX_NAME_BYTES, named),
    };
    if start - name.start == MAX_NAME_BYTES || name.end - end == MAX_NAME_BYTES {
        return None;
    }
    while window.slice(name.start, name.start + 1) == b"-" {
        name.start += 1;
    }
    while window.slice(name.end - 1, name.end) == b"-" {
        name.end -= 1;
    }
    let class = secret_names::classify_name(window.slice(name.start, name.end))?;
    let places = operator::value_slots(window, name);
    let span = places.into_iter().find_map(|place| match_slot(window, &place, class))?;
    let (start, end) = span;
    Some((start, end, detect_kind(window.slice(start, end))))
}

fn match_slot(window: &Window, place: &ValueSlot, class: NameClass) -> Option<(usize, usize)> {
    if let Some((from, end, shape)) = find_string_literal(window, place) {
        let from =
            if class == NameClass::Ambiguous { skip_auth_scheme(window, from, end) } else { from };
        return secret_value::is_secret_value(window.slice(from, end), shape, class)
            .then_some((from, end));
    }
    if place.quoted_only {
        return None;
    }
    let from = if class == NameClass::Ambiguous {
        skip_auth_scheme(window, place.start, place.start + 24)
    } else {
        place.start
    };
    let inside =
        |byte: u8| byte > b' ' && !b"\"'`".contains(&byte) && !place.terminators.contains(&byte);
    let plain = |byte: u8| inside(byte) && byte != b'=' && byte != b':';
    let mut end = window.run_end(from, MAX_VALUE_BYTES, plain);
    // `=` and `:` can be part of a password, or base64 padding, but do not join longer values.
    while let Some(joint) =
        window.byte_at(end).filter(|byte| inside(*byte) && end < from + MAX_VALUE_BYTES)
    {
        let next = window.run_end(end, 4, |byte| byte == joint);
        let ends = joint == b'=' && !window.byte_at(next).is_some_and(inside);
        let part = joint == b':' || place.context == ValueContext::Env;
        if !ends && (!part || next - from > MAX_PASSWORD_BYTES) {
            break;
        }
        end = window.run_end(next, MAX_VALUE_BYTES, plain);
    }
    while end > from && b")]}>.,;\\".contains(&window.slice(end - 1, end)[0]) {
        end -= 1;
    }
    let found = window.slice(from, end);
    let chosen = || {
        class == NameClass::Password
            && secret_value::is_chosen_password(found)
            && ends_config_line(window, from, end)
    };
    (secret_value::is_secret_value(found, place.context, class) || chosen()).then_some((from, end))
}

/// Whether a value ends a line of a config file, `name: value` or `name=value`. In code, more text
/// follows or the operator has blanks around it.
fn ends_config_line(window: &Window, from: usize, end: usize) -> bool {
    let sign = window.run_start(from, 8, |byte| byte == b' ');
    let spaced = sign.checked_sub(1).and_then(|at| window.byte_before(at)) == Some(b' ');
    let tight = sign == from && window.byte_before(sign) == Some(b'=') && !spaced;
    let ends = matches!(window.byte_at(end), None | Some(b'\n' | b'\r'));
    ends && (tight || window.byte_before(sign) == Some(b':'))
}

/// Skips an auth scheme such as `Token ` before the credential.
fn skip_auth_scheme(window: &Window, from: usize, end: usize) -> usize {
    let word =
        window.run_end(from, end.saturating_sub(from).min(16), |byte| byte.is_ascii_alphabetic());
    let next = window.skip_blanks(word);
    if word - from >= 3 && next > word { next } else { from }
}

/// Range of the string literal in a slot, and its context. A string inside a call is less certain
/// to be the value.
fn find_string_literal(window: &Window, place: &ValueSlot) -> Option<(usize, usize, ValueContext)> {
    let (mut at, mut shape) = (place.start, ValueContext::Quoted);
    if place.context == ValueContext::QuotedArgument {
        shape = ValueContext::QuotedArgument;
    }
    // String prefixes and constructors: `b"…"`, `r#"…"`, `String::from("…")`.
    let word = window.run_end(at, 32, |byte| is_word_byte(byte) || b":.&@$#".contains(&byte));
    if word > at {
        if window.byte_at(word) == Some(b'(') {
            (at, shape) = (word + 1, ValueContext::QuotedArgument);
        } else if word - at <= 3 && matches!(window.byte_at(word), Some(b'"' | b'\'')) {
            at = word;
        }
    }
    let escaped = window.byte_at(at) == Some(b'\\');
    let open = at + usize::from(escaped);
    let quote = window.byte_at(open).filter(|byte| b"\"'`".contains(byte))?;
    // Three quotes open a multi-line string.
    let from = open + 1;
    let from = if window.byte_at(from) == Some(quote) && window.byte_at(from + 1) == Some(quote) {
        from + 2
    } else {
        from
    };
    let mut end = from;
    while end < from + MAX_VALUE_BYTES {
        match window.byte_at(end)? {
            byte if byte == quote => return Some((from, end, shape)),
            b'\\' if escaped && window.byte_at(end + 1) == Some(quote) => {
                return Some((from, end, shape));
            }
            b'\n' | b'\r' => return None,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
    None
}
