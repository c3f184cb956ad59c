//! Emphasis delimiters (`*`, `_`, `~~`), parsed as delimiter runs like Markdown does. Those in
//! identifiers, formulas and glob patterns are left alone.
use super::{Fate, is_word};

/// A delimiter run. Part of it may already be matched.
struct Run {
    mark: char,
    from: usize,
    to: usize,
}

/// Marks emphasis delimiters for removal.
pub(super) fn take_off(chars: &[char], fates: &mut [Fate]) {
    let mut open: Vec<Run> = vec![];
    let mut at = 0;
    while at < chars.len() {
        let mark = chars[at];
        if fates[at] != Fate::Stays || !matches!(mark, '*' | '_' | '~') {
            at += 1;
            continue;
        }
        let same = |at: &usize| chars[*at] == mark && fates[*at] == Fate::Stays;
        let mut run = Run { mark, from: at, to: at + (at..chars.len()).take_while(same).count() };
        at = run.to;
        if mark == '~' && run.to - run.from != 2 {
            continue;
        }
        if may_close(chars, &run) {
            close(&mut run, &mut open, fates);
        }
        if run.from < run.to && may_open(chars, &run) {
            open.push(run);
        }
    }
}

/// Matches a closing run with earlier opening runs, nearest first. Unmatched runs in between stay.
fn close(run: &mut Run, open: &mut Vec<Run>, fates: &mut [Fate]) {
    while run.from < run.to {
        let Some(nearest) = open.iter().rposition(|it| it.mark == run.mark) else { return };
        open.truncate(nearest + 1);
        let Some(begun) = open.last_mut() else { return };
        let used = (begun.to - begun.from).min(run.to - run.from);
        fates[begun.to - used..begun.to].fill(Fate::Goes);
        fates[run.from..run.from + used].fill(Fate::Goes);
        begun.to -= used;
        run.from += used;
        if begun.from == begun.to {
            open.pop();
        }
    }
}

fn may_open(chars: &[char], run: &Run) -> bool {
    let before = run.from.checked_sub(1).map(|at| chars[at]);
    let after = chars.get(run.to).copied();
    let room = before.is_none_or(|c| !is_word(c) && !"/.\\=&^%)]}".contains(c));
    let words = after.is_some_and(|c| !c.is_whitespace() && !"/.,;:!?)]}\\|=".contains(c));
    (room || run.from.checked_sub(3).is_some_and(|from| is_slash(chars, from))) && words
}

fn may_close(chars: &[char], run: &Run) -> bool {
    let before = run.from.checked_sub(1).map(|at| chars[at]);
    let after = chars.get(run.to).copied();
    let words = before.is_some_and(|c| !c.is_whitespace() && !"/([{<\\|=".contains(c));
    let room = after.is_none_or(|c| !is_word(c) && !"/\\=&^%([{".contains(c));
    // A dot followed by a word character belongs to a file name such as `__init__.py`.
    let file = after == Some('.') && chars.get(run.to + 1).is_some_and(|c| is_word(*c));
    words && (room || is_slash(chars, run.from)) && !file
}

/// Whether this is the slash between two emphasized words, `**a**/**b**`. A glob pattern does not
/// have words on both sides.
fn is_slash(chars: &[char], from: usize) -> bool {
    let word = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| is_word(*c));
    chars[from..].starts_with(&['*', '*', '/', '*', '*'])
        && word(from.checked_sub(1))
        && word(Some(from + 5))
}
