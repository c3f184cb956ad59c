//! On-disk LRU cache of Bloom indexes, so that each tree is read once. A damaged, truncated or
//! foreign file is a cache miss. Errors are ignored, because a lost index only costs time.
use super::bloom_index::BloomIndex;
use crate::repo::TreeStore;
use crate::secure_fs;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// File format version, part of the file name and header. A new number invalidates all cached
/// indexes.
const FORMAT_VERSION: u32 = 1;
/// Maximum number of cached indexes.
const MAX_INDEXES: usize = 8;
/// Age from which a temporary file counts as left over from a crash.
const STALE_TEMP_AGE: Duration = Duration::from_secs(4_000);
const MAGIC: &[u8; 8] = b"debate-i";
/// Header: magic, version, tree id, file count, filter words, checksum.
const HEADER_BYTES: usize = 8 + 4 + 40 + 4 + 4 + 8;

/// Cache folder. The redaction fingerprint is part of the file name, because other redaction rules
/// give another index.
pub(super) struct IndexCache {
    folder: PathBuf,
    redaction_fingerprint: String,
}

impl IndexCache {
    pub(super) fn new(trees: &TreeStore) -> IndexCache {
        IndexCache {
            folder: trees.home().join("indexes"),
            redaction_fingerprint: trees.redaction_fingerprint(),
        }
    }

    /// Loads the index of a tree. None on a cache miss or if validation fails.
    pub(super) fn load(&self, tree: &str, files: usize) -> Option<BloomIndex> {
        let path = self.index_path(tree);
        let index = decode(&fs::read(&path).ok()?, tree, files)?;
        // Update the modification time for LRU eviction.
        let opened = fs::File::options().append(true).open(&path);
        let _ = opened.and_then(|file| file.set_modified(SystemTime::now()));
        Some(index)
    }

    /// Saves an index. Errors are only logged.
    pub(super) fn save(&self, tree: &str, index: &BloomIndex) {
        // An incomplete index would hide files that can be read later.
        if index.complete
            && let Err(error) = self.write(tree, index)
        {
            tracing::debug!(tree, %error, "bloom index not cached");
        }
    }

    fn write(&self, tree: &str, index: &BloomIndex) -> io::Result<()> {
        let folder = &self.folder;
        secure_fs::create_private_dir(folder)?;
        let mut file = tempfile::Builder::new().suffix(".tmp").tempfile_in(folder)?;
        file.write_all(&encode(index, tree))?;
        file.persist(self.index_path(tree)).map_err(|error| error.error)?;
        evict_old(folder)
    }

    fn index_path(&self, tree: &str) -> PathBuf {
        // Only hexadecimal digits reach the path.
        let id: String = tree.chars().filter(char::is_ascii_hexdigit).take(40).collect();
        self.folder.join(format!("{id}-{FORMAT_VERSION}-{}", self.redaction_fingerprint))
    }
}

/// Evicts the least recently used indexes, and deletes temporary files of old crashes.
fn evict_old(folder: &Path) -> io::Result<()> {
    let mut indexes = vec![];
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
        if entry.path().extension().is_some_and(|extension| extension == "tmp") {
            if is_stale(modified, SystemTime::now()) {
                let _ = fs::remove_file(entry.path());
            }
        } else {
            indexes.push((modified, entry.path()));
        }
    }
    indexes.sort();
    let excess = indexes.len().saturating_sub(MAX_INDEXES);
    for (_, path) in indexes.into_iter().take(excess) {
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Whether a temporary file is so old that its writer must have crashed.
fn is_stale(modified: SystemTime, now: SystemTime) -> bool {
    now.duration_since(modified).is_ok_and(|age| age > STALE_TEMP_AGE)
}

fn encode(index: &BloomIndex, tree: &str) -> Vec<u8> {
    let body_len = index.ends.len() * 4 + index.bits.len() * 8;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + body_len);
    bytes.extend(MAGIC);
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(tree_id_field(tree));
    bytes.extend((index.ends.len() as u32).to_le_bytes());
    bytes.extend((index.bits.len() as u32).to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(index.ends.iter().flat_map(|end| end.to_le_bytes()));
    bytes.extend(index.bits.iter().flat_map(|word| word.to_le_bytes()));
    let sum = checksum(&bytes[HEADER_BYTES..]);
    bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], tree: &str, files: usize) -> Option<BloomIndex> {
    let (header, body) = bytes.split_at_checked(HEADER_BYTES)?;
    let read_u32 = |offset: usize| {
        header
            .get(offset..offset + 4)
            .and_then(|chunk| chunk.try_into().ok())
            .map(u32::from_le_bytes)
    };
    let is_valid = header.starts_with(MAGIC)
        && read_u32(8)? == FORMAT_VERSION
        && header.get(12..52)? == tree_id_field(tree)
        && read_u32(52)? as usize == files;
    let word_count = read_u32(56)? as usize;
    let sum = u64::from_le_bytes(header.get(60..68)?.try_into().ok()?);
    if !is_valid || body.len() != files * 4 + word_count * 8 || checksum(body) != sum {
        return None;
    }
    let (ends, bits) = body.split_at(files * 4);
    let ends = ends.chunks_exact(4).filter_map(|chunk| chunk.try_into().ok());
    let ends: Vec<u32> = ends.map(u32::from_le_bytes).collect();
    let bits = bits.chunks_exact(8).filter_map(|chunk| chunk.try_into().ok());
    let bits: Vec<u64> = bits.map(u64::from_le_bytes).collect();
    let is_ordered = ends.is_sorted() && ends.last().map_or(0, |end| *end as usize) == bits.len();
    is_ordered.then_some(BloomIndex { bits, ends, complete: true })
}

/// Tree id as a fixed-length header field.
fn tree_id_field(tree: &str) -> [u8; 40] {
    let mut field = [0; 40];
    for (to, from) in field.iter_mut().zip(tree.bytes()) {
        *to = from;
    }
    field
}

/// Checksum against disk corruption. Not a defence against an attacker with write access.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_file_is_stale_after_4_000_seconds() {
        let modified = SystemTime::now();
        assert!(!is_stale(modified, modified + STALE_TEMP_AGE));
        assert!(is_stale(modified, modified + STALE_TEMP_AGE + Duration::from_nanos(100)));
        assert_eq!(STALE_TEMP_AGE, Duration::from_secs(4_000));
    }
}
