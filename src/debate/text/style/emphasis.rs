//! Emphasis delimiters (`*`, `_`, `~~`), parsed as delimiter runs like Markdown does. Those in
//! identifiers, formulas and glob patterns are left alone.
use super::chars::{CharAction, is_word_char};

/// A delimiter run. Part of it may already be matched.
struct DelimiterRun {
    delimiter: char,
    start: usize,
    end: usize,
}

/// Marks emphasis delimiters for removal.
pub(super) fn mark_emphasis(chars: &[char], actions: &mut [CharAction]) {
    let mut open: Vec<DelimiterRun> = vec![];
    let mut index = 0;
    while index < chars.len() {
        let delimiter = chars[index];
        if actions[index] != CharAction::Keep || !matches!(delimiter, '*' | '_' | '~') {
            index += 1;
            continue;
        }
        let continues_run =
            |index: &usize| chars[*index] == delimiter && actions[*index] == CharAction::Keep;
        let mut run = DelimiterRun {
            delimiter,
            start: index,
            end: index + (index..chars.len()).take_while(continues_run).count(),
        };
        index = run.end;
        if delimiter == '~' && run.end - run.start != 2 {
            continue;
        }
        if can_close(chars, &run) {
            match_delimiters(&mut run, &mut open, actions);
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
    actions: &mut [CharAction],
) {
    while run.start < run.end {
        let Some(nearest) = open.iter().rposition(|it| it.delimiter == run.delimiter) else {
            return;
        };
        open.truncate(nearest + 1);
        let Some(opener) = open.last_mut() else { return };
        let used = (opener.end - opener.start).min(run.end - run.start);
        actions[opener.end - used..opener.end].fill(CharAction::Drop);
        actions[run.start..run.start + used].fill(CharAction::Drop);
        opener.end -= used;
        run.start += used;
        if opener.start == opener.end {
            open.pop();
        }
    }
}

fn can_open(chars: &[char], run: &DelimiterRun) -> bool {
    let before = run.start.checked_sub(1).map(|at| chars[at]);
    let after = chars.get(run.end).copied();
    let at_boundary = before.is_none_or(|c| !is_word_char(c) && !"/.\\=&^%)]}".contains(c));
    let touches_text = after.is_some_and(|c| !c.is_whitespace() && !"/.,;:!?)]}\\|=".contains(c));
    (at_boundary
        || run.start.checked_sub(3).is_some_and(|from| is_slash_between_emphasis(chars, from)))
        && touches_text
}

fn can_close(chars: &[char], run: &DelimiterRun) -> bool {
    let before = run.start.checked_sub(1).map(|at| chars[at]);
    let after = chars.get(run.end).copied();
    let touches_text = before.is_some_and(|c| !c.is_whitespace() && !"/([{<\\|=".contains(c));
    let at_boundary = after.is_none_or(|c| !is_word_char(c) && !"/\\=&^%([{".contains(c));
    // A dot followed by a word character belongs to a file name such as `__init__.py`.
    let is_file_name =
        after == Some('.') && chars.get(run.end + 1).is_some_and(|c| is_word_char(*c));
    touches_text && (at_boundary || is_slash_between_emphasis(chars, run.start)) && !is_file_name
}

/// Whether this is the slash between two emphasized words, `**a**/**b**`. A glob pattern does not
/// have words on both sides.
fn is_slash_between_emphasis(chars: &[char], start: usize) -> bool {
    let is_word_at = |index: Option<usize>| {
        index.and_then(|index| chars.get(index)).is_some_and(|c| is_word_char(*c))
    };
    chars[start..].starts_with(&['*', '*', '/', '*', '*'])
        && is_word_at(start.checked_sub(1))
        && is_word_at(Some(start + 5))
}
