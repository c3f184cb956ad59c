//! How many lines were added and deleted, as `git diff --numstat` counts them. Contents are only
//! counted here and go nowhere, and very many files are counted by two at once.
use super::attributes::{Attributes, Said};
use super::changes::{Change, Entry, Lines};
use super::stores::Stores;
use super::{RepoError, Why};
use git2::{DiffOptions, Patch};
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes a file may have for its lines to be counted.
const LARGEST_COUNTED: u64 = 32 * 1024 * 1024;
/// Files from which on it is worth opening the repository once more.
const MANY: usize = 64;
/// Files that are counted in a row by the same.
const NEIGHBOURS: usize = 32;
/// After this long the rest is not counted any more, and each of the rest says so.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes in which a file that is not text gives itself away.
const TELLTALE: usize = 8_000;

/// The lines of every change, in the same order.
pub(super) fn count(
    stores: &Stores,
    again: &(dyn Fn() -> Result<Stores, RepoError> + Sync),
    changes: &[Change],
) -> Vec<Lines> {
    let counting =
        Counting { changes, next: AtomicUsize::new(0), until: Instant::now() + PATIENCE };
    let mut lines = vec![Lines::Unknown(Why::TooMuch); changes.len()];
    let counted = thread::scope(|scope| {
        let other = (changes.len() >= MANY)
            .then(|| scope.spawn(|| again().map_or_else(|_| vec![], |own| counting.work(&own))));
        let mut counted = counting.work(stores);
        counted.extend(other.and_then(|other| other.join().ok()).unwrap_or_default());
        counted
    });
    for (at, found) in counted {
        lines[at] = found;
    }
    lines
}

/// Whether something is not text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(TELLTALE).any(|byte| *byte == 0)
}

/// The work, shared by whoever takes part in it.
struct Counting<'a> {
    changes: &'a [Change],
    next: AtomicUsize,
    until: Instant,
}

impl Counting<'_> {
    fn work(&self, stores: &Stores) -> Vec<(usize, Lines)> {
        let (mut counted, mut attributes) = (vec![], Attributes::of(stores.theirs()));
        loop {
            // Neighbours are near each other in the repository, too.
            let first = self.next.fetch_add(NEIGHBOURS, Ordering::Relaxed);
            let some = self.changes.iter().enumerate().skip(first).take(NEIGHBOURS);
            for (at, change) in some {
                if Instant::now() >= self.until {
                    return counted;
                }
                let found = lines(stores, &mut attributes, change);
                counted.push((at, found.unwrap_or_else(Lines::Unknown)));
            }
            if first >= self.changes.len() {
                return counted;
            }
        }
    }
}

fn lines(stores: &Stores, attributes: &mut Attributes<'_>, change: &Change) -> Result<Lines, Why> {
    let same = change.old.map(|entry| entry.id) == change.new.map(|entry| entry.id);
    let before = change.from.as_deref().unwrap_or(&change.path);
    let old = side(stores, attributes, before, change.old)?;
    let new = if same {
        Side { bytes: old.bytes.clone(), ..old }
    } else {
        side(stores, attributes, &change.path, change.new)?
    };
    if old.binary || new.binary {
        return Ok(Lines::Binary);
    }
    let (added, deleted) = match (change.old, change.new) {
        _ if same => (0, 0),
        (None, _) => (many(&new.bytes), 0),
        (_, None) => (0, many(&old.bytes)),
        _ => compared(&old.bytes, &new.bytes).ok_or(Why::Unreadable)?,
    };
    Ok(Lines::Counted { added, deleted })
}

/// What stands on one side of a comparison.
struct Side<'a> {
    bytes: Cow<'a, [u8]>,
    binary: bool,
}

fn side<'a>(
    stores: &Stores,
    attributes: &mut Attributes<'_>,
    path: &[u8],
    entry: Option<Entry>,
) -> Result<Side<'a>, Why> {
    let Some(entry) = entry else { return Ok(Side { bytes: Cow::Borrowed(&[]), binary: false }) };
    if entry.is_submodule() {
        let line = format!("Subproject commit {}\n", entry.id);
        return Ok(Side { bytes: Cow::Owned(line.into_bytes()), binary: false });
    }
    let (size, _) = stores.header(entry.id).ok_or(Why::Unreadable)?;
    if size > LARGEST_COUNTED {
        return Err(Why::TooLarge);
    }
    let bytes = stores.bytes(entry.id).ok_or(Why::Unreadable)?;
    let binary = match attributes.say(path) {
        Said::Text => false,
        Said::Binary => true,
        Said::Nothing => is_binary(&bytes),
    };
    Ok(Side { bytes: Cow::Owned(bytes), binary })
}

/// How many lines there are; the last one need not end.
fn many(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').count()
}

fn compared(old: &[u8], new: &[u8]) -> Option<(usize, usize)> {
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).ok()?;
    let (_, added, deleted) = patch.line_stats().ok()?;
    Some((added, deleted))
}
