//! Rename detection: pairs a deleted with an added file of equal or similar contents. libgit2
//! compares all pairs, which takes minutes for thousands of files. Here files are matched by
//! content hash first, then by file name, and all pairs are compared only if there are few.
use super::object_store::ObjectStore;
use super::tree_diff::{RenameSearch, TreeDelta};
use super::{MAX_FILE_BYTES, numstat};
use git2::Oid;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Maximum number of pairs for the comparison of all with all.
const MAX_PAIRS: usize = 40_000;
/// Deleted files of the same name that an added file is compared with if there are too many pairs.
const MAX_SAME_NAME: usize = 8;
/// Minimum similarity of a rename in percent, as in git.
const MIN_SIMILARITY: u64 = 50;
/// Minimum similarity in percent of two files that are the only ones with their name. Higher,
/// because no other candidate is compared.
const MIN_SAME_NAME_SIMILARITY: u64 = 75;

/// Merges each detected pair of deletion and addition into one rename.
pub(super) fn detect_renames(stores: &ObjectStore, changes: &mut Vec<TreeDelta>) -> RenameSearch {
    let is = |change: &TreeDelta, gone: bool| {
        let (one, other) = if gone { (change.old, change.new) } else { (change.new, change.old) };
        one.is_some_and(super::tree_diff::DiffEntry::is_file) && other.is_none()
    };
    let all = |gone: bool| (0..changes.len()).filter(|at| is(&changes[*at], gone)).collect();
    let mut finding = RenameDetector {
        stores,
        changes,
        deleted: all(true),
        added: all(false),
        pairs: vec![],
        span_cache: HashMap::new(),
    };
    finding.pair_identical();
    finding.pair_same_names();
    let thorough = finding.pair_similar();
    let pairs = finding.pairs;
    merge_pairs(changes, &pairs);
    thorough
}

/// State of the detection. Files are indexes into `changes`.
struct RenameDetector<'a> {
    stores: &'a ObjectStore,
    changes: &'a [TreeDelta],
    deleted: Vec<usize>,
    added: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    span_cache: HashMap<usize, Option<SpanHashes>>,
}

impl RenameDetector<'_> {
    /// Pairs files with the same object id. Of several candidates it prefers one with the same
    /// name.
    fn pair_identical(&mut self) {
        let mut by_id: HashMap<Oid, Vec<usize>> = HashMap::new();
        for at in &self.deleted {
            if let Some(old) = self.changes[*at].old {
                by_id.entry(old.id).or_default().push(*at);
            }
        }
        for added in self.added.clone() {
            let Some(new) = self.changes[added].new else { continue };
            let Some(gone) = by_id.get_mut(&new.id).filter(|gone| !gone.is_empty()) else {
                continue;
            };
            let kept =
                gone.iter().take(100).position(|at| self.file_name(*at) == self.file_name(added));
            let gone = gone.remove(kept.unwrap_or(0));
            self.pairs.push((gone, added));
        }
        self.remove_paired();
    }

    /// Pairs files with a unique name on both sides and enough similarity.
    fn pair_same_names(&mut self) {
        let (gone, added) = (self.group_by_name(&self.deleted), self.group_by_name(&self.added));
        let mut pairs = vec![];
        for at in self.added.clone() {
            let name = self.file_name(at);
            let (Some([one]), Some([_])) =
                (gone.get(name).map(Vec::as_slice), added.get(name).map(Vec::as_slice))
            else {
                continue;
            };
            if self.similarity(*one, at) >= MIN_SAME_NAME_SIMILARITY {
                pairs.push((*one, at));
            }
        }
        self.pairs.extend(pairs);
        self.remove_paired();
    }

    /// Pairs the remaining files, most similar first. With too many pairs it compares only files of
    /// the same name.
    fn pair_similar(&mut self) -> RenameSearch {
        let few = self.deleted.len().saturating_mul(self.added.len()) <= MAX_PAIRS;
        let by_name = self.group_by_name(&self.deleted);
        let mut scored = vec![];
        for added in self.added.clone() {
            let namesakes = by_name.get(self.file_name(added)).map_or(&[][..], Vec::as_slice);
            let others = if few { &self.deleted.clone()[..] } else { namesakes };
            let most = if few { usize::MAX } else { MAX_SAME_NAME };
            for gone in others.iter().copied().take(most) {
                let score = self.similarity(gone, added);
                if score >= MIN_SIMILARITY {
                    let renamed_only_in_part = self.file_name(gone) != self.file_name(added);
                    scored.push((u64::MAX - score, renamed_only_in_part, gone, added));
                }
            }
        }
        scored.sort_unstable();
        let mut taken = std::collections::HashSet::new();
        for (_, _, gone, added) in scored {
            if !taken.contains(&gone) && !taken.contains(&added) {
                taken.extend([gone, added]);
                self.pairs.push((gone, added));
            }
        }
        if few { RenameSearch::Exhaustive } else { RenameSearch::Limited }
    }

    /// Removes paired files from the candidates.
    fn remove_paired(&mut self) {
        let paired = self.pairs.iter().flat_map(|(gone, added)| [*gone, *added]);
        let paired: std::collections::HashSet<usize> = paired.collect();
        self.deleted.retain(|at| !paired.contains(at));
        self.added.retain(|at| !paired.contains(at));
    }

    fn file_name(&self, at: usize) -> &[u8] {
        let path = &self.changes[at].path;
        path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
    }

    fn group_by_name(&self, all: &[usize]) -> HashMap<Vec<u8>, Vec<usize>> {
        let mut by_name: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for at in all {
            by_name.entry(self.file_name(*at).to_owned()).or_default().push(*at);
        }
        by_name
    }

    /// Share of the larger file that is also in the other one, in percent. Span hashes are cached.
    fn similarity(&mut self, gone: usize, added: usize) -> u64 {
        for at in [gone, added] {
            if !self.span_cache.contains_key(&at) {
                let spans = self.read_file(at).map(|bytes| SpanHashes::from_bytes(&bytes));
                self.span_cache.insert(at, spans);
            }
        }
        let spans = |at: usize| self.span_cache.get(&at).and_then(Option::as_ref);
        spans(gone).zip(spans(added)).map_or(0, |(one, other)| one.similarity(other))
    }

    fn read_file(&self, at: usize) -> Option<Vec<u8>> {
        let change = &self.changes[at];
        let entry = change.old.or(change.new)?;
        let (size, _) = self.stores.object_header(entry.id)?;
        self.stores.read_blob(entry.id).filter(|_| size > 0 && size <= MAX_FILE_BYTES)
    }
}

/// Hashes of a file's lines, in chunks of up to 64 bytes, with the bytes per hash (git's
/// "spanhash").
struct SpanHashes {
    sorted: Vec<(u64, u64)>,
    bytes: u64,
}

impl SpanHashes {
    fn from_bytes(bytes: &[u8]) -> SpanHashes {
        const LONGEST: usize = 64;
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let text = !numstat::is_binary(bytes);
        let mut counted: HashMap<u64, u64> = HashMap::new();
        let pieces = bytes.split_inclusive(|byte| *byte == b'\n');
        for piece in pieces.flat_map(|line| line.chunks(LONGEST)) {
            // A CRLF and an LF line are equal.
            let bare = piece.strip_suffix(b"\r\n").filter(|_| text);
            let hash = bare.map_or_else(
                || hasher.hash_one(piece.strip_suffix(b"\n").unwrap_or(piece)),
                |bare| hasher.hash_one(bare),
            );
            *counted.entry(hash).or_default() += piece.len() as u64;
        }
        let mut sorted: Vec<(u64, u64)> = counted.into_iter().collect();
        sorted.sort_unstable();
        SpanHashes { sorted, bytes: bytes.len() as u64 }
    }

    fn similarity(&self, other: &SpanHashes) -> u64 {
        let (larger, smaller) = (self.bytes.max(other.bytes), self.bytes.min(other.bytes));
        if smaller * 100 < larger * MIN_SIMILARITY {
            return 0;
        }
        let (mut common, mut at) = (0, 0);
        for (hash, bytes) in &self.sorted {
            while other.sorted.get(at).is_some_and(|(theirs, _)| theirs < hash) {
                at += 1;
            }
            if let Some((theirs, also)) = other.sorted.get(at)
                && theirs == hash
            {
                common += bytes.min(also);
            }
        }
        common * 100 / larger.max(1)
    }
}

/// Replaces each pair by one change.
fn merge_pairs(changes: &mut Vec<TreeDelta>, pairs: &[(usize, usize)]) {
    let mut gone: Vec<usize> = vec![];
    for (old, new) in pairs {
        let (path, entry) = (changes[*old].path.clone(), changes[*old].old);
        let change = &mut changes[*new];
        (change.old_path, change.old) = (Some(path), entry);
        gone.push(*old);
    }
    gone.sort_unstable();
    for at in gone.into_iter().rev() {
        changes.remove(at);
    }
}
