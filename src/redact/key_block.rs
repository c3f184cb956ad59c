//! Multi-line private keys: PEM of every type, PGP and `PuTTY`. Quotes, diff marks and escaped line
//! breaks between the lines of a key are part of the match, so keys in code and diffs are found. A
//! `BEGIN` line without key data is no match.
use super::placeholder::KIND_PRIVATE_KEY;
use super::secret_span::MatchedSpan;
use super::window::Window;

/// Maximum size of a key block in bytes.
const MAX_BLOCK_BYTES: usize = 48 * 1024;
/// Minimum length of a base64 run that counts as a line of a key.
const MIN_LINE_LEN: usize = 20;
/// Maximum bytes of headers between the `BEGIN` line and the first such line.
const MAX_HEADER_BYTES: usize = 600;
/// Maximum length in bytes of the label on a `BEGIN` or `END` line.
const MAX_LABEL_BYTES: usize = 64;
/// Maximum number of digits in the line count of a `PuTTY` key.
const MAX_LINE_COUNT_DIGITS: usize = 4;
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
    let body = window.run_end(number, MAX_LINE_COUNT_DIGITS, |byte| byte.is_ascii_digit());
    find_key_body(window, body).map(|(start, end)| (start, end, KIND_PRIVATE_KEY))
}

/// End of a `BEGIN` or `END` line, if it names a private key.
fn label_end(window: &Window, from: usize) -> Option<usize> {
    let is_label_byte =
        |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let end = window.run_end(from, MAX_LABEL_BYTES, is_label_byte);
    let name = window.slice(from, end);
    let is_private = name.windows(11).any(|part| part == b"PRIVATE KEY");
    let dashes = window.run_end(end, 5, |byte| byte == b'-');
    (is_private && dashes == end + 5).then_some(dashes)
}

/// Start of the first line of key data, and end of the block.
fn find_key_body(window: &Window, from: usize) -> Option<(usize, usize)> {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let (mut first, mut last) = (None, from);
    let (mut position, mut short_runs) = (from, 0);
    while position < from + MAX_BLOCK_BYTES {
        let end = window.run_end(position, from + MAX_BLOCK_BYTES - position, is_base64);
        let mut run = (position, end);
        // The `n` of an escaped line break is not part of the line that follows.
        let after_backslash = position > from && window.slice(position - 1, position) == b"\\";
        if after_backslash
            && run.0 < run.1
            && matches!(window.slice(run.0, run.0 + 1), b"n" | b"r" | b"t")
        {
            run.0 += 1;
        }
        if run.1 - run.0 >= MIN_LINE_LEN
            && (first.is_some() || has_mixed_classes(window.slice(run.0, run.1)))
        {
            first = first.or(Some(run.0));
            (last, short_runs) = (run.1, 0);
        } else if run.0 < run.1 {
            short_runs += 1;
        }
        if first.is_some() && short_runs > MAX_SHORT_RUNS
            || first.is_none() && end - from > MAX_HEADER_BYTES
        {
            break;
        }
        position = end;
        match window.byte_at(position) {
            Some(b'-') if window.starts_with(position, "-----") => {
                if window.starts_with(position + 5, "END")
                    && let Some(end) = label_end(window, position + 8)
                    && first.is_some()
                {
                    last = end;
                }
                break;
            }
            Some(byte) if byte.is_ascii_whitespace() || b"\\\"'`,:.-#*>|()".contains(&byte) => {
                position += 1;
            }
            _ => break,
        }
    }
    first.map(|first| (first, last))
}

/// Whether a line has digits and both cases. Identifiers can be as long, but rarely have all.
fn has_mixed_classes(line: &[u8]) -> bool {
    let any = |class: fn(&u8) -> bool| line.iter().any(class);
    any(u8::is_ascii_digit) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";

    /// Base64 of this length.
    fn base64(length: usize) -> String {
        "aB1".repeat(length)[..length].to_owned()
    }

    /// Length of the secret in a text that starts with a `BEGIN` line.
    fn secret_len(text: &str) -> Option<usize> {
        let window = Window::new(text.as_bytes(), 0, 0);
        match_pem(&window, 0, "-----BEGIN".len()).map(|(start, end, _)| end - start)
    }

    #[test]
    fn key_block_is_redacted_up_to_48_kib() {
        assert_eq!(MAX_BLOCK_BYTES, 48 * 1024);
        for length in [MAX_BLOCK_BYTES, MAX_BLOCK_BYTES + 1] {
            let text = BEGIN.to_owned() + &base64(length);
            assert_eq!(secret_len(&text), Some(BEGIN.len() + MAX_BLOCK_BYTES));
        }
    }

    #[test]
    fn label_of_a_key_block_has_64_bytes_at_most() {
        assert_eq!(MAX_LABEL_BYTES, 64);
        for (length, expected) in [(MAX_LABEL_BYTES, true), (MAX_LABEL_BYTES + 1, false)] {
            let label = format!("{:>length$}", "PRIVATE KEY");
            let text = format!("-----BEGIN{label}-----\n{}", base64(64));
            assert_eq!(secret_len(&text).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn headers_of_a_key_block_have_600_bytes_at_most() {
        assert_eq!(MAX_HEADER_BYTES, 600);
        for (length, expected) in [(MAX_HEADER_BYTES, true), (MAX_HEADER_BYTES + 1, false)] {
            let text = format!("{BEGIN}\n{}{}", "\n".repeat(length), base64(64));
            assert_eq!(secret_len(&text).is_some(), expected, "{length} bytes of headers");
        }
    }

    #[test]
    fn line_of_a_key_block_has_at_least_20_bytes() {
        assert_eq!(MIN_LINE_LEN, 20);
        for (length, expected) in [(MIN_LINE_LEN, true), (MIN_LINE_LEN - 1, false)] {
            let text = format!("{BEGIN}\n{}", base64(length));
            assert_eq!(secret_len(&text).is_some(), expected, "{text}");
        }
    }
}
