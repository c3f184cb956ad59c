//! Assignments of secrets: a name such as `api_key`, an operator and a value. Only the value is
//! redacted. Name, operator and quotes stay.
use super::operator::{self, NameSpan, ValueSlot};
use super::secret_names::{self, NameClass};
use super::secret_span::MatchedSpan;
use super::secret_value::{self, ValueContext};
use super::token_kind::detect_kind;
use super::window::{Window, is_word_byte};

/// Length in bytes, on either side of the keyword, from which on a name is too long.
const MAX_NAME_BYTES: usize = 64;
/// Maximum length of a value in bytes. Of a longer one without quotes, the rest is not redacted.
const MAX_VALUE_BYTES: usize = 4096;
/// Maximum length in bytes of an auth scheme such as `Token`.
const MAX_SCHEME_BYTES: usize = 16;
/// Maximum length in bytes of a constructor before a string, such as `String::from`.
const MAX_CONSTRUCTOR_BYTES: usize = 32;
/// Maximum length in bytes of a string prefix such as `r#`.
const MAX_STRING_PREFIX_BYTES: usize = 3;
/// Maximum length of a password chosen by a person. In longer values, `:` and `=` are separators.
const MAX_PASSWORD_BYTES: usize = 128;

/// Matches the value assigned to the name that contains the keyword.
pub(super) fn match_assignment(window: &Window, start: usize, end: usize) -> Option<MatchedSpan> {
    let is_name_byte = |byte: u8| is_word_byte(byte) || byte == b'-';
    let mut name = NameSpan {
        start: window.run_start(start, MAX_NAME_BYTES, is_name_byte),
        end: window.run_end(end, MAX_NAME_BYTES, is_name_byte),
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
    let slots = operator::value_slots(window, name);
    let span = slots.into_iter().find_map(|slot| match_slot(window, &slot, class))?;
    let (start, end) = span;
    Some((start, end, detect_kind(window.slice(start, end))))
}

fn match_slot(window: &Window, slot: &ValueSlot, class: NameClass) -> Option<(usize, usize)> {
    if let Some((from, end, context)) = find_string_literal(window, slot) {
        let from =
            if class == NameClass::Ambiguous { skip_auth_scheme(window, from, end) } else { from };
        return secret_value::is_secret_value(window.slice(from, end), context, class)
            .then_some((from, end));
    }
    if slot.quoted_only {
        return None;
    }
    let from = if class == NameClass::Ambiguous {
        skip_auth_scheme(window, slot.start, slot.start + MAX_SCHEME_BYTES)
    } else {
        slot.start
    };
    let is_value_byte =
        |byte: u8| byte > b' ' && !b"\"'`".contains(&byte) && !slot.terminators.contains(&byte);
    let is_plain_byte = |byte: u8| is_value_byte(byte) && byte != b'=' && byte != b':';
    let mut end = window.run_end(from, MAX_VALUE_BYTES, is_plain_byte);
    // `=` and `:` can be part of a password, or base64 padding, but do not join longer values.
    while let Some(separator) =
        window.byte_at(end).filter(|byte| is_value_byte(*byte) && end < from + MAX_VALUE_BYTES)
    {
        let next = window.run_end(end, 4, |byte| byte == separator);
        let is_padding = separator == b'=' && !window.byte_at(next).is_some_and(is_value_byte);
        let may_join = separator == b':' || slot.context == ValueContext::Env;
        if !is_padding && (!may_join || next - from > MAX_PASSWORD_BYTES) {
            break;
        }
        end = window.run_end(next, MAX_VALUE_BYTES, is_plain_byte);
    }
    while end > from && b")]}>.,;\\".contains(&window.slice(end - 1, end)[0]) {
        end -= 1;
    }
    let value = window.slice(from, end);
    let is_chosen = || {
        class == NameClass::Password
            && secret_value::is_chosen_password(value)
            && ends_config_line(window, from, end)
    };
    (secret_value::is_secret_value(value, slot.context, class) || is_chosen())
        .then_some((from, end))
}

/// Whether a value ends a line of a config file, `name: value` or `name=value`. In code, more text
/// follows or the operator has blanks around it.
fn ends_config_line(window: &Window, from: usize, end: usize) -> bool {
    let operator_end = window.run_start(from, 8, |byte| byte == b' ');
    let has_space_before =
        operator_end.checked_sub(1).and_then(|at| window.byte_before(at)) == Some(b' ');
    let is_tight =
        operator_end == from && window.byte_before(operator_end) == Some(b'=') && !has_space_before;
    let ends_line = matches!(window.byte_at(end), None | Some(b'\n' | b'\r'));
    ends_line && (is_tight || window.byte_before(operator_end) == Some(b':'))
}

/// Skips an auth scheme such as `Token ` before the credential.
fn skip_auth_scheme(window: &Window, from: usize, end: usize) -> usize {
    let max_len = end.saturating_sub(from).min(MAX_SCHEME_BYTES);
    let scheme_end = window.run_end(from, max_len, |byte| byte.is_ascii_alphabetic());
    let next = window.skip_blanks(scheme_end);
    if scheme_end - from >= 3 && next > scheme_end { next } else { from }
}

/// Range of the string literal in a slot, and its context. A string inside a call is less certain
/// to be the value.
fn find_string_literal(window: &Window, slot: &ValueSlot) -> Option<(usize, usize, ValueContext)> {
    let (mut position, mut context) = (slot.start, ValueContext::Quoted);
    if slot.context == ValueContext::QuotedArgument {
        context = ValueContext::QuotedArgument;
    }
    // String prefixes and constructors: `b"…"`, `r#"…"`, `String::from("…")`.
    let word_end = window.run_end(position, MAX_CONSTRUCTOR_BYTES, |byte| {
        is_word_byte(byte) || b":.&@$#".contains(&byte)
    });
    if word_end > position {
        if window.byte_at(word_end) == Some(b'(') {
            (position, context) = (word_end + 1, ValueContext::QuotedArgument);
        } else if word_end - position <= MAX_STRING_PREFIX_BYTES
            && matches!(window.byte_at(word_end), Some(b'"' | b'\''))
        {
            position = word_end;
        }
    }
    let is_escaped = window.byte_at(position) == Some(b'\\');
    let open = position + usize::from(is_escaped);
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
            byte if byte == quote => return Some((from, end, context)),
            b'\\' if is_escaped && window.byte_at(end + 1) == Some(quote) => {
                return Some((from, end, context));
            }
            b'\n' | b'\r' => return None,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of the secret in `PREFIXtokenSUFFIX=VALUE`, with a value of this length.
    fn secret_len(prefix: &str, suffix: &str, length: usize) -> Option<usize> {
        let value = &"a1b2c3d4".repeat(length)[..length];
        let text = format!("{prefix}token{suffix}={value}");
        let (start, end) = (prefix.len(), prefix.len() + "token".len());
        let window = Window::new(text.as_bytes(), start, 0);
        match_assignment(&window, start, end).map(|(start, end, _)| end - start)
    }

    #[test]
    fn assigned_value_is_redacted_up_to_4096_bytes() {
        assert_eq!(MAX_VALUE_BYTES, 4_096);
        for length in [MAX_VALUE_BYTES, MAX_VALUE_BYTES + 1] {
            assert_eq!(secret_len("", "", length), Some(MAX_VALUE_BYTES));
        }
    }

    #[test]
    fn name_has_up_to_63_bytes_on_either_side_of_the_keyword() {
        assert_eq!(MAX_NAME_BYTES, 64);
        for (length, expected) in [(MAX_NAME_BYTES - 1, Some(16)), (MAX_NAME_BYTES, None)] {
            let prefix = "a".repeat(length - 1) + "_";
            assert_eq!(secret_len(&prefix, "", 16), expected, "{prefix}");
            let suffix = &"_x".repeat(length)[..length];
            assert_eq!(secret_len("", suffix, 16), expected, "{suffix}");
        }
    }
}
