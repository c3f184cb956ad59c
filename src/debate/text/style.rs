//! Strips Markdown style and emoji from text before it is judged, so that formatting does not
//! influence the judges.
//!
//! | file | content |
//! | --- | --- |
//! | `chars` | what happens to a character, and which ones form words |
//! | `emphasis` | parser for emphasis delimiters |
//! | `emoji` | emoji detection |

mod chars;
mod emoji;
mod emphasis;

use chars::{CharAction, is_word_char};

/// Removes headings, emphasis, horizontal rules and emoji. Code and words stay, and plain text is
/// returned unchanged.
pub(in crate::debate) fn strip_style(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open_fence: Option<OpenFence> = None;
    for full_line in text.split_inclusive('\n') {
        let line = full_line.trim_end_matches(['\n', '\r']);
        let fence = parse_fence(line);
        match open_fence {
            Some(opened) => {
                out.push_str(full_line);
                open_fence = (!closes_fence(line, opened)).then_some(opened);
            }
            None if fence.is_some() => {
                out.push_str(full_line);
                open_fence = fence;
            }
            None => {
                if let Some(stripped) = strip_line_style(line) {
                    out.push_str(&stripped);
                    out.push_str(&full_line[line.len()..]);
                }
            }
        }
    }
    out
}

/// An open code fence: blockquote depth, fence character and length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct OpenFence {
    quote_depth: usize,
    delimiter: char,
    length: usize,
}

/// Parses the code fence a line opens.
fn parse_fence(line: &str) -> Option<OpenFence> {
    let (quote_depth, rest) = split_blockquote(line);
    let rest = rest
        .strip_prefix(['-', '*', '+'])
        .map_or(rest, |item| if item.starts_with([' ', '\t']) { item.trim_start() } else { rest });
    let delimiter = rest.chars().next().filter(|delimiter| matches!(delimiter, '`' | '~'))?;
    let info = rest.trim_start_matches(delimiter);
    let length = rest.len() - info.len();
    // With more backticks behind, it is inline code.
    let is_inline_code = delimiter == '`' && info.contains('`');
    (length >= 3 && !is_inline_code).then_some(OpenFence { quote_depth, delimiter, length })
}

fn closes_fence(line: &str, open: OpenFence) -> bool {
    let (quote_depth, rest) = split_blockquote(line);
    let rest = rest.trim_end();
    quote_depth == open.quote_depth
        && rest.len() >= open.length
        && rest.chars().all(|c| c == open.delimiter)
}

/// Splits a line into its blockquote depth and its content.
fn split_blockquote(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
    let marks = &line[..line.len() - rest.len()];
    (marks.matches('>').count(), rest)
}

/// Strips the style of one line, or returns `None` if nothing is left. Repeats until the line is
/// stable, because removing one style can expose another.
fn strip_line_style(line: &str) -> Option<String> {
    let mut line = line.to_owned();
    loop {
        if is_horizontal_rule(&line) {
            return None;
        }
        let (mut next, rest) = split_line_prefix(&line);
        next.push_str(&strip_inline_style(rest));
        // The result must not open a code fence, which would swallow the following lines.
        if next == line || parse_fence(&next).is_some() {
            return Some(line);
        }
        line = next;
    }
}

/// Whether a line is a horizontal rule or a setext heading underline.
fn is_horizontal_rule(line: &str) -> bool {
    let bare: String = line.split_whitespace().collect();
    let is_all = |mark: char| bare.len() >= 3 && bare.chars().all(|c| c == mark);
    is_all('-')
        || is_all('*')
        || is_all('_')
        || is_all('=') && !line.trim().contains(char::is_whitespace)
}

/// Splits a line into its normalized prefix (indent, blockquote and list markers) and its content.
/// Heading markers are removed at both ends.
fn split_line_prefix(line: &str) -> (String, &str) {
    let mut out = String::new();
    let mut rest = line;
    let mut is_heading = false;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let before_space = after.starts_with(char::is_whitespace);
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        if first.is_whitespace() || first == '>' {
            out.push(first);
            rest = after;
        } else if matches!(first, '-' | '*' | '+' | '•') && before_space {
            out.push('-');
            rest = after;
        } else if (1..=6).contains(&hashes)
            && (rest.len() == hashes || rest[hashes..].starts_with(char::is_whitespace))
        {
            is_heading = true;
            rest = rest[hashes..].trim_start();
        } else {
            break;
        }
    }
    if is_heading {
        let trimmed = rest.trim_end().trim_end_matches('#');
        if trimmed.is_empty() || trimmed.ends_with(char::is_whitespace) {
            rest = trimmed.trim_end();
        }
    }
    (out, rest)
}

fn strip_inline_style(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut actions = vec![CharAction::Keep; chars.len()];
    mark_literals(&chars, &mut actions);
    emphasis::mark_emphasis(&chars, &mut actions);
    emoji::mark_emoji(&chars, &mut actions);
    mark_repeated_punctuation(&chars, &mut actions);
    let mut out = String::with_capacity(text.len());
    let mut index = 0;
    while index < chars.len() {
        let dropped = actions[index..]
            .iter()
            .take_while(|it| matches!(it, CharAction::Drop | CharAction::DropEmoji))
            .count();
        if dropped == 0 {
            out.push(chars[index]);
            index += 1;
            continue;
        }
        let has_emoji = actions[index..index + dropped].contains(&CharAction::DropEmoji);
        index += dropped;
        let before = out.chars().next_back();
        let after = chars.get(index).copied();
        let at_boundary = before.is_none_or(char::is_whitespace);
        if has_emoji && at_boundary && after == Some(' ') {
            index += 1;
        } else if has_emoji && after.is_none() && before == Some(' ') {
            out.pop();
        } else if before.is_some_and(is_word_char) && after.is_some_and(is_word_char) {
            out.push(' ');
        }
    }
    out
}

/// Marks inline code and backslash escapes as literal.
fn mark_literals(chars: &[char], actions: &mut [CharAction]) {
    let run_length = |index: usize| chars[index..].iter().take_while(|c| **c == '`').count();
    // Run lengths without a closing run, cached so that they are searched for only once.
    let mut unclosed: Vec<usize> = vec![];
    let mut index = 0;
    while index < chars.len() {
        if chars[index] == '\\' && chars.get(index + 1).is_some_and(char::is_ascii_punctuation) {
            actions[index + 1] = CharAction::Literal;
            index += 2;
            continue;
        }
        let length = run_length(index);
        if length == 0 {
            index += 1;
            continue;
        }
        let mut end = index + length;
        while !unclosed.contains(&length) && end < chars.len() && run_length(end) != length {
            end += run_length(end).max(1);
        }
        if unclosed.contains(&length) || end >= chars.len() {
            unclosed.push(length);
            index += length;
        } else {
            actions[index..end + length].fill(CharAction::Literal);
            index = end + length;
        }
    }
}

/// Reduces three or more `!` or `?` in a row to one, a question mark if there is one.
fn mark_repeated_punctuation(chars: &[char], actions: &mut [CharAction]) {
    let is_mark =
        |index: usize| actions[index] == CharAction::Keep && "!?！？".contains(chars[index]);
    let mut runs = vec![];
    let mut index = 0;
    while index < chars.len() {
        let length = (index..chars.len()).take_while(|index| is_mark(*index)).count();
        if length >= 3 {
            runs.push(index..index + length);
        }
        index += length.max(1);
    }
    for run in runs {
        let question_mark = run.clone().find(|index| "?？".contains(chars[*index]));
        let kept_index = question_mark.unwrap_or(run.start);
        actions[run].fill(CharAction::Drop);
        actions[kept_index] = CharAction::Keep;
    }
}

#[cfg(test)]
mod tests;
