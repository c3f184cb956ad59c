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
    other: Option<&mut TreeReader>,
    believed: bool,
) -> Vec<FileHunks> {
    let next = AtomicUsize::new(0);
    let work = &|reader: &TreeReader| {
        let mut done = vec![];
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { return done };
            done.push((at, read_file_hunks(file, reader, believed)));
        }
    };
    let mut done = thread::scope(|scope| {
        let other = other.map(|other| scope.spawn(move || work(other)));
        let mut done = work(reader);
        let others = other.map(thread::ScopedJoinHandle::join);
        // Propagate a panic, because files of that thread would be missing from the result.
        let others =
            others.map(|done| done.unwrap_or_else(|cause| std::panic::resume_unwind(cause)));
        done.extend(others.unwrap_or_default());
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, looked)| looked).collect()
}

fn read_file_hunks(file: &ChangedFile, reader: &TreeReader, believed: bool) -> FileHunks {
    if let Some(why) = diff::list_only_text(file) {
        return Err(why);
    }
    let hunks = reader.diff_file(file).map_err(ExclusionReason::describe)?;
    // The author of a change can add such a marker to any file, so an untrusted change needs it in
    // the old version, too.
    if file_kind::has_generated_marker(&hunks.new)
        && (believed || file_kind::has_generated_marker(&hunks.old))
    {
        return Err(ListOnlyReason::Generated.describe());
    }
    Ok(diff::hunk_pieces(file, &hunks))
}

/// Result for a file that cannot be read.
pub(super) fn unread_file(file: &ChangedFile) -> FileHunks {
    Err(diff::list_only_text(file).unwrap_or(ExclusionReason::Unreadable.describe()))
}
