//! Emphasis delimiters (`*`, `_`, `~~`), parsed as delimiter runs like Markdown does. Those in
//! identifiers, formulas and glob patterns are left alone.
use super::{CharAction, is_word_char};

/// A delimiter run. Part of it may already be matched.
struct DelimiterRun {
    delimiter: char,
    start: usize,
    end: usize,
}

/// Marks emphasis delimiters for removal.
pub(super) fn mark_emphasis(chars: &[char], fates: &mut [CharAction]) {
    let mut open: Vec<DelimiterRun> = vec![];
    let mut at = 0;
    while at < chars.len() {
        let mark = chars[at];
        if fates[at] != CharAction::Keep || !matches!(mark, '*' | '_' | '~') {
            at += 1;
            continue;
        }
        let same = |at: &usize| chars[*at] == mark && fates[*at] == CharAction::Keep;
        let mut run = DelimiterRun {
            delimiter: mark,
            start: at,
            end: at + (at..chars.len()).take_while(same).count(),
        };
        at = run.end;
        if mark == '~' && run.end - run.start != 2 {
            continue;
        }
        if can_close(chars, &run) {
            match_delimiters(&mut run, &mut open, fates);
        }
        if run.start < run.end && can_open(chars, &run) {
            open.push(run);
        }
    }
}

/// Matches a closing run with earlier opening runs, nearest first. Unmatched runs in between stay.
fn match_delimiters(
    run: &mut DelimiterRun,
    open: &mut Vec<DelimiterRun>,
    fates: &mut [CharAction],
) {
    while run.start < run.end {
        let Some(nearest) = open.iter().rposition(|it| it.delimiter == run.delimiter) else {
            return;
        };
        open.truncate(nearest + 1);
        let Some(begun) = open.last_mut() else { return };
        let used = (begun.end - begun.start).min(run.end - run.start);
        fates[begun.end - used..begun.end].fill(CharAction::Drop);
        fates[run.start..run.start + used].fill(CharAction::Drop);
        begun.end -= used;
        run.start += used;
        if begun.start == begun.end {
            open.pop();
        }
    }
}

fn can_open(chars: &[char], run: &DelimiterRun) -> bool {
    let before = run.start.checked_sub(1).map(|at| chars[at]);
    let after = chars.get(run.end).copied();
    let room = before.is_none_or(|c| !is_word_char(c) && !"/.\\=&^%)]}".contains(c));
    let words = after.is_some_and(|c| !c.is_whitespace() && !"/.,;:!?)]}\\|=".contains(c));
    (room || run.start.checked_sub(3).is_some_and(|from| is_slash_between_emphasis(chars, from)))
        && words
}

fn can_close(chars: &[char], run: &DelimiterRun) -> bool {
    let before = run.start.checked_sub(1).map(|at| chars[at]);
    let after = chars.get(run.end).copied();
    let words = before.is_some_and(|c| !c.is_whitespace() && !"/([{<\\|=".contains(c));
    let room = after.is_none_or(|c| !is_word_char(c) && !"/\\=&^%([{".contains(c));
    // A dot followed by a word character belongs to a file name such as `__init__.py`.
    let file = after == Some('.') && chars.get(run.end + 1).is_some_and(|c| is_word_char(*c));
    words && (room || is_slash_between_emphasis(chars, run.start)) && !file
}

/// Whether this is the slash between two emphasized words, `**a**/**b**`. A glob pattern does not
/// have words on both sides.
fn is_slash_between_emphasis(chars: &[char], from: usize) -> bool {
    let word =
        |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| is_word_char(*c));
    chars[from..].starts_with(&['*', '*', '/', '*', '*'])
        && word(from.checked_sub(1))
        && word(Some(from + 5))
}
