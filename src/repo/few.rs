//! How many lines differ where few do, counted without hashing any. It is only said where git is
//! sure to say the same.
//!
//! Git looks for the fewest lines that differ, and departs from them in two cases: it guesses from
//! 256 differences on, and it passes over lines that are frequent in the other file and stand among
//! lines the other file has not got. So where fewer differ, and in all that is the same between two
//! differences there is a line that is not frequent, the fewest are what git finds.
use std::io::BufRead;

/// Differences up to which it is worth trying: after that git's own way is faster.
const MOST: usize = 100;
/// What is this frequent is so in a file of any length.
const FREQUENT: usize = 1_024;

/// How many lines were added and deleted. None if that is not beyond doubt.
pub(super) fn count(old: &[u8], new: &[u8]) -> Option<(usize, usize)> {
    let (old, new) = (lines(old), lines(new));
    let same = |(one, other): &(&&[u8], &&[u8])| one == other;
    let head = old.iter().zip(&new).take_while(same).count();
    let (before, after) = (&old[head..], &new[head..]);
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let before = &before[..before.len() - tail];
    let after = &after[..after.len() - tail];
    if before.is_empty() || after.is_empty() {
        return Some((after.len(), before.len()));
    }
    let ways = ways(before, after)?;
    let frequent = |line: &&[u8]| {
        let many = |lines: &[&[u8]]| lines.iter().filter(|other| *other == line).count();
        many(&new) >= frequency(old.len()) || many(&old) >= frequency(new.len())
    };
    let doubt = shared(&ways).into_iter().any(|(first, end)| {
        // The longest is the likeliest to stand there once.
        before[first..end].iter().max_by_key(|line| line.len()).is_some_and(frequent)
    });
    let same = (before.len() + after.len() + 1 - ways.len()) / 2;
    (!doubt).then_some((after.len() - same, before.len() - same))
}

/// With their ends: the last one may have none, and is another line then.
fn lines(mut bytes: &[u8]) -> Vec<&[u8]> {
    let (all, mut lines) = (bytes, Vec::with_capacity(bytes.len() / 32));
    let mut at = 0;
    while let Ok(many @ 1..) = bytes.skip_until(b'\n') {
        lines.push(&all[at..at + many]);
        at += many;
    }
    lines
}

/// How often a line stands in a file to be frequent, for git: about the root of how many there are.
fn frequency(lines: usize) -> usize {
    let digits = usize::BITS - lines.leading_zeros();
    (1 << digits.div_ceil(2)).min(FREQUENT)
}

/// A stretch of lines that are the same, after the last of some edits and as far as it goes.
#[derive(Clone, Copy)]
struct Stretch {
    /// Where it begins and ends in the old file.
    first: usize,
    end: usize,
    /// How many lines farther it is in the old file than in the new one.
    ahead: isize,
    /// The same of the stretch before the edit.
    before: isize,
}

/// The stretches that lead farthest: with no edit, with one, and so on.
type Ways = Vec<Vec<Option<Stretch>>>;

/// The ways to the end with the fewest edits. None if they are too many.
fn ways(old: &[&[u8]], new: &[&[u8]]) -> Option<Ways> {
    let mut ways: Ways = vec![];
    for edits in 0..=MOST {
        let mut row = Vec::with_capacity(edits + 1);
        for nth in 0..=edits {
            let ahead = 2 * nth.cast_signed() - edits.cast_signed();
            let stretch = begun(&ways, ahead, old.len(), new.len()).map(|mut stretch| {
                let mut there = stretch.there(stretch.end);
                while old.get(stretch.end).is_some_and(|line| new.get(there) == Some(line)) {
                    (stretch.end, there) = (stretch.end + 1, there + 1);
                }
                stretch
            });
            row.push(stretch);
            let there =
                stretch.is_some_and(|it| it.end == old.len() && it.there(it.end) == new.len());
            if there {
                ways.push(row);
                return Some(ways);
            }
        }
        ways.push(row);
    }
    None
}

/// Where a stretch begins: a line was deleted, or added, after the one before it. Of two ways, the
/// one that leads farther.
fn begun(ways: &Ways, ahead: isize, old: usize, new: usize) -> Option<Stretch> {
    let Some(last) = ways.last() else {
        return Some(Stretch { first: 0, end: 0, ahead, before: 0 });
    };
    let stretch = |before: isize| {
        let nth = (before + last.len().cast_signed() - 1) / 2;
        let found = usize::try_from(nth).ok().and_then(|nth| *last.get(nth)?)?;
        let first = found.end + usize::from(before < ahead);
        let stretch = Stretch { first, end: first, ahead, before };
        (first <= old && stretch.there(first) <= new).then_some(stretch)
    };
    let (deleted, added) = (stretch(ahead - 1), stretch(ahead + 1));
    [deleted, added].into_iter().flatten().max_by_key(|stretch| stretch.first)
}

/// What is the same between two edits, on the way to the end: from where to where in the old file.
fn shared(ways: &Ways) -> Vec<(usize, usize)> {
    let mut shared = vec![];
    let mut at = ways.last().and_then(|row| *row.last()?);
    for row in ways.iter().rev().skip(1) {
        let Some(after) = at else { return shared };
        let nth = (after.before + row.len().cast_signed() - 1) / 2;
        at = usize::try_from(nth).ok().and_then(|nth| *row.get(nth)?);
        shared.extend(at.map(|stretch| (stretch.first, stretch.end)));
    }
    // What is before the first edit is not between two.
    shared.pop();
    shared
}

impl Stretch {
    /// The place in the new file beside one in the old.
    fn there(&self, here: usize) -> usize {
        here.wrapping_add_signed(-self.ahead)
    }
}
