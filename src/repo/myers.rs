//! Line counts of small diffs by Myers' O(ND) algorithm, without hashing lines. Returns counts only
//! if git certainly reports the same, otherwise `numstat` falls back to libgit2.
//!
//! Git searches for the shortest edit script, too, and departs from it in two cases: it uses a
//! heuristic from 256 edits on, and it ignores lines that are frequent in the other file and
//! surrounded by lines the other file lacks. So the shortest script is what git finds if there are
//! fewer edits and every common run between two edits has a line that is not frequent.
//!
//! Over 4,005 changed files of this repository's history that is 1.5 times as fast as libgit2 alone
//! (77 against 114 µs a file), with the same counts. `imara-diff` took 26 µs, but counted 47 of
//! these files (1.2 %) unlike git, 9 of them among the files that are certain here.
use std::io::BufRead;

/// Maximum number of edits tried. Beyond that git's implementation is faster.
const MAX_EDITS: usize = 100;
/// Upper bound of the frequency threshold for files of any length.
const MAX_FREQUENCY: usize = 1_024;

/// Added and deleted lines. None if git might count differently.
pub(super) fn count_small_diff(old: &[u8], new: &[u8]) -> Option<(usize, usize)> {
    let (old, new) = (split_lines(old), split_lines(new));
    let same = |(one, other): &(&&[u8], &&[u8])| one == other;
    let head = old.iter().zip(&new).take_while(same).count();
    let (before, after) = (&old[head..], &new[head..]);
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let before = &before[..before.len() - tail];
    let after = &after[..after.len() - tail];
    if before.is_empty() || after.is_empty() {
        return Some((after.len(), before.len()));
    }
    let trace = shortest_edit_trace(before, after)?;
    let is_frequent = |line: &&[u8]| {
        let occurrences = |lines: &[&[u8]]| lines.iter().filter(|other| *other == line).count();
        occurrences(&new) >= frequency_threshold(old.len())
            || occurrences(&old) >= frequency_threshold(new.len())
    };
    let is_uncertain = common_runs(&trace).into_iter().any(|(first, end)| {
        // The longest line is the most likely to be unique.
        before[first..end].iter().max_by_key(|line| line.len()).is_some_and(is_frequent)
    });
    let same = (before.len() + after.len() + 1 - trace.len()) / 2;
    (!is_uncertain).then_some((after.len() - same, before.len() - same))
}

/// Splits into lines with their newline. A last line without one differs from the same line with
/// it.
fn split_lines(mut bytes: &[u8]) -> Vec<&[u8]> {
    let (all, mut lines) = (bytes, Vec::with_capacity(bytes.len() / 32));
    let mut offset = 0;
    while let Ok(length @ 1..) = bytes.skip_until(b'\n') {
        lines.push(&all[offset..offset + length]);
        offset += length;
    }
    lines
}

/// Occurrences from which git considers a line frequent: about the square root of the line count.
fn frequency_threshold(lines: usize) -> usize {
    let digits = usize::BITS - lines.leading_zeros();
    (1 << digits.div_ceil(2)).min(MAX_FREQUENCY)
}

/// A snake in Myers' terms: a maximal run of equal lines after an edit.
#[derive(Clone, Copy)]
struct Snake {
    /// Start and end index in the old file.
    start: usize,
    end: usize,
    /// Diagonal: index in the old file minus index in the new file.
    diagonal: isize,
    /// Diagonal of the snake before the edit.
    previous_diagonal: isize,
}

/// Furthest-reaching snakes, indexed by number of edits, then by diagonal.
type EditTrace = Vec<Vec<Option<Snake>>>;

/// Computes the shortest edit script. None if it exceeds `MAX_EDITS`.
fn shortest_edit_trace(old: &[&[u8]], new: &[&[u8]]) -> Option<EditTrace> {
    let mut trace: EditTrace = vec![];
    for edits in 0..=MAX_EDITS {
        let mut row = Vec::with_capacity(edits + 1);
        for index in 0..=edits {
            let diagonal = 2 * index.cast_signed() - edits.cast_signed();
            let snake = snake_start(&trace, diagonal, old.len(), new.len()).map(|mut snake| {
                let mut new_index = snake.new_index(snake.end);
                while old.get(snake.end).is_some_and(|line| new.get(new_index) == Some(line)) {
                    (snake.end, new_index) = (snake.end + 1, new_index + 1);
                }
                snake
            });
            row.push(snake);
            let is_end =
                snake.is_some_and(|it| it.end == old.len() && it.new_index(it.end) == new.len());
            if is_end {
                trace.push(row);
                return Some(trace);
            }
        }
        trace.push(row);
    }
    None
}

/// Start of a snake: after a deletion or an insertion that follows the previous snake. Picks the
/// one that reaches further.
fn snake_start(
    trace: &EditTrace,
    diagonal: isize,
    old_len: usize,
    new_len: usize,
) -> Option<Snake> {
    let Some(last) = trace.last() else {
        return Some(Snake { start: 0, end: 0, diagonal, previous_diagonal: 0 });
    };
    let snake = |previous_diagonal: isize| {
        let index = (previous_diagonal + last.len().cast_signed() - 1) / 2;
        let previous = usize::try_from(index).ok().and_then(|index| *last.get(index)?)?;
        let start = previous.end + usize::from(previous_diagonal < diagonal);
        let snake = Snake { start, end: start, diagonal, previous_diagonal };
        (start <= old_len && snake.new_index(start) <= new_len).then_some(snake)
    };
    let (deleted, added) = (snake(diagonal - 1), snake(diagonal + 1));
    [deleted, added].into_iter().flatten().max_by_key(|snake| snake.start)
}

/// Backtracks the script and returns the common runs between two edits, as ranges in the old file.
fn common_runs(trace: &EditTrace) -> Vec<(usize, usize)> {
    let mut runs = vec![];
    let mut current = trace.last().and_then(|row| *row.last()?);
    for row in trace.iter().rev().skip(1) {
        let Some(later) = current else { return runs };
        let index = (later.previous_diagonal + row.len().cast_signed() - 1) / 2;
        current = usize::try_from(index).ok().and_then(|index| *row.get(index)?);
        runs.extend(current.map(|snake| (snake.start, snake.end)));
    }
    // The run before the first edit does not count.
    runs.pop();
    runs
}

impl Snake {
    /// Index in the new file that corresponds to one in the old file.
    fn new_index(&self, old_index: usize) -> usize {
        old_index.wrapping_add_signed(-self.diagonal)
    }
}
