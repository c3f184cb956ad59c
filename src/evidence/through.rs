//! The first of many files that holds what is wanted, looked for by two at once.
use super::contents;
use super::text::{Text, Wanted};
use crate::repo::{Reader, View, Why};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Where something stands: in which of the files, counted from the first that was to be looked
/// into, and on which line.
pub(super) type Hit = (usize, u32);

/// Looks into files, which are named by their places in the view, in this order.
pub(super) fn first(
    view: &View,
    reader: &Reader,
    other: Option<Reader>,
    files: &[usize],
    wanted: Wanted<'_>,
) -> Option<Hit> {
    let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let work = &|reader: &Reader| loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        // Whatever stands before what was found has been taken by somebody already.
        let nth = files.get(at).filter(|_| at < found.load(Ordering::Relaxed))?;
        let line = read(view, reader, *nth).ok().and_then(|text| text.first(wanted, 1..=u32::MAX));
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

/// One file, as it is looked into.
pub(super) fn read(view: &View, reader: &Reader, nth: usize) -> Result<Text, Why> {
    let file = view.files().get(nth).ok_or(Why::Unreadable)?;
    let bytes = contents::readable(reader, file)?;
    Text::new(&bytes).ok_or(Why::Binary)
}
