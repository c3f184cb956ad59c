//! Counts added and deleted lines per file like `git diff --numstat`. Large diffs are split over
//! two threads and end at a timeout. Entry point: `count_lines`.
use super::attributes::{Attributes, Said};
use super::changes::{Change, Entry, Lines};
use super::stores::Stores;
use super::{RepoError, Why, few};
use git2::{Blob, DiffOptions, Patch};
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum size in bytes of a file whose lines are counted.
const LARGEST_COUNTED: u64 = 32 * 1024 * 1024;
/// Number of files from which a second thread, with its own repository handle, pays off.
const MANY: usize = 64;
/// Files a thread takes from the queue at once.
const NEIGHBOURS: usize = 32;
/// Timeout. Files not counted by then are reported as unknown.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes checked for a NUL byte to detect binary files, as git does.
const TELLTALE: usize = 8_000;

/// Line counts of all changes, in the same order.
pub(super) fn count(
    stores: &Stores,
    again: &(dyn Fn() -> Result<Stores, RepoError> + Sync),
    changes: &[Change],
    heeded: Heeded,
) -> Vec<Lines> {
    let counting =
        Counting { changes, next: AtomicUsize::new(0), until: Instant::now() + PATIENCE, heeded };
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

/// Whether `.gitattributes` decide what is binary. They are ignored for a change under review,
/// whose author could declare all files binary and so hide them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heeded {
    Yes,
    No,
}

/// Whether the contents are binary: a NUL byte near the beginning.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(TELLTALE)];
    // `skip_until` uses the platform's optimized `memchr`.
    let read = (&mut &*beginning).skip_until(0).unwrap_or_default();
    read.checked_sub(1).is_some_and(|last| beginning[last] == 0)
}

/// Work queue shared by the threads.
struct Counting<'a> {
    changes: &'a [Change],
    next: AtomicUsize,
    until: Instant,
    heeded: Heeded,
}

impl Counting<'_> {
    fn work(&self, stores: &Stores) -> Vec<(usize, Lines)> {
        let heeded = stores.theirs().filter(|_| self.heeded == Heeded::Yes);
        let (mut counted, mut attributes) = (vec![], Attributes::of(heeded));
        loop {
            // Batches, because neighbouring paths are often close in the pack file, too.
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
    let (old, is_binary) = side(stores, attributes, before, change.old)?;
    if same && !is_binary {
        return Ok(Lines::Counted { added: 0, deleted: 0 });
    }
    let (new, is_too) = side(stores, attributes, &change.path, change.new.filter(|_| !same))?;
    if is_binary || is_too {
        return Ok(Lines::Binary);
    }
    let (added, deleted) = match (change.old, change.new) {
        (None, _) => (many(new.bytes()), 0),
        (_, None) => (0, many(old.bytes())),
        _ => few::count(old.bytes(), new.bytes())
            .or_else(|| compared(&old, &new))
            .ok_or(Why::Unreadable)?,
    };
    Ok(Lines::Counted { added, deleted })
}

/// One side of a line comparison.
enum Side<'a> {
    Nothing,
    Blob(Blob<'a>),
    Submodule(String),
}

impl Side<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Side::Nothing => &[],
            Side::Blob(blob) => blob.content(),
            Side::Submodule(line) => line.as_bytes(),
        }
    }
}

/// Loads one side, and whether it is binary.
fn side<'a>(
    stores: &'a Stores,
    attributes: &mut Attributes<'_>,
    path: &[u8],
    entry: Option<Entry>,
) -> Result<(Side<'a>, bool), Why> {
    let Some(entry) = entry else { return Ok((Side::Nothing, false)) };
    if entry.is_submodule() {
        return Ok((Side::Submodule(format!("Subproject commit {}\n", entry.id)), false));
    }
    let (size, _) = stores.header(entry.id).ok_or(Why::Unreadable)?;
    if size > LARGEST_COUNTED {
        return Err(Why::TooLarge);
    }
    let blob = stores.blob(entry.id).ok_or(Why::Unreadable)?;
    let binary = match attributes.say(path) {
        Said::Text => false,
        Said::Binary => true,
        Said::Nothing => is_binary(blob.content()),
    };
    Ok((Side::Blob(blob), binary))
}

/// Number of lines. The last line needs no newline.
fn many(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').count()
}

fn compared(old: &Side<'_>, new: &Side<'_>) -> Option<(usize, usize)> {
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let patch = match (old, new) {
        (Side::Blob(old), Side::Blob(new)) => patch_of(old, new, &mut options),
        _ => Patch::from_buffers(old.bytes(), None, new.bytes(), None, Some(&mut options)),
    };
    let (_, added, deleted) = patch.ok()?.line_stats().ok()?;
    Some((added, deleted))
}

/// Diffs two blobs by their known ids, which saves hashing the buffers. The empty path keeps git
/// attributes out of the diff.
pub(super) fn patch_of<'b>(
    old: &Blob<'b>,
    new: &Blob<'b>,
    options: &mut DiffOptions,
) -> Result<Patch<'b>, git2::Error> {
    let nameless = Some(Path::new(""));
    Patch::from_blobs(old, nameless, new, nameless, Some(options))
}
