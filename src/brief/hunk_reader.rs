//! Reads the hunks of many changed files, on two threads.
use super::file_kind::{self, ListOnlyReason};
use super::hunk_pieces::hunk_pieces;
use super::pack::BriefPiece;
use crate::repo::{
    ChangedFile, ExclusionReason, FileChangeKind, LineCounts, TreeReader, exclusion_reason,
};
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
    if let Some(reason) = list_only_text(file) {
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
    Ok(hunk_pieces(file, &hunks))
}

/// Why a changed file is only listed, if so.
pub(super) fn list_only_text(file: &ChangedFile) -> Option<&'static str> {
    let is_unchanged = file.line_counts() == Some((0, 0));
    let text = match exclusion_reason(file.path.as_bytes()) {
        Some(reason) => reason.describe(),
        _ if file.lines == LineCounts::Binary => ExclusionReason::Binary.describe(),
        _ if is_unchanged && file.kind == FileChangeKind::Renamed => "was only renamed",
        _ if is_unchanged && file.kind == FileChangeKind::Modified => "has other permissions only",
        _ if is_unchanged => "is empty",
        _ => file_kind_text(file)?,
    };
    Some(text)
}

pub(super) fn file_kind_text(file: &ChangedFile) -> Option<&'static str> {
    file_kind::list_only_reason(&file.path).map(ListOnlyReason::describe)
}

/// Result for a file that cannot be read.
pub(super) fn unread_file(file: &ChangedFile) -> FileHunks {
    Err(list_only_text(file).unwrap_or(ExclusionReason::Unreadable.describe()))
}
