//! Assignments of secrets: a name such as `api_key`, an operator and a value. Only the value is
//! redacted. Name, operator and quotes stay.
use super::names::{self, Class};
use super::operator::{self, Name, Place};
use super::scan::{Span, kind_of};
use super::value::{self, Shape};
use super::window::{Window, wordish};

const LONGEST_NAME: usize = 64;
const LONGEST: usize = 4096;
/// Maximum length of a password chosen by a person. In longer values, `:` and `=` are separators.
const SHORT: usize = 128;

/// Matches the value assigned to the name that contains the keyword.
pub(super) fn value(window: &Window, start: usize, end: usize) -> Option<Span> {
    let named = |byte: u8| wordish(byte) || byte == b'-';
    let mut name = Name {
        start: window.run_back(start, LONGEST_NAME, named),
        end: window.run(end, LONGEST_NAME, named),
    };
    if start - name.start == LONGEST_NAME || name.end - end == LONGEST_NAME {
        return None;
    }
    while window.part(name.start, name.start + 1) == b"-" {
        name.start += 1;
    }
    while window.part(name.end - 1, name.end) == b"-" {
        name.end -= 1;
    }
    let class = names::class(window.part(name.start, name.end))?;
    let places = operator::places(window, name);
    let span = places.into_iter().find_map(|place| of_place(window, &place, class))?;
    let (start, end) = span;
    Some((start, end, kind_of(window.part(start, end))))
}

fn of_place(window: &Window, place: &Place, class: Class) -> Option<(usize, usize)> {
    if let Some((from, end, shape)) = quoted(window, place) {
        let from = if class == Class::Vague { after_scheme(window, from, end) } else { from };
        return value::real(window.part(from, end), shape, class).then_some((from, end));
    }
    if place.quotes {
        return None;
    }
    let from = if class == Class::Vague {
        after_scheme(window, place.from, place.from + 24)
    } else {
        place.from
    };
    let inside = |byte: u8| byte > b' ' && !b"\"'`".contains(&byte) && !place.until.contains(&byte);
    let plain = |byte: u8| inside(byte) && byte != b'=' && byte != b':';
    let mut end = window.run(from, LONGEST, plain);
    // `=` and `:` can be part of a password, or base64 padding, but do not join longer values.
    while let Some(joint) = window.at(end).filter(|byte| inside(*byte) && end < from + LONGEST) {
        let next = window.run(end, 4, |byte| byte == joint);
        let ends = joint == b'=' && !window.at(next).is_some_and(inside);
        let part = joint == b':' || place.shape == Shape::Env;
        if !ends && (!part || next - from > SHORT) {
            break;
        }
        end = window.run(next, LONGEST, plain);
    }
    while end > from && b")]}>.,;\\".contains(&window.part(end - 1, end)[0]) {
        end -= 1;
    }
    let found = window.part(from, end);
    let chosen = || class == Class::Password && value::chosen(found) && settled(window, from, end);
    (value::real(found, place.shape, class) || chosen()).then_some((from, end))
}

/// Whether a value ends a line of a config file, `name: value` or `name=value`. In code, more text
/// follows or the operator has blanks around it.
fn settled(window: &Window, from: usize, end: usize) -> bool {
    let sign = window.run_back(from, 8, |byte| byte == b' ');
    let spaced = sign.checked_sub(1).and_then(|at| window.before(at)) == Some(b' ');
    let tight = sign == from && window.before(sign) == Some(b'=') && !spaced;
    let ends = matches!(window.at(end), None | Some(b'\n' | b'\r'));
    ends && (tight || window.before(sign) == Some(b':'))
}

/// Skips an auth scheme such as `Token ` before the credential.
fn after_scheme(window: &Window, from: usize, end: usize) -> usize {
    let word =
        window.run(from, end.saturating_sub(from).min(16), |byte| byte.is_ascii_alphabetic());
    let next = window.blank(word);
    if word - from >= 3 && next > word { next } else { from }
}

/// Range of the string literal in a slot, and its context. A string inside a call is less certain
/// to be the value.
fn quoted(window: &Window, place: &Place) -> Option<(usize, usize, Shape)> {
    let (mut at, mut shape) = (place.from, Shape::Quoted);
    if place.shape == Shape::Loose {
        shape = Shape::Loose;
    }
    // String prefixes and constructors: `b"…"`, `r#"…"`, `String::from("…")`.
    let word = window.run(at, 32, |byte| wordish(byte) || b":.&@$#".contains(&byte));
    if word > at {
        if window.at(word) == Some(b'(') {
            (at, shape) = (word + 1, Shape::Loose);
        } else if word - at <= 3 && matches!(window.at(word), Some(b'"' | b'\'')) {
            at = word;
        }
    }
    let escaped = window.at(at) == Some(b'\\');
    let open = at + usize::from(escaped);
    let quote = window.at(open).filter(|byte| b"\"'`".contains(byte))?;
    // Three quotes open a multi-line string.
    let from = open + 1;
    let from = if window.at(from) == Some(quote) && window.at(from + 1) == Some(quote) {
        from + 2
    } else {
        from
    };
    let mut end = from;
    while end < from + LONGEST {
        match window.at(end)? {
            byte if byte == quote => return Some((from, end, shape)),
            b'\\' if escaped && window.at(end + 1) == Some(quote) => {
                return Some((from, end, shape));
            }
            b'\n' | b'\r' => return None,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
    None
}
