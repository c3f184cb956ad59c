//! Counts added and deleted lines per file like `git diff --numstat`. Large diffs are split over
//! two threads and end at a timeout. Entry point: `count_lines`.
use super::attributes::{AttributeLookup, DiffAttribute};
use super::object_store::ObjectStore;
use super::tree_delta::{DiffEntry, TreeDelta};
use super::{ExclusionReason, RepoError, myers};
use git2::{Blob, DiffOptions, Patch};
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum size in bytes of a file whose lines are counted.
const MAX_COUNTED_BYTES: u64 = 32 * 1024 * 1024;
/// Number of files from which a second thread, with its own repository handle, pays off.
const MIN_PARALLEL_FILES: usize = 64;
/// Files a thread takes from the queue at once.
const BATCH_SIZE: usize = 32;
/// Timeout. Files not counted by then are reported as unknown.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes checked for a NUL byte to detect binary files, as git does.
const BINARY_SNIFF_BYTES: usize = 8_000;

/// Line counts of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineCounts {
    /// Counted as `git diff --numstat` does.
    Counted {
        /// Lines only in the new version.
        added: usize,
        /// Lines only in the old version.
        deleted: usize,
    },
    /// The file is not text.
    Binary,
    /// Not counted, with the reason.
    Unknown(ExclusionReason),
}

/// Line counts of all changes, in the same order.
pub(super) fn count_lines(
    stores: &ObjectStore,
    open_store: &(dyn Fn() -> Result<ObjectStore, RepoError> + Sync),
    changes: &[TreeDelta],
    attribute_policy: AttributePolicy,
) -> Vec<LineCounts> {
    count_lines_with_clock(&Instant::now, stores, open_store, changes, attribute_policy)
}

fn count_lines_with_clock(
    clock: &(dyn Fn() -> Instant + Sync),
    stores: &ObjectStore,
    open_store: &(dyn Fn() -> Result<ObjectStore, RepoError> + Sync),
    changes: &[TreeDelta],
    attribute_policy: AttributePolicy,
) -> Vec<LineCounts> {
    let deadline = clock() + TIMEOUT;
    let next_index = AtomicUsize::new(0);
    let counter = LineCounter { changes, next_index, clock, deadline, attribute_policy };
    let mut lines = vec![LineCounts::Unknown(ExclusionReason::TooMuch); changes.len()];
    let results = thread::scope(|scope| {
        let worker = (changes.len() >= MIN_PARALLEL_FILES).then(|| {
            scope.spawn(|| open_store().map_or_else(|_| vec![], |store| counter.run_worker(&store)))
        });
        let mut results = counter.run_worker(stores);
        results.extend(worker.and_then(|worker| worker.join().ok()).unwrap_or_default());
        results
    });
    for (index, counts) in results {
        lines[index] = counts;
    }
    lines
}

/// Whether `.gitattributes` decide what is binary. They are ignored for a change under review,
/// whose author could declare all files binary and so hide them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributePolicy {
    Honor,
    Ignore,
}

/// Whether the contents are binary: a NUL byte near the beginning.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(BINARY_SNIFF_BYTES)];
    // `skip_until` uses the platform's optimized `memchr`.
    let read = (&mut &*beginning).skip_until(0).unwrap_or_default();
    read.checked_sub(1).is_some_and(|last| beginning[last] == 0)
}

/// Work queue shared by the threads.
struct LineCounter<'a> {
    changes: &'a [TreeDelta],
    next_index: AtomicUsize,
    clock: &'a (dyn Fn() -> Instant + Sync),
    deadline: Instant,
    attribute_policy: AttributePolicy,
}

impl LineCounter<'_> {
    fn run_worker(&self, stores: &ObjectStore) -> Vec<(usize, LineCounts)> {
        let user_repo =
            stores.user_repo().filter(|_| self.attribute_policy == AttributePolicy::Honor);
        let (mut counted, mut attributes) = (vec![], AttributeLookup::new(user_repo));
        loop {
            // Batches, because neighbouring paths are often close in the pack file, too.
            let first = self.next_index.fetch_add(BATCH_SIZE, Ordering::Relaxed);
            let batch = self.changes.iter().enumerate().skip(first).take(BATCH_SIZE);
            for (index, change) in batch {
                if (self.clock)() >= self.deadline {
                    return counted;
                }
                let counts = count_change(stores, &mut attributes, change);
                counted.push((index, counts.unwrap_or_else(LineCounts::Unknown)));
            }
            if first >= self.changes.len() {
                return counted;
            }
        }
    }
}

fn count_change(
    stores: &ObjectStore,
    attributes: &mut AttributeLookup<'_>,
    change: &TreeDelta,
) -> Result<LineCounts, ExclusionReason> {
    let is_same = change.old.map(|entry| entry.id) == change.new.map(|entry| entry.id);
    let old_path = change.old_path.as_deref().unwrap_or(&change.path);
    let (old, old_is_binary) = load_side(stores, attributes, old_path, change.old)?;
    if is_same && !old_is_binary {
        return Ok(LineCounts::Counted { added: 0, deleted: 0 });
    }
    let (new, new_is_binary) =
        load_side(stores, attributes, &change.path, change.new.filter(|_| !is_same))?;
    if old_is_binary || new_is_binary {
        return Ok(LineCounts::Binary);
    }
    let (added, deleted) = match (change.old, change.new) {
        (None, _) => (line_count(new.bytes()), 0),
        (_, None) => (0, line_count(old.bytes())),
        _ => myers::count_small_diff(old.bytes(), new.bytes())
            .or_else(|| diff_line_counts(&old, &new))
            .ok_or(ExclusionReason::Unreadable)?,
    };
    Ok(LineCounts::Counted { added, deleted })
}

/// One side of a line comparison.
enum NumstatSide<'a> {
    Absent,
    Blob(Blob<'a>),
    Submodule(String),
}

impl NumstatSide<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            NumstatSide::Absent => &[],
            NumstatSide::Blob(blob) => blob.content(),
            NumstatSide::Submodule(line) => line.as_bytes(),
        }
    }
}

/// Loads one side, and whether it is binary.
fn load_side<'a>(
    stores: &'a ObjectStore,
    attributes: &mut AttributeLookup<'_>,
    path: &[u8],
    entry: Option<DiffEntry>,
) -> Result<(NumstatSide<'a>, bool), ExclusionReason> {
    let Some(entry) = entry else { return Ok((NumstatSide::Absent, false)) };
    if entry.is_submodule() {
        return Ok((NumstatSide::Submodule(format!("Subproject commit {}\n", entry.id)), false));
    }
    let (size, _) = stores.object_header(entry.id).ok_or(ExclusionReason::Unreadable)?;
    if size > MAX_COUNTED_BYTES {
        return Err(ExclusionReason::TooLarge);
    }
    let blob = stores.find_blob(entry.id).ok_or(ExclusionReason::Unreadable)?;
    let binary = match attributes.diff_attribute(path) {
        DiffAttribute::Text => false,
        DiffAttribute::Binary => true,
        DiffAttribute::Unset => is_binary(blob.content()),
    };
    Ok((NumstatSide::Blob(blob), binary))
}

/// Number of lines. The last line needs no newline.
fn line_count(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').count()
}

fn diff_line_counts(old: &NumstatSide<'_>, new: &NumstatSide<'_>) -> Option<(usize, usize)> {
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let patch = match (old, new) {
        (NumstatSide::Blob(old), NumstatSide::Blob(new)) => diff_blobs(old, new, &mut options),
        _ => Patch::from_buffers(old.bytes(), None, new.bytes(), None, Some(&mut options)),
    };
    let (_, added, deleted) = patch.ok()?.line_stats().ok()?;
    Some((added, deleted))
}

/// Diffs two blobs by their known ids, which saves hashing the buffers. The empty path keeps git
/// attributes out of the diff.
pub(super) fn diff_blobs<'b>(
    old: &Blob<'b>,
    new: &Blob<'b>,
    options: &mut DiffOptions,
) -> Result<Patch<'b>, git2::Error> {
    let no_path = Some(Path::new(""));
    Patch::from_blobs(old, no_path, new, no_path, Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo, clock_after};
    use git2::Oid;

    fn added_file(id: Oid) -> TreeDelta {
        let new = Some(DiffEntry { id, mode: FILE_MODE });
        TreeDelta { path: b"a.rs".to_vec(), old_path: None, old: None, new }
    }

    #[test]
    fn lines_of_files_over_32_mib_are_not_counted() {
        let repo = TempRepo::new();
        let max_bytes = usize::try_from(MAX_COUNTED_BYTES).unwrap();
        let bytes = vec![b'x'; max_bytes + 1];
        let count = |bytes: &[u8]| {
            let change = added_file(repo.blob(bytes));
            count_change(&repo.object_store(), &mut AttributeLookup::new(None), &change)
        };
        let one_line = LineCounts::Counted { added: 1, deleted: 0 };
        assert_eq!(count(&bytes[..max_bytes]), Ok(one_line));
        assert_eq!(count(&bytes), Err(ExclusionReason::TooLarge));
        assert_eq!(MAX_COUNTED_BYTES, 32 * 1024 * 1024);
    }

    #[test]
    fn counting_ends_at_the_timeout() {
        let repo = TempRepo::new();
        let changes = [added_file(repo.blob(b"x"))];
        let (stores, home, root) = (repo.object_store(), repo.home(), repo.root());
        let count_after = |elapsed: Duration| {
            let open_store = || ObjectStore::open(&home, &root);
            count_lines_with_clock(
                &clock_after(elapsed),
                &stores,
                &open_store,
                &changes,
                AttributePolicy::Ignore,
            )
        };
        let in_time = count_after(TIMEOUT.saturating_sub(Duration::from_nanos(1)));
        assert_eq!(in_time, [LineCounts::Counted { added: 1, deleted: 0 }]);
        assert_eq!(count_after(TIMEOUT), [LineCounts::Unknown(ExclusionReason::TooMuch)]);
        assert_eq!(TIMEOUT, Duration::from_secs(10));
    }
}
