//! Which files of a tree may hold some words: a Bloom filter for each file over the words in it. It
//! never says no to a file that holds them; whoever asks looks into those it says yes to.
//!
//! Words are compared as they stand between spaces and signs. So a quote that differs from a file
//! by a space within a word is found at the place it is cited from, but not all over the tree.
use super::quote::Part;
use crate::repo::{File, Reader, RepoError, View, Why, absent};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Bits for each word of a file.
const BITS: usize = 10;
/// Bits a word sets.
const SET: u64 = 4;
/// Bytes a word needs to be told from others.
const SHORTEST: usize = 3;
/// Files a thread takes at a time.
const PORTION: usize = 64;
const THREADS: usize = 2;

/// The filters of a tree, in the order of its files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) bits: Vec<u64>,
    /// Where each filter ends; the next begins there. A file that cannot be read has none.
    pub(super) ends: Vec<u32>,
    /// Whether every file that is there could be read, now and whenever it is asked again.
    pub(super) whole: bool,
}

impl Contents {
    /// Reads all files of a tree.
    pub(super) fn build(view: &View) -> Result<Contents, RepoError> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<(usize, Filters)>, RepoError> {
            let reader = view.reader()?;
            let mut done = vec![];
            loop {
                let from = next.fetch_add(PORTION, Ordering::Relaxed);
                let Some(files) = view.files().get(from..) else { break };
                if files.is_empty() {
                    break;
                }
                done.push((from, Filters::of(&reader, &files[..files.len().min(PORTION)])));
            }
            Ok(done)
        };
        let mut portions = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            let mut all = vec![];
            for thread in threads {
                // A thread that panicked has left files unread, which would be believed empty.
                let done = thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause));
                all.extend(done?);
            }
            Ok::<_, RepoError>(all)
        })?;
        portions.sort_unstable_by_key(|(from, _)| *from);
        let mut contents = Contents { bits: vec![], ends: vec![], whole: view.whole() };
        for (_, portion) in portions {
            let start = contents.bits.len() as u32;
            contents.bits.extend(portion.bits);
            contents.ends.extend(portion.ends.iter().map(|end| start + end));
            contents.whole &= portion.whole;
        }
        Ok(contents)
    }

    /// The files that may hold all of these words, by their place in the view.
    pub(super) fn may_hold(&self, words: &[u64]) -> Vec<usize> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, end)| start as usize..*end as usize);
        let holds = |filter: &[u64]| !filter.is_empty() && words.iter().all(|it| has(filter, *it));
        let held =
            ranges.enumerate().filter(|(_, range)| self.bits.get(range.clone()).is_some_and(holds));
        held.map(|(nth, _)| nth).collect()
    }
}

/// The filters of some files.
struct Filters {
    bits: Vec<u64>,
    ends: Vec<u32>,
    whole: bool,
}

impl Filters {
    fn of(reader: &Reader, files: &[File]) -> Filters {
        let mut filters = Filters { bits: vec![], ends: vec![], whole: true };
        let mut hashes = vec![];
        for file in files {
            match readable(reader, file) {
                Ok(bytes) => {
                    hashes.clear();
                    hash_all(&bytes, &mut hashes);
                    hashes.sort_unstable();
                    hashes.dedup();
                    filters.add(&hashes);
                }
                Err(why) => filters.whole &= why != Why::Unreadable,
            }
            filters.ends.push(filters.bits.len() as u32);
        }
        filters
    }

    fn add(&mut self, hashes: &[u64]) {
        let start = self.bits.len();
        self.bits.resize(start + (hashes.len() * BITS).div_ceil(64).max(1), 0);
        let filter = &mut self.bits[start..];
        let many = filter.len() as u64 * 64;
        for hash in hashes {
            for at in positions(*hash, many) {
                filter[at / 64] |= 1 << (at % 64);
            }
        }
    }
}

/// What stands in a file, unless it may be a secret, cannot be read or is no text.
pub(super) fn readable(reader: &Reader, file: &File) -> Result<Vec<u8>, Why> {
    if absent(file.path.as_bytes()) == Some(Why::Secret) {
        return Err(Why::Secret);
    }
    let bytes = reader.bytes(file)?;
    if bytes[..bytes.len().min(8_000)].contains(&0) {
        return Err(Why::Binary);
    }
    Ok(bytes)
}

fn has(filter: &[u64], hash: u64) -> bool {
    positions(hash, filter.len() as u64 * 64).all(|at| filter[at / 64] & (1 << (at % 64)) != 0)
}

/// Where a word sets its bits among so many.
fn positions(hash: u64, many: u64) -> impl Iterator<Item = usize> {
    let step = hash.rotate_left(32) | 1;
    (0..SET).map(move |nth| {
        let mixed = hash.wrapping_add(nth.wrapping_mul(step));
        ((u128::from(mixed) * u128::from(many)) >> 64) as usize
    })
}

/// Words, long enough to tell. Whatever is not ASCII is taken for a letter: then it is the same
/// for every reader, whatever Unicode says of it one day.
fn words(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = bytes.split(|byte| !INSIDE[usize::from(*byte)]);
    words.filter(|word| word.len() >= SHORTEST)
}

/// Which bytes are part of a word.
const INSIDE: [bool; 256] = {
    let mut inside = [false; 256];
    let mut byte = 0_u8;
    loop {
        inside[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        if byte == u8::MAX {
            break inside;
        }
        byte += 1;
    }
};

/// The same as hashing each of its words, in one pass.
fn hash_all(bytes: &[u8], hashes: &mut Vec<u64>) {
    let (mut hash, mut length) = (OFFSET, 0);
    for byte in bytes.iter().chain([&b' ']) {
        if INSIDE[usize::from(*byte)] {
            (hash, length) = (hashed(hash, *byte), length + 1);
        } else {
            if length >= SHORTEST {
                hashes.push(stirred(hash));
            }
            (hash, length) = (OFFSET, 0);
        }
    }
}

/// FNV-1a with a last stir, because the first bits are the ones that are used.
fn hash(word: &[u8]) -> u64 {
    stirred(word.iter().fold(OFFSET, |hash, byte| hashed(hash, *byte)))
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn hashed(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

fn stirred(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

/// The words of a quote, as if none were cut.
pub(super) fn words_of(parts: &[Part]) -> Vec<u64> {
    parts.iter().flat_map(all_words).collect()
}

/// The words of a quote that are whole in it, which those at its ends may not be.
pub(super) fn inner_words(parts: &[Part]) -> Vec<u64> {
    let mut hashes = vec![];
    for part in parts {
        for (nth, line) in part.lines.iter().enumerate() {
            let (first, last) = (nth == 0, nth + 1 == part.lines.len());
            for word in words(line.as_bytes()) {
                let start = word.as_ptr() as usize - line.as_ptr() as usize;
                let cut = first && start == 0 || last && start + word.len() == line.len();
                if !cut && !odd_space(word) {
                    hashes.push(hash(word));
                }
            }
        }
    }
    hashes
}

/// The words of one part of it.
pub(super) fn all_words(part: &Part) -> Vec<u64> {
    let lines = part.lines.iter().flat_map(|line| words(line.as_bytes()));
    lines.filter(|word| !odd_space(word)).map(hash).collect()
}

/// The words a name is made of.
pub(super) fn words_of_name(name: &str) -> Vec<u64> {
    words(name.as_bytes()).map(hash).collect()
}

/// White space that is not ASCII is a letter here, and none to whoever compares.
fn odd_space(word: &[u8]) -> bool {
    String::from_utf8_lossy(word).contains(char::is_whitespace)
}
