//! Escapes untrusted text for Markdown on GitHub and GitLab: no markup, links, images or HTML tags,
//! no mentions, issue or commit references, and no slash commands.
use super::sanitize::{break_log_commands, reveal_invisible, single_line, truncate_chars};

/// Zero-width space, inserted where two characters together would be a reference or a link.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// Escapes text for one line of at most `most` bytes. Short code spans stay code. Not for the start
/// of a line: use `escape_paragraphs` there.
pub fn escape_line(words: &str, most: usize) -> String {
    join_within(escaped_pieces(&single_line(words, most)), most)
}

/// Escapes text with its lines and paragraphs, at most `most` bytes.
pub fn escape_paragraphs(words: &str, most: usize) -> String {
    let mut done = String::new();
    let mut gap = "";
    for words in truncate_chars(&reveal_invisible(words), most).lines() {
        let words = single_line(words, most);
        if words.is_empty() {
            gap = if done.is_empty() { "" } else { "\n\n" };
            continue;
        }
        let room = most.saturating_sub(done.len() + gap.len());
        if room < 8 {
            done.push('…');
            break;
        }
        let words = join_within(escape_line_start(escaped_pieces(&words)), room);
        done = done + gap + &words;
        gap = "\n";
    }
    done
}

/// A code span on one line, at most `most` characters.
pub fn code_span(words: &str, most: usize) -> String {
    let words = break_log_commands(&single_line(words, most));
    if words.is_empty() {
        return "(nothing)".into();
    }
    let marks = "`".repeat(longest_backtick_run(&words) + 1);
    let edge = if words.starts_with('`') || words.ends_with('`') { " " } else { "" };
    format!("{marks}{edge}{words}{edge}{marks}")
}

/// A fenced code block. Every line gets the prefix `| `, so that no bot or CI log parses it as a
/// command.
pub fn code_block(block: &str) -> String {
    let block = break_log_commands(block);
    let marks = "`".repeat((longest_backtick_run(&block) + 1).max(3));
    let lines: Vec<String> = block.lines().map(|line| format!("| {line}")).collect();
    format!("{marks}text\n{}\n{marks}", lines.join("\n"))
}

fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Joins pieces up to `most` bytes. A piece is never split.
fn join_within(pieces: Vec<String>, most: usize) -> String {
    let mut done = String::new();
    let whole: usize = pieces.iter().map(String::len).sum();
    if whole <= most {
        return pieces.concat();
    }
    for piece in pieces {
        if done.len() + piece.len() + '…'.len_utf8() > most {
            break;
        }
        done.push_str(&piece);
    }
    done.push('…');
    done
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
            Some((words, after)) if !words.trim().is_empty() => {
                // A space, because adjacent code spans would be parsed as one.
                pieces.push(format!(
                    "{}{}",
                    if after_code { " " } else { "" },
                    code_span(words, 200)
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
    let letters: Vec<char> = text.chars().collect();
    let word = |at: usize| letters.get(at).is_some_and(|c| c.is_alphanumeric());
    let mut number = 0..0;
    for (at, c) in letters.iter().copied().enumerate() {
        let (before, next) = (at > 0 && word(at - 1), letters.get(at + 1).copied());
        if at == 0 || !letters[at - 1].is_ascii_alphanumeric() {
            number = at..at + commit_hash_len(&letters[at..]);
        }
        let mut piece = match c {
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '&' => "&amp;".into(),
            // Two of them would start a math formula.
            '$' => "<span>$</span>".into(),
            '_' if before && word(at + 1) => "_".into(),
            '\\' | '*' | '_' | '[' | ']' | '|' | '~' => format!("\\{c}"),
            '.' if at >= 3 && letters[at - 3..at].iter().all(|c| matches!(c, 'w' | 'W')) => {
                format!("{ZERO_WIDTH_SPACE}.")
            }
            _ => String::from(c),
        };
        let calls = match c {
            '@' => next.is_some_and(|c| !c.is_whitespace()),
            '#' | '!' | '&' | '$' | '^' => next.is_some_and(|c| c.is_ascii_digit()),
            '%' | '~' => next.is_some_and(|c| c.is_alphanumeric() || c == '"'),
            ':' => next == Some('/'),
            '-' => {
                let gh: String = letters[at.saturating_sub(2)..at].iter().collect();
                gh.eq_ignore_ascii_case("gh") && next.is_some_and(|c| c.is_ascii_digit())
            }
            _ => number.contains(&at) && (at - number.start) % 6 == 5,
        };
        if calls {
            piece.push(ZERO_WIDTH_SPACE);
        }
        pieces.push(piece);
    }
}

/// Length of the word at the start, if it could be a commit hash. Otherwise 0.
fn commit_hash_len(letters: &[char]) -> usize {
    let word = letters.iter().take_while(|c| c.is_ascii_alphanumeric());
    let length = word.clone().count();
    if length >= 7 && word.clone().all(char::is_ascii_hexdigit) { length } else { 0 }
}

/// Escapes what is markup only at the start of a line: headings, lists, rules, commands.
fn escape_line_start(mut pieces: Vec<String>) -> Vec<String> {
    let digits = pieces.iter().take_while(|piece| is_digit(piece)).count();
    let at = if pieces.get(digits).is_some_and(|piece| piece == "." || piece == ")") {
        digits
    } else {
        0
    };
    if let Some(piece) = pieces.get_mut(at)
        && piece.starts_with(['#', '+', '-', '=', ':', '/', '.', ')', '!', '%'])
    {
        piece.insert(0, '\\');
    }
    pieces
}

fn is_digit(piece: &str) -> bool {
    piece.len() == 1 && piece.starts_with(|c: char| c.is_ascii_digit())
}
