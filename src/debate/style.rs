//! Style evened out before judging, so that only words count: whoever writes bold headings and
//! rockets says no more than whoever does not.
//!
//! | file | concept |
//! | --- | --- |
//! | `emphasis` | marks of emphasis, told from those in names and sums |
//! | `pictures` | emoji, told from signs that are text |

mod emphasis;
mod pictures;

/// A text without headings, emphasis, rules and pictures. Code stays as it is, every word stays,
/// and what is plain already does not change.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Option<Fence> = None;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        let fence = fence(line);
        match open {
            Some(begun) => {
                out.push_str(whole);
                open = (!closes(line, begun)).then_some(begun);
            }
            None if fence.is_some() => {
                out.push_str(whole);
                open = fence;
            }
            None => {
                if let Some(even) = evened(line) {
                    out.push_str(&even);
                    out.push_str(&whole[line.len()..]);
                }
            }
        }
    }
    out
}

/// A fence that is open: how deep in quotes, of what, and how long.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Fence {
    quotes: usize,
    mark: char,
    length: usize,
}

/// The fence a line opens.
fn fence(line: &str) -> Option<Fence> {
    let (quotes, rest) = quoted(line);
    let rest = rest
        .strip_prefix(['-', '*', '+'])
        .map_or(rest, |item| if item.starts_with([' ', '\t']) { item.trim_start() } else { rest });
    let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = rest.trim_start_matches(mark);
    let length = rest.len() - info.len();
    // What has more of them behind is code within a line.
    let inline = mark == '`' && info.contains('`');
    (length >= 3 && !inline).then_some(Fence { quotes, mark, length })
}

fn closes(line: &str, open: Fence) -> bool {
    let (quotes, rest) = quoted(line);
    let rest = rest.trim_end();
    quotes == open.quotes && rest.len() >= open.length && rest.chars().all(|c| c == open.mark)
}

/// How deep a line is quoted, and what is quoted.
fn quoted(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
    let marks = &line[..line.len() - rest.len()];
    (marks.matches('>').count(), rest)
}

/// A line without style, or nothing if it was nothing else. Taking off one style may lay bare
/// another, so it is repeated.
fn evened(line: &str) -> Option<String> {
    let mut line = line.to_owned();
    loop {
        if is_rule(&line) {
            return None;
        }
        let (mut next, rest) = beginning(&line);
        next.push_str(&inline(rest));
        // A fence that was none before would swallow what follows.
        if next == line || fence(&next).is_some() {
            return Some(line);
        }
        line = next;
    }
}

/// A line between parts, or under a heading.
fn is_rule(line: &str) -> bool {
    let bare: String = line.split_whitespace().collect();
    let all = |mark: char| bare.len() >= 3 && bare.chars().all(|c| c == mark);
    all('-') || all('*') || all('_') || all('=') && !line.trim().contains(char::is_whitespace)
}

/// What a line begins with, evened out, and its words. Headings lose their marks at both ends.
fn beginning(line: &str) -> (String, &str) {
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

/// What becomes of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    /// Stays, and means nothing: code, or behind a backslash.
    Literal,
    Goes,
    /// Goes, and a space next to it.
    Picture,
}

fn inline(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut fates = vec![Fate::Stays; chars.len()];
    literals(&chars, &mut fates);
    emphasis::take_off(&chars, &mut fates);
    pictures::take_out(&chars, &mut fates);
    shouts(&chars, &mut fates);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let gone =
            fates[at..].iter().take_while(|it| matches!(it, Fate::Goes | Fate::Picture)).count();
        if gone == 0 {
            out.push(chars[at]);
            at += 1;
            continue;
        }
        let picture = fates[at..at + gone].contains(&Fate::Picture);
        at += gone;
        let before = out.chars().next_back();
        let after = chars.get(at).copied();
        let open = before.is_none_or(char::is_whitespace);
        if picture && open && after == Some(' ') {
            at += 1;
        } else if picture && after.is_none() && before == Some(' ') {
            out.pop();
        } else if before.is_some_and(is_word) && after.is_some_and(is_word) {
            out.push(' ');
        }
    }
    out
}

/// Code within the line, and what stands behind a backslash.
fn literals(chars: &[char], fates: &mut [Fate]) {
    let run = |at: usize| chars[at..].iter().take_while(|c| **c == '`').count();
    // Where no run of a length follows, none has to be looked for again.
    let mut missing: Vec<usize> = vec![];
    let mut at = 0;
    while at < chars.len() {
        if chars[at] == '\\' && chars.get(at + 1).is_some_and(char::is_ascii_punctuation) {
            fates[at + 1] = Fate::Literal;
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
            fates[at..end + length].fill(Fate::Literal);
            at = end + length;
        }
    }
}

/// Letters and digits of scripts that set spaces between words.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() && !pictures::is_cjk(c)
}

/// Of three marks and more one stays: the question, if there is one.
fn shouts(chars: &[char], fates: &mut [Fate]) {
    let mark = |at: usize| fates[at] == Fate::Stays && "!?！？".contains(chars[at]);
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
        fates[run].fill(Fate::Goes);
        fates[kept] = Fate::Stays;
    }
}
