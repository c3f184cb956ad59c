//! Parallel search: finds the first of many files that contains a term, on up to two threads.
use super::bloom_index;
use super::source_text::{SearchTerm, SourceText};
use crate::repo::{ExclusionReason, TreeReader, TreeView};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A match: position in the list of files, and line number.
pub(super) type FileMatch = (usize, u32);

/// Searches `files`, given as indexes into the view, and returns the first match in list order. A
/// second thread is started if `second` is given.
pub(super) fn find_first_file(
    view: &TreeView,
    reader: &TreeReader,
    second: Option<TreeReader>,
    files: &[usize],
    term: SearchTerm<'_>,
) -> Option<FileMatch> {
    let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let work = &|reader: &TreeReader| loop {
        let position = next.fetch_add(1, Ordering::Relaxed);
        // Threads take files in order, so every file before a match is already being searched.
        let file_index =
            files.get(position).filter(|_| position < found.load(Ordering::Relaxed))?;
        let line = read_source_text(view, reader, *file_index)
            .ok()
            .and_then(|text| text.find_first(term, 1..=u32::MAX));
        if let Some(line) = line {
            found.fetch_min(position, Ordering::Relaxed);
            return Some((position, line));
        }
    };
    thread::scope(|scope| {
        let second = second.map(|second| scope.spawn(move || work(&second)));
        let own_match = work(reader);
        let second_match = second.and_then(|second| {
            second.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))
        });
        own_match.into_iter().chain(second_match).min()
    })
}

/// Reads and prepares one file.
pub(super) fn read_source_text(
    view: &TreeView,
    reader: &TreeReader,
    file_index: usize,
) -> Result<SourceText, ExclusionReason> {
    let file = view.files().get(file_index).ok_or(ExclusionReason::Unreadable)?;
    let bytes = bloom_index::read_searchable(reader, file)?;
    SourceText::new(&bytes).ok_or(ExclusionReason::Binary)
}
