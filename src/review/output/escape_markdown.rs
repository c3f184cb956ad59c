//! Escapes untrusted text for Markdown on GitHub and GitLab: no markup, links, images or HTML tags,
//! no mentions, issue or commit references, and no slash commands.
use super::sanitize::{break_log_commands, reveal_invisible, single_line, truncate_chars};

/// Zero-width space, inserted where two characters together would be a reference or a link.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// Bytes that must be left for another line of a text. With fewer, the text ends.
const MIN_LINE_BYTES: usize = 8;
/// Characters of a code span inside a text.
const MAX_CODE_SPAN_CHARS: usize = 200;
/// Hexadecimal digits from which on a word can be a reference to a commit.
const MIN_COMMIT_HASH_CHARS: usize = 7;
/// Digits between two zero-width spaces in such a word: too few for a reference.
const HASH_PIECE_CHARS: usize = MIN_COMMIT_HASH_CHARS - 1;

/// Escapes text for one line of at most `max_bytes` bytes. Short code spans stay code. Not for the
/// start of a line: use `escape_paragraphs` there.
pub(super) fn escape_line(text: &str, max_bytes: usize) -> String {
    join_within(escaped_pieces(&single_line(text, max_bytes)), max_bytes)
}

/// Escapes text with its lines and paragraphs, at most `max_bytes` bytes.
pub(super) fn escape_paragraphs(text: &str, max_bytes: usize) -> String {
    let mut output = String::new();
    let mut gap = "";
    for text in truncate_chars(&reveal_invisible(text), max_bytes).lines() {
        let text = single_line(text, max_bytes);
        if text.is_empty() {
            gap = if output.is_empty() { "" } else { "\n\n" };
            continue;
        }
        let remaining = max_bytes.saturating_sub(output.len() + gap.len());
        if remaining < MIN_LINE_BYTES {
            output.push('…');
            break;
        }
        let text = join_within(escape_line_start(escaped_pieces(&text)), remaining);
        output = output + gap + &text;
        gap = "\n";
    }
    output
}

/// A code span on one line, at most `max_chars` characters.
pub(super) fn code_span(text: &str, max_chars: usize) -> String {
    let text = break_log_commands(&single_line(text, max_chars));
    if text.is_empty() {
        return "(nothing)".into();
    }
    let fence = "`".repeat(longest_backtick_run(&text) + 1);
    let padding = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{padding}{text}{padding}{fence}")
}

/// A fenced code block. Every line gets the prefix `| `, so that no bot or CI log parses it as a
/// command.
pub(super) fn code_block(block: &str) -> String {
    let block = break_log_commands(block);
    let fence = "`".repeat((longest_backtick_run(&block) + 1).max(3));
    let lines: Vec<String> = block.lines().map(|line| format!("| {line}")).collect();
    format!("{fence}text\n{}\n{fence}", lines.join("\n"))
}

fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Joins pieces up to `max_bytes` bytes. A piece is never split.
fn join_within(pieces: Vec<String>, max_bytes: usize) -> String {
    let mut output = String::new();
    let total_bytes: usize = pieces.iter().map(String::len).sum();
    if total_bytes <= max_bytes {
        return pieces.concat();
    }
    for piece in pieces {
        if output.len() + piece.len() + '…'.len_utf8() > max_bytes {
            break;
        }
        output.push_str(&piece);
    }
    output.push('…');
    output
}

/// Splits a line into escaped pieces: single characters with their escape, or code spans.
fn escaped_pieces(line: &str) -> Vec<String> {
    let mut pieces = vec![];
    let (mut rest, mut after_code) = (line, false);
    while !rest.is_empty() {
        let Some(inner) = rest.strip_prefix('`') else {
            let end = rest.find('`').unwrap_or(rest.len());
            escape_letters(&rest[..end], &mut pieces);
            (rest, after_code) = (&rest[end..], false);
            continue;
        };
        match inner.split_once('`') {
            Some((code, after)) if !code.trim().is_empty() => {
                // A space, because adjacent code spans would be parsed as one.
                pieces.push(format!(
                    "{}{}",
                    if after_code { " " } else { "" },
                    code_span(code, MAX_CODE_SPAN_CHARS)
                ));
                (rest, after_code) = (after, true);
            }
            _ => {
                pieces.push("\\`".into());
                (rest, after_code) = (inner, false);
            }
        }
    }
    pieces
}

fn escape_letters(text: &str, pieces: &mut Vec<String>) {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |index: usize| chars.get(index).is_some_and(|c| c.is_alphanumeric());
    let mut hash_range = 0..0;
    for (index, c) in chars.iter().copied().enumerate() {
        let (after_word, next) = (index > 0 && is_word(index - 1), chars.get(index + 1).copied());
        if index == 0 || !chars[index - 1].is_ascii_alphanumeric() {
            hash_range = index..index + commit_hash_len(&chars[index..]);
        }
        let mut piece = match c {
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '&' => "&amp;".into(),
            // Two of them would start a math formula.
            '$' => "<span>$</span>".into(),
            '_' if after_word && is_word(index + 1) => "_".into(),
            '\\' | '*' | '_' | '[' | ']' | '|' | '~' => format!("\\{c}"),
            '.' if index >= 3 && chars[index - 3..index].iter().all(|c| matches!(c, 'w' | 'W')) => {
                format!("{ZERO_WIDTH_SPACE}.")
            }
            _ => String::from(c),
        };
        let is_reference = match c {
            '@' => next.is_some_and(|c| !c.is_whitespace()),
            '#' | '!' | '&' | '$' | '^' => next.is_some_and(|c| c.is_ascii_digit()),
            '%' | '~' => next.is_some_and(|c| c.is_alphanumeric() || c == '"'),
            ':' => next == Some('/'),
            '-' => {
                let gh: String = chars[index.saturating_sub(2)..index].iter().collect();
                gh.eq_ignore_ascii_case("gh") && next.is_some_and(|c| c.is_ascii_digit())
            }
            _ => {
                hash_range.contains(&index)
                    && (index - hash_range.start) % HASH_PIECE_CHARS == HASH_PIECE_CHARS - 1
            }
        };
        if is_reference {
            piece.push(ZERO_WIDTH_SPACE);
        }
        pieces.push(piece);
    }
}

/// Length of the word at the start, if it could be a commit hash. Otherwise 0.
fn commit_hash_len(chars: &[char]) -> usize {
    let hash_chars = chars.iter().take_while(|c| c.is_ascii_alphanumeric());
    let length = hash_chars.clone().count();
    let is_hash =
        length >= MIN_COMMIT_HASH_CHARS && hash_chars.clone().all(char::is_ascii_hexdigit);
    if is_hash { length } else { 0 }
}

/// Escapes what is markup only at the start of a line: headings, lists, rules, commands.
fn escape_line_start(mut pieces: Vec<String>) -> Vec<String> {
    let digits = pieces.iter().take_while(|piece| is_digit(piece)).count();
    let index = if pieces.get(digits).is_some_and(|piece| piece == "." || piece == ")") {
        digits
    } else {
        0
    };
    if let Some(piece) = pieces.get_mut(index)
        && piece.starts_with(['#', '+', '-', '=', ':', '/', '.', ')', '!', '%'])
    {
        piece.insert(0, '\\');
    }
    pieces
}

fn is_digit(piece: &str) -> bool {
    piece.len() == 1 && piece.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::test_review::assert_text_limit;

    #[test]
    fn code_span_in_a_text_is_cut() {
        assert_eq!(MAX_CODE_SPAN_CHARS, 200);
        assert_text_limit(MAX_CODE_SPAN_CHARS, "`", |text| {
            escape_line(&format!("`{text}`"), 4_000)
        });
    }
}
