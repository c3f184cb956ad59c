//! Multi-line private keys: PEM of every type, PGP and `PuTTY`. Quotes, diff marks and escaped line
//! breaks between the lines of a key are part of the match, so keys in code and diffs are found. A
//! `BEGIN` line without key data is no match.
use super::mark::PRIVATE_KEY;
use super::scan::Span;
use super::window::Window;

/// Maximum size of a key block in bytes.
const LONGEST: usize = 48 * 1024;
/// Minimum length of a base64 run that counts as a line of a key.
const LINE: usize = 20;
/// Maximum bytes of headers before the first such line.
const HEADERS: usize = 600;
/// Maximum number of shorter runs between two lines or before the end: escaped line breaks,
/// comment marks, the rest of the last line, a checksum.
const BETWEEN: usize = 4;

/// Matches a PEM or PGP block from its `BEGIN` line on.
pub(super) fn pem(window: &Window, start: usize, end: usize) -> Option<Span> {
    let body = label(window, end)?;
    body_end(window, body).map(|(_, end)| (start, end, PRIVATE_KEY))
}

/// Matches the private lines of a `PuTTY` key file.
pub(super) fn putty(window: &Window, end: usize) -> Option<Span> {
    let number = window.blank(end);
    let body = window.run(number, 4, |byte| byte.is_ascii_digit());
    body_end(window, body).map(|(start, end)| (start, end, PRIVATE_KEY))
}

/// End of a `BEGIN` or `END` line, if it names a private key.
fn label(window: &Window, from: usize) -> Option<usize> {
    let named = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let end = window.run(from, 64, named);
    let name = window.part(from, end);
    let private = name.windows(11).any(|part| part == b"PRIVATE KEY");
    let dashes = window.run(end, 5, |byte| byte == b'-');
    (private && dashes == end + 5).then_some(dashes)
}

/// Start of the first line of key data, and end of the block.
fn body_end(window: &Window, from: usize) -> Option<(usize, usize)> {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let (mut first, mut last) = (None, from);
    let (mut at, mut short) = (from, 0);
    while at < from + LONGEST {
        let end = window.run(at, from + LONGEST - at, base64);
        let mut run = (at, end);
        // The `n` of an escaped line break is not part of the line that follows.
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

/// Whether a line has digits and both cases. Identifiers can be as long, but rarely have all.
fn rich(line: &[u8]) -> bool {
    let any = |of: fn(&u8) -> bool| line.iter().any(of);
    any(u8::is_ascii_digit) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase)
}
