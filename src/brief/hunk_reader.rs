//! Reads the hunks of many changed files, on two threads.
use super::diff;
use super::file_kind::{self, ListOnlyReason};
use super::pack::BriefPiece;
use crate::repo::{ChangedFile, ExclusionReason, TreeReader};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Hunks of a changed file, or why it is only listed.
pub(super) type FileHunks = Result<Vec<BriefPiece>, &'static str>;

/// Reads the hunks of each file. The result has the order of `files`. With a second reader, two
/// threads share the work.
pub(super) fn read_hunks(
    files: &[&ChangedFile],
    reader: &TreeReader,
    second_reader: Option<&mut TreeReader>,
    trust_markers: bool,
) -> Vec<FileHunks> {
    let next = AtomicUsize::new(0);
    let work = &|reader: &TreeReader| {
        let mut results = vec![];
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(index) else { return results };
            results.push((index, read_file_hunks(file, reader, trust_markers)));
        }
    };
    let mut results = thread::scope(|scope| {
        let second_reader =
            second_reader.map(|second_reader| scope.spawn(move || work(second_reader)));
        let mut results = work(reader);
        let second_results = second_reader.map(thread::ScopedJoinHandle::join);
        // Propagate a panic, because files of that thread would be missing from the result.
        let second_results = second_results
            .map(|results| results.unwrap_or_else(|cause| std::panic::resume_unwind(cause)));
        results.extend(second_results.unwrap_or_default());
        results
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, hunks)| hunks).collect()
}

fn read_file_hunks(file: &ChangedFile, reader: &TreeReader, trust_markers: bool) -> FileHunks {
    if let Some(reason) = diff::list_only_text(file) {
        return Err(reason);
    }
    let hunks = reader.diff_file(file).map_err(ExclusionReason::describe)?;
    // The author of a change can add such a marker to any file, so an untrusted change needs it in
    // the old version, too.
    if file_kind::has_generated_marker(&hunks.new)
        && (trust_markers || file_kind::has_generated_marker(&hunks.old))
    {
        return Err(ListOnlyReason::Generated.describe());
    }
    Ok(diff::hunk_pieces(file, &hunks))
}

/// Result for a file that cannot be read.
pub(super) fn unread_file(file: &ChangedFile) -> FileHunks {
    Err(diff::list_only_text(file).unwrap_or(ExclusionReason::Unreadable.describe()))
}
