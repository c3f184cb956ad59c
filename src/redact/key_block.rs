//! Multi-line private keys: PEM of every type, PGP and `PuTTY`. Quotes, diff marks and escaped line
//! breaks between the lines of a key are part of the match, so keys in code and diffs are found. A
//! `BEGIN` line without key data is no match.
use super::placeholder::KIND_PRIVATE_KEY;
use super::scan::MatchedSpan;
use super::window::Window;

/// Maximum size of a key block in bytes.
const MAX_BLOCK_BYTES: usize = 48 * 1024;
/// Minimum length of a base64 run that counts as a line of a key.
const MIN_LINE_LEN: usize = 20;
/// Maximum bytes of headers before the first such line.
const MAX_HEADER_BYTES: usize = 600;
/// Maximum number of shorter runs between two lines or before the end: escaped line breaks,
/// comment marks, the rest of the last line, a checksum.
const MAX_SHORT_RUNS: usize = 4;

/// Matches a PEM or PGP block from its `BEGIN` line on.
pub(super) fn match_pem(window: &Window, start: usize, end: usize) -> Option<MatchedSpan> {
    let body = label_end(window, end)?;
    find_key_body(window, body).map(|(_, end)| (start, end, KIND_PRIVATE_KEY))
}

/// Matches the private lines of a `PuTTY` key file.
pub(super) fn match_putty(window: &Window, end: usize) -> Option<MatchedSpan> {
    let number = window.skip_blanks(end);
    let body = window.run_end(number, 4, |byte| byte.is_ascii_digit());
    find_key_body(window, body).map(|(start, end)| (start, end, KIND_PRIVATE_KEY))
}

/// End of a `BEGIN` or `END` line, if it names a private key.
fn label_end(window: &Window, from: usize) -> Option<usize> {
    let named = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let end = window.run_end(from, 64, named);
    let name = window.slice(from, end);
    let private = name.windows(11).any(|part| part == b"PRIVATE KEY");
    let dashes = window.run_end(end, 5, |byte| byte == b'-');
    (private && dashes == end + 5).then_some(dashes)
}

/// Start of the first line of key data, and end of the block.
fn find_key_body(window: &Window, from: usize) -> Option<(usize, usize)> {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let (mut first, mut last) = (None, from);
    let (mut at, mut short) = (from, 0);
    while at < from + MAX_BLOCK_BYTES {
        let end = window.run_end(at, from + MAX_BLOCK_BYTES - at, base64);
        let mut run = (at, end);
        // The `n` of an escaped line break is not part of the line that follows.
        let slash = at > from && window.slice(at - 1, at) == b"\\";
        if slash && run.0 < run.1 && matches!(window.slice(run.0, run.0 + 1), b"n" | b"r" | b"t") {
            run.0 += 1;
        }
        if run.1 - run.0 >= MIN_LINE_LEN
            && (first.is_some() || has_mixed_classes(window.slice(run.0, run.1)))
        {
            first = first.or(Some(run.0));
            (last, short) = (run.1, 0);
        } else if run.0 < run.1 {
            short += 1;
        }
        if first.is_some() && short > MAX_SHORT_RUNS
            || first.is_none() && end - from > MAX_HEADER_BYTES
        {
            break;
        }
        at = end;
        match window.byte_at(at) {
            Some(b'-') if window.starts_with(at, "-----") => {
                if window.starts_with(at + 5, "END")
                    && let Some(end) = label_end(window, at + 8)
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
fn has_mixed_classes(line: &[u8]) -> bool {
    let any = |of: fn(&u8) -> bool| line.iter().any(of);
    any(u8::is_ascii_digit) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase)
}
