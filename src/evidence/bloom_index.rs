//! Bloom filter index of a tree: one filter per file over the words in it. A query returns
//! candidate files, with false positives but no false negatives, and the caller searches those.
//!
//! Words are compared as they are between spaces and punctuation. So a quote that differs from a
//! file by a space within a word is found at its cited location, but not in a search of the tree.
use super::quote_variants::QuotePart;
use super::source_text::BINARY_SNIFF_BYTES;
use crate::repo::{ExclusionReason, RepoError, TreeFile, TreeReader, TreeView, exclusion_reason};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Filter bits per distinct word of a file.
const BITS_PER_WORD: usize = 10;
/// Hash functions: bits set per word.
const HASHES_PER_WORD: u64 = 4;
/// Minimum length of an indexed word in bytes.
const MIN_WORD_BYTES: usize = 3;
/// Files a thread takes from the queue at once.
const BATCH_SIZE: usize = 64;
/// Threads that build an index.
const THREADS: usize = 2;

/// Bloom filters of a tree, in file order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BloomIndex {
    pub(super) bits: Vec<u64>,
    /// End offset of each filter in `bits`, where the next one starts. An unreadable file has an
    /// empty filter.
    pub(super) ends: Vec<u32>,
    /// Whether every file could be read. Only a complete index is cached on disk.
    pub(super) complete: bool,
}

impl BloomIndex {
    /// Builds the index: reads and hashes all files on two threads.
    pub(super) fn build(view: &TreeView) -> Result<BloomIndex, RepoError> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<(usize, BloomFilters)>, RepoError> {
            let reader = view.reader()?;
            let mut built = vec![];
            loop {
                let from = next.fetch_add(BATCH_SIZE, Ordering::Relaxed);
                let Some(files) = view.files().get(from..) else { break };
                if files.is_empty() {
                    break;
                }
                built.push((
                    from,
                    BloomFilters::build(&reader, &files[..files.len().min(BATCH_SIZE)]),
                ));
            }
            Ok(built)
        };
        let mut batches = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            let mut collected = vec![];
            for thread in threads {
                // Files left unread by a panicked thread would look empty, so the panic is
                // propagated.
                let built = thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause));
                collected.extend(built?);
            }
            Ok::<_, RepoError>(collected)
        })?;
        batches.sort_unstable_by_key(|(from, _)| *from);
        let mut index = BloomIndex { bits: vec![], ends: vec![], complete: view.is_complete() };
        for (_, batch) in batches {
            let start = index.bits.len() as u32;
            index.bits.extend(batch.bits);
            index.ends.extend(batch.ends.iter().map(|end| start + end));
            index.complete &= batch.complete;
        }
        Ok(index)
    }

    /// Indexes of the files that may contain all these word hashes.
    pub(super) fn candidates(&self, hashes: &[u64]) -> Vec<usize> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, end)| start as usize..*end as usize);
        let contains_all = |filter: &[u64]| {
            !filter.is_empty() && hashes.iter().all(|hash| filter_contains(filter, *hash))
        };
        let matching = ranges
            .enumerate()
            .filter(|(_, range)| self.bits.get(range.clone()).is_some_and(contains_all));
        matching.map(|(file_index, _)| file_index).collect()
    }
}

/// Filters of one batch of files.
struct BloomFilters {
    bits: Vec<u64>,
    ends: Vec<u32>,
    complete: bool,
}

impl BloomFilters {
    fn build(reader: &TreeReader, files: &[TreeFile]) -> BloomFilters {
        let mut filters = BloomFilters { bits: vec![], ends: vec![], complete: true };
        let mut hashes = vec![];
        for file in files {
            match read_searchable(reader, file) {
                Ok(bytes) => {
                    hashes.clear();
                    hash_words(&bytes, &mut hashes);
                    hashes.sort_unstable();
                    hashes.dedup();
                    filters.add_filter(&hashes);
                }
                Err(reason) => filters.complete &= reason != ExclusionReason::Unreadable,
            }
            filters.ends.push(filters.bits.len() as u32);
        }
        filters
    }

    fn add_filter(&mut self, hashes: &[u64]) {
        let start = self.bits.len();
        self.bits.resize(start + (hashes.len() * BITS_PER_WORD).div_ceil(64).max(1), 0);
        let filter = &mut self.bits[start..];
        let bit_count = filter.len() as u64 * 64;
        for hash in hashes {
            for position in bit_positions(*hash, bit_count) {
                filter[position / 64] |= 1 << (position % 64);
            }
        }
    }
}

/// Reads a file for searching. Secrets by name, unreadable and binary files return the reason.
pub(super) fn read_searchable(
    reader: &TreeReader,
    file: &TreeFile,
) -> Result<Vec<u8>, ExclusionReason> {
    if exclusion_reason(file.path.as_bytes()) == Some(ExclusionReason::Secret) {
        return Err(ExclusionReason::Secret);
    }
    let bytes = reader.read_bytes(file)?;
    if bytes[..bytes.len().min(BINARY_SNIFF_BYTES)].contains(&0) {
        return Err(ExclusionReason::Binary);
    }
    Ok(bytes)
}

fn filter_contains(filter: &[u64], hash: u64) -> bool {
    bit_positions(hash, filter.len() as u64 * 64)
        .all(|position| filter[position / 64] & (1 << (position % 64)) != 0)
}

/// Bit positions of a hash in a filter of `bit_count` bits, by double hashing.
fn bit_positions(hash: u64, bit_count: u64) -> impl Iterator<Item = usize> {
    let step = hash.rotate_left(32) | 1;
    (0..HASHES_PER_WORD).map(move |i| {
        let mixed = hash.wrapping_add(i.wrapping_mul(step));
        ((u128::from(mixed) * u128::from(bit_count)) >> 64) as usize
    })
}

/// Splits into words of indexed length. All bytes outside ASCII count as letters, so the index does
/// not depend on a Unicode version.
fn split_words(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = bytes.split(|byte| !IS_WORD_BYTE[usize::from(*byte)]);
    words.filter(|word| word.len() >= MIN_WORD_BYTES)
}

/// Lookup table of the bytes that are part of a word.
const IS_WORD_BYTE: [bool; 256] = {
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

/// Hashes all words of a buffer in one pass.
fn hash_words(bytes: &[u8], hashes: &mut Vec<u64>) {
    let (mut hash, mut length) = (FNV_OFFSET, 0);
    for byte in bytes.iter().chain([&b' ']) {
        if IS_WORD_BYTE[usize::from(*byte)] {
            (hash, length) = (fnv_step(hash, *byte), length + 1);
        } else {
            if length >= MIN_WORD_BYTES {
                hashes.push(mix(hash));
            }
            (hash, length) = (FNV_OFFSET, 0);
        }
    }
}

/// FNV-1a hash with a final mix, because `bit_positions` uses the high bits.
fn hash_word(word: &[u8]) -> u64 {
    mix(word.iter().fold(FNV_OFFSET, |hash, byte| fnv_step(hash, *byte)))
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv_step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

/// Hashes of all words of a quote, assuming that none is cut off.
pub(super) fn hash_quote_words(parts: &[QuotePart]) -> Vec<u64> {
    parts.iter().flat_map(hash_part_words).collect()
}

/// Hashes of the words that are certainly complete: all but those at the ends of a part.
pub(super) fn hash_inner_words(parts: &[QuotePart]) -> Vec<u64> {
    let mut hashes = vec![];
    for part in parts {
        for (line_index, line) in part.lines.iter().enumerate() {
            let (is_first, is_last) = (line_index == 0, line_index + 1 == part.lines.len());
            for word in split_words(line.as_bytes()) {
                let start = word.as_ptr() as usize - line.as_ptr() as usize;
                let may_be_cut =
                    is_first && start == 0 || is_last && start + word.len() == line.len();
                if !may_be_cut && !has_unicode_space(word) {
                    hashes.push(hash_word(word));
                }
            }
        }
    }
    hashes
}

/// Hashes of the words of one part.
pub(super) fn hash_part_words(part: &QuotePart) -> Vec<u64> {
    let lines = part.lines.iter().flat_map(|line| split_words(line.as_bytes()));
    lines.filter(|word| !has_unicode_space(word)).map(hash_word).collect()
}

/// Hashes of the words of a symbol.
pub(super) fn hash_symbol_words(name: &str) -> Vec<u64> {
    split_words(name.as_bytes()).map(hash_word).collect()
}

/// Unicode white space counts as a letter in the index, but is ignored when text is compared.
fn has_unicode_space(word: &[u8]) -> bool {
    String::from_utf8_lossy(word).contains(char::is_whitespace)
}
