//! Reads the hunks of many changed files, on two threads.
use super::kind::{self, Dull};
use super::pack::Piece;
use super::review;
use crate::repo::{ChangedFile, ExclusionReason, TreeReader};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Hunks of a changed file, or why it is only listed.
pub(super) type Looked = Result<Vec<Piece>, &'static str>;

/// Reads the hunks of each file. The result has the order of `files`. With a second reader, two
/// threads share the work.
pub(super) fn look(
    files: &[&ChangedFile],
    reader: &TreeReader,
    other: Option<&mut TreeReader>,
    believed: bool,
) -> Vec<Looked> {
    let next = AtomicUsize::new(0);
    let work = &|reader: &TreeReader| {
        let mut done = vec![];
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { return done };
            done.push((at, one(file, reader, believed)));
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

fn one(file: &ChangedFile, reader: &TreeReader, believed: bool) -> Looked {
    if let Some(why) = review::listed_only(file) {
        return Err(why);
    }
    let hunks = reader.diff_file(file).map_err(ExclusionReason::describe)?;
    // The author of a change can add such a marker to any file, so an untrusted change needs it in
    // the old version, too.
    if kind::says_generated(&hunks.new) && (believed || kind::says_generated(&hunks.old)) {
        return Err(Dull::Generated.says());
    }
    Ok(review::pieces(file, &hunks))
}

/// Result for a file that cannot be read.
pub(super) fn unread(file: &ChangedFile) -> Looked {
    Err(review::listed_only(file).unwrap_or(ExclusionReason::Unreadable.describe()))
}
