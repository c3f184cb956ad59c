//! Parallel search: finds the first of many files that contains a term, on up to two threads.
use super::bloom_index;
use super::source_text::{SearchTerm, SourceText};
use crate::repo::{ExclusionReason, TreeReader, TreeView};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A match: position in the list of files, and line number.
pub(super) type FileMatch = (usize, u32);

/// Searches `files`, given as indexes into the view, and returns the first match in list order. A
/// second thread is started if `other` is given.
pub(super) fn find_first_file(
    view: &TreeView,
    reader: &TreeReader,
    other: Option<TreeReader>,
    files: &[usize],
    wanted: SearchTerm<'_>,
) -> Option<FileMatch> {
    let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let work = &|reader: &TreeReader| loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        // Threads take files in order, so every file before a match is already being searched.
        let nth = files.get(at).filter(|_| at < found.load(Ordering::Relaxed))?;
        let line = read_source_text(view, reader, *nth)
            .ok()
            .and_then(|text| text.find_first(wanted, 1..=u32::MAX));
        if let Some(line) = line {
            found.fetch_min(at, Ordering::Relaxed);
            return Some((at, line));
        }
    };
    thread::scope(|scope| {
        let other = other.map(|other| scope.spawn(move || work(&other)));
        let own = work(reader);
        let others = other.and_then(|other| {
            other.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))
        });
        own.into_iter().chain(others).min()
    })
}

/// Reads and prepares one file.
pub(super) fn read_source_text(
    view: &TreeView,
    reader: &TreeReader,
    nth: usize,
) -> Result<SourceText, ExclusionReason> {
    let file = view.files().get(nth).ok_or(ExclusionReason::Unreadable)?;
    let bytes = bloom_index::read_searchable(reader, file)?;
    SourceText::new(&bytes).ok_or(ExclusionReason::Binary)
}
