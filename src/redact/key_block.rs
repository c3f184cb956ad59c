//! Private keys over many lines: PEM of every name, PGP, `PuTTY`. What stands between the lines in
//! code, diffs and strings is part of them; code that only names such lines is not.
use super::mark::PRIVATE_KEY;
use super::scan::Span;
use super::window::Window;

/// More than any key has.
const LONGEST: usize = 48 * 1024;
/// A run of base 64 this long is a line of a key.
const LINE: usize = 20;
/// Bytes of headers before the first such line.
const HEADERS: usize = 600;
/// Shorter runs that may stand between two lines, or before the end: line ends in strings, marks
/// of comments, the end of the last line, a checksum.
const BETWEEN: usize = 4;

/// A block from its first line on.
pub(super) fn pem(window: &Window, start: usize, end: usize) -> Option<Span> {
    let body = label(window, end)?;
    body_end(window, body).map(|(_, end)| (start, end, PRIVATE_KEY))
}

/// The private lines of a file of `PuTTY`'s.
pub(super) fn putty(window: &Window, end: usize) -> Option<Span> {
    let number = window.blank(end);
    let body = window.run(number, 4, |byte| byte.is_ascii_digit());
    body_end(window, body).map(|(start, end)| (start, end, PRIVATE_KEY))
}

/// Where the line that opens or closes a private key ends.
fn label(window: &Window, from: usize) -> Option<usize> {
    let named = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let end = window.run(from, 64, named);
    let name = window.part(from, end);
    let private = name.windows(11).any(|part| part == b"PRIVATE KEY");
    let dashes = window.run(end, 5, |byte| byte == b'-');
    (private && dashes == end + 5).then_some(dashes)
}

/// The first line of a key's body, and where all of it ends.
fn body_end(window: &Window, from: usize) -> Option<(usize, usize)> {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let (mut first, mut last) = (None, from);
    let (mut at, mut short) = (from, 0);
    while at < from + LONGEST {
        let end = window.run(at, from + LONGEST - at, base64);
        let mut run = (at, end);
        // The mark of a line end in a string is no part of the line it begins.
        let slash = at > from && window.part(at - 1, at) == b"\\";
        if slash && run.0 < run.1 && matches!(window.part(run.0, run.0 + 1), b"n" | b"r" | b"t") {
            run.0 += 1;
        }
        if run.1 - run.0 >= LINE && (first.is_some() || rich(window.part(run.0, run.1))) {
            first = first.or(Some(run.0));
            (last, short) = (run.1, 0);
        } else if run.0 < run.1 {
            short += 1;
        }
        if first.is_some() && short > BETWEEN || first.is_none() && end - from > HEADERS {
            break;
        }
        at = end;
        match window.at(at) {
            Some(b'-') if window.starts(at, "-----") => {
                if window.starts(at + 5, "END")
                    && let Some(end) = label(window, at + 8)
                    && first.is_some()
                {
                    last = end;
                }
                break;
            }
            Some(byte) if byte.is_ascii_whitespace() || b"\\\"'`,:.-#*>|()".contains(&byte) => {
                at += 1;
            }
            _ => break,
        }
    }
    first.map(|first| (first, last))
}

/// Names in code are as long as lines of keys, but not as mixed.
fn rich(line: &[u8]) -> bool {
    let any = |of: fn(&u8) -> bool| line.iter().any(of);
    any(u8::is_ascii_digit) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase)
}
