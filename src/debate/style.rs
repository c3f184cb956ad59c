//! Strips Markdown style and emoji from text before it is judged, so that formatting does not
//! influence the judges.
//!
//! | file | content |
//! | --- | --- |
//! | `emphasis` | parser for emphasis delimiters |
//! | `emoji` | emoji detection |

mod emoji;
mod emphasis;

/// Removes headings, emphasis, horizontal rules and emoji. Code and words stay, and plain text is
/// returned unchanged.
pub fn strip_style(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Option<OpenFence> = None;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        let fence = parse_fence(line);
        match open {
            Some(begun) => {
                out.push_str(whole);
                open = (!closes_fence(line, begun)).then_some(begun);
            }
            None if fence.is_some() => {
                out.push_str(whole);
                open = fence;
            }
            None => {
                if let Some(even) = strip_line_style(line) {
                    out.push_str(&even);
                    out.push_str(&whole[line.len()..]);
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
    let (quotes, rest) = split_blockquote(line);
    let rest = rest
        .strip_prefix(['-', '*', '+'])
        .map_or(rest, |item| if item.starts_with([' ', '\t']) { item.trim_start() } else { rest });
    let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = rest.trim_start_matches(mark);
    let length = rest.len() - info.len();
    // With more backticks behind, it is inline code.
    let inline = mark == '`' && info.contains('`');
    (length >= 3 && !inline).then_some(OpenFence { quote_depth: quotes, delimiter: mark, length })
}

fn closes_fence(line: &str, open: OpenFence) -> bool {
    let (quotes, rest) = split_blockquote(line);
    let rest = rest.trim_end();
    quotes == open.quote_depth
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
    let all = |mark: char| bare.len() >= 3 && bare.chars().all(|c| c == mark);
    all('-') || all('*') || all('_') || all('=') && !line.trim().contains(char::is_whitespace)
}

/// Splits a line into its normalized prefix (indent, blockquote and list markers) and its content.
/// Heading markers are removed at both ends.
fn split_line_prefix(line: &str) -> (String, &str) {
    let mut out = String::new();
    let mut rest = line;
    let mut heading = false;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let spaced = after.starts_with(char::is_whitespace);
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        if first.is_whitespace() || first == '>' {
            out.push(first);
            rest = after;
        } else if matches!(first, '-' | '*' | '+' | '•') && spaced {
            out.push('-');
            rest = after;
        } else if (1..=6).contains(&hashes)
            && (rest.len() == hashes || rest[hashes..].starts_with(char::is_whitespace))
        {
            heading = true;
            rest = rest[hashes..].trim_start();
        } else {
            break;
        }
    }
    if heading {
        let bare = rest.trim_end().trim_end_matches('#');
        if bare.is_empty() || bare.ends_with(char::is_whitespace) {
            rest = bare.trim_end();
        }
    }
    (out, rest)
}

/// What happens to a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharAction {
    Keep,
    /// Kept without Markdown meaning: inline code, or escaped by a backslash.
    Literal,
    Drop,
    /// Dropped together with an adjacent space.
    DropEmoji,
}

fn strip_inline_style(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut fates = vec![CharAction::Keep; chars.len()];
    mark_literals(&chars, &mut fates);
    emphasis::mark_emphasis(&chars, &mut fates);
    emoji::mark_emoji(&chars, &mut fates);
    mark_repeated_punctuation(&chars, &mut fates);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let gone = fates[at..]
            .iter()
            .take_while(|it| matches!(it, CharAction::Drop | CharAction::DropEmoji))
            .count();
        if gone == 0 {
            out.push(chars[at]);
            at += 1;
            continue;
        }
        let picture = fates[at..at + gone].contains(&CharAction::DropEmoji);
        at += gone;
        let before = out.chars().next_back();
        let after = chars.get(at).copied();
        let open = before.is_none_or(char::is_whitespace);
        if picture && open && after == Some(' ') {
            at += 1;
        } else if picture && after.is_none() && before == Some(' ') {
            out.pop();
        } else if before.is_some_and(is_word_char) && after.is_some_and(is_word_char) {
            out.push(' ');
        }
    }
    out
}

/// Marks inline code and backslash escapes as literal.
fn mark_literals(chars: &[char], fates: &mut [CharAction]) {
    let run = |at: usize| chars[at..].iter().take_while(|c| **c == '`').count();
    // Run lengths without a closing run, cached so that they are searched for only once.
    let mut missing: Vec<usize> = vec![];
    let mut at = 0;
    while at < chars.len() {
        if chars[at] == '\\' && chars.get(at + 1).is_some_and(char::is_ascii_punctuation) {
            fates[at + 1] = CharAction::Literal;
            at += 2;
            continue;
        }
        let length = run(at);
        if length == 0 {
            at += 1;
            continue;
        }
        let mut end = at + length;
        while !missing.contains(&length) && end < chars.len() && run(end) != length {
            end += run(end).max(1);
        }
        if missing.contains(&length) || end >= chars.len() {
            missing.push(length);
            at += length;
        } else {
            fates[at..end + length].fill(CharAction::Literal);
            at = end + length;
        }
    }
}

/// Letters and digits of scripts that separate words by spaces.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() && !emoji::is_cjk(c)
}

/// Reduces three or more `!` or `?` in a row to one, a question mark if there is one.
fn mark_repeated_punctuation(chars: &[char], fates: &mut [CharAction]) {
    let mark = |at: usize| fates[at] == CharAction::Keep && "!?！？".contains(chars[at]);
    let mut runs = vec![];
    let mut at = 0;
    while at < chars.len() {
        let length = (at..chars.len()).take_while(|at| mark(*at)).count();
        if length >= 3 {
            runs.push(at..at + length);
        }
        at += length.max(1);
    }
    for run in runs {
        let asks = run.clone().find(|at| "?？".contains(chars[*at]));
        let kept = asks.unwrap_or(run.start);
        fates[run].fill(CharAction::Drop);
        fates[kept] = CharAction::Keep;
    }
}
