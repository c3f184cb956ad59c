//! Line counts of small diffs by Myers' O(ND) algorithm, without hashing lines. Returns counts only
//! if git certainly reports the same, otherwise `numstat` falls back to libgit2.
//!
//! Git searches for the shortest edit script, too, and departs from it in two cases: it uses a
//! heuristic from 256 edits on, and it ignores lines that are frequent in the other file and
//! surrounded by lines the other file lacks. So the shortest script is what git finds if there are
//! fewer edits and every common run between two edits has a line that is not frequent.
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
    let ways = shortest_edit_trace(before, after)?;
    let frequent = |line: &&[u8]| {
        let many = |lines: &[&[u8]]| lines.iter().filter(|other| *other == line).count();
        many(&new) >= frequency_threshold(old.len()) || many(&old) >= frequency_threshold(new.len())
    };
    let doubt = common_runs(&ways).into_iter().any(|(first, end)| {
        // The longest line is the most likely to be unique.
        before[first..end].iter().max_by_key(|line| line.len()).is_some_and(frequent)
    });
    let same = (before.len() + after.len() + 1 - ways.len()) / 2;
    (!doubt).then_some((after.len() - same, before.len() - same))
}

/// Splits into lines with their newline. A last line without one differs from the same line with
/// it.
fn split_lines(mut bytes: &[u8]) -> Vec<&[u8]> {
    let (all, mut lines) = (bytes, Vec::with_capacity(bytes.len() / 32));
    let mut at = 0;
    while let Ok(many @ 1..) = bytes.skip_until(b'\n') {
        lines.push(&all[at..at + many]);
        at += many;
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
    let mut ways: EditTrace = vec![];
    for edits in 0..=MAX_EDITS {
        let mut row = Vec::with_capacity(edits + 1);
        for nth in 0..=edits {
            let ahead = 2 * nth.cast_signed() - edits.cast_signed();
            let stretch = snake_start(&ways, ahead, old.len(), new.len()).map(|mut stretch| {
                let mut there = stretch.new_index(stretch.end);
                while old.get(stretch.end).is_some_and(|line| new.get(there) == Some(line)) {
                    (stretch.end, there) = (stretch.end + 1, there + 1);
                }
                stretch
            });
            row.push(stretch);
            let there =
                stretch.is_some_and(|it| it.end == old.len() && it.new_index(it.end) == new.len());
            if there {
                ways.push(row);
                return Some(ways);
            }
        }
        ways.push(row);
    }
    None
}

/// Start of a snake: after a deletion or an insertion that follows the previous snake. Picks the
/// one that reaches further.
fn snake_start(ways: &EditTrace, ahead: isize, old: usize, new: usize) -> Option<Snake> {
    let Some(last) = ways.last() else {
        return Some(Snake { start: 0, end: 0, diagonal: ahead, previous_diagonal: 0 });
    };
    let stretch = |before: isize| {
        let nth = (before + last.len().cast_signed() - 1) / 2;
        let found = usize::try_from(nth).ok().and_then(|nth| *last.get(nth)?)?;
        let first = found.end + usize::from(before < ahead);
        let stretch =
            Snake { start: first, end: first, diagonal: ahead, previous_diagonal: before };
        (first <= old && stretch.new_index(first) <= new).then_some(stretch)
    };
    let (deleted, added) = (stretch(ahead - 1), stretch(ahead + 1));
    [deleted, added].into_iter().flatten().max_by_key(|stretch| stretch.start)
}

/// Backtracks the script and returns the common runs between two edits, as ranges in the old file.
fn common_runs(ways: &EditTrace) -> Vec<(usize, usize)> {
    let mut shared = vec![];
    let mut at = ways.last().and_then(|row| *row.last()?);
    for row in ways.iter().rev().skip(1) {
        let Some(after) = at else { return shared };
        let nth = (after.previous_diagonal + row.len().cast_signed() - 1) / 2;
        at = usize::try_from(nth).ok().and_then(|nth| *row.get(nth)?);
        shared.extend(at.map(|stretch| (stretch.start, stretch.end)));
    }
    // The run before the first edit does not count.
    shared.pop();
    shared
}

impl Snake {
    /// Index in the new file that corresponds to one in the old file.
    fn new_index(&self, here: usize) -> usize {
        here.wrapping_add_signed(-self.diagonal)
    }
}
