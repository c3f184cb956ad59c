//! Strict mode for files whose name marks them as secret, such as `.env`: every value in them is
//! redacted.
use super::placeholder;
use super::secret_span::SecretSpan;
use super::secret_value;
use super::token_kind::detect_kind;

/// Finds the value of every assignment, and every line that is a single token.
pub(super) fn find_all_values(text: &[u8]) -> Vec<SecretSpan> {
    let mut found = vec![];
    let mut line_start = 0;
    while line_start < text.len() {
        let end = text[line_start..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(text.len(), |end| line_start + end);
        let mut next = end + 1;
        if let Some((start, stop)) = assigned_value(text, line_start, end) {
            let mut spans = vec![(start, stop)];
            // An unclosed quote starts a multi-line value.
            let quote = text[start - 1];
            if b"\"'`".contains(&quote) && text.get(stop) != Some(&quote) {
                let close = text[end..].iter().position(|byte| *byte == quote);
                let stop = close.map_or(text.len(), |close| end + close);
                spans = vec![(start, stop)];
                next = stop + 1;
            }
            found.extend(spans.into_iter().filter_map(|(start, end)| to_span(text, start, end)));
        } else if let Some((start, stop)) = lone_token(text, line_start, end) {
            found.extend(to_span(text, start, stop));
        }
        line_start = next;
    }
    found
}

fn to_span(text: &[u8], start: usize, end: usize) -> Option<SecretSpan> {
    let value = text.get(start..end)?;
    let is_blank =
        value.iter().all(|byte| byte.is_ascii_whitespace() || b"{}[](),;|>".contains(byte));
    let has_placeholder = value
        .windows(placeholder::PLACEHOLDER_PREFIX.len())
        .any(|part| part == placeholder::PLACEHOLDER_PREFIX.as_bytes());
    (!is_blank && !has_placeholder).then(|| SecretSpan {
        start,
        end,
        kind: detect_kind(value),
        keyword_start: start,
    })
}

/// Range of the value after the first `=` of a line, otherwise after its first `:` or after
/// `password`. Excludes quotes and comments.
fn assigned_value(text: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
    let line = &text[from..to];
    // The line is already redacted.
    let is_redacted = (0..line.len()).any(|start_index| {
        line[start_index] == b'[' && placeholder::parse_placeholder(&line[start_index..]).is_some()
    });
    if is_redacted {
        return None;
    }
    let equals = line.iter().position(|byte| *byte == b'=');
    let colon = line.iter().position(|byte| *byte == b':');
    let word =
        line.windows(9).position(|part| part == b"password ").map(|start_index| start_index + 8);
    let operator = equals.or(colon).or(word)?;
    let mut start = operator + 1;
    while start < line.len() && line[start].is_ascii_whitespace() {
        start += 1;
    }
    let mut end = line.len();
    let quote = line.get(start).copied().filter(|byte| b"\"'`".contains(byte));
    if let Some(quote) = quote {
        start += 1;
        let close = line[start..].iter().position(|byte| *byte == quote);
        end = close.map_or(end, |close| start + close);
    } else {
        let comment = line[start..].windows(2).position(|two| two == b" #");
        end = comment.map_or(end, |comment| start + comment);
        while end > start && (line[end - 1].is_ascii_whitespace() || line[end - 1] == b',') {
            end -= 1;
        }
    }
    (start < end || quote.is_some() && start <= end).then_some((from + start, from + end))
}

/// Range of the token, if a line has nothing else.
fn lone_token(text: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
    let line = &text[from..to];
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let end = line.iter().rposition(|byte| !byte.is_ascii_whitespace())? + 1;
    let token = &line[start..end];
    (secret_value::is_strong_token(token) && !token.iter().any(u8::is_ascii_whitespace))
        .then_some((from + start, from + end))
}
