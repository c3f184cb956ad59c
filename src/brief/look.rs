//! What some changed files come to, looked at by two at once.
use super::kind::{self, Dull};
use super::pack::Piece;
use super::review;
use crate::repo::{ChangedFile, Reader, Why};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What a changed file comes to: its hunks, or why there are none.
pub(super) type Looked = Result<Vec<Piece>, &'static str>;

/// Looks at each of these files, in the same order.
pub(super) fn look(
    files: &[&ChangedFile],
    reader: &Reader,
    other: Option<&mut Reader>,
    believed: bool,
) -> Vec<Looked> {
    let next = AtomicUsize::new(0);
    let work = &|reader: &Reader| {
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
        // A thread that panicked has left files out, which would be missing from the middle.
        let others =
            others.map(|done| done.unwrap_or_else(|cause| std::panic::resume_unwind(cause)));
        done.extend(others.unwrap_or_default());
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, looked)| looked).collect()
}

fn one(file: &ChangedFile, reader: &Reader, believed: bool) -> Looked {
    if let Some(why) = review::listed_only(file) {
        return Err(why);
    }
    let hunks = reader.hunks(file).map_err(Why::says)?;
    // Whoever wants a change merged could say so of anything; what stood there before could not.
    if kind::says_generated(&hunks.new) && (believed || kind::says_generated(&hunks.old)) {
        return Err(Dull::Generated.says());
    }
    Ok(review::pieces(file, &hunks))
}

/// What a file comes to that nobody can look into.
pub(super) fn unread(file: &ChangedFile) -> Looked {
    Err(review::listed_only(file).unwrap_or(Why::Unreadable.says()))
}
