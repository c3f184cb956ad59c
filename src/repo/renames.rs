//! Rename detection: pairs a deleted with an added file of equal or similar contents. libgit2
//! compares all pairs, which takes minutes for thousands of files. Here files are matched by
//! content hash first, then by file name, and all pairs are compared only if there are few.
use super::exclusions::MAX_FILE_BYTES;
use super::numstat;
use super::object_store::ObjectStore;
use super::tree_delta::{DiffEntry, TreeDelta};
use git2::Oid;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Maximum number of pairs for the comparison of all with all.
const MAX_PAIRS: usize = 40_000;
/// Deleted files of the same name that an added file is compared with if there are too many pairs.
const MAX_SAME_NAME: usize = 8;
/// Deleted files with equal contents that are searched for one with the name of the added file.
const MAX_SAME_CONTENTS: usize = 100;
/// Maximum length in bytes of a chunk that is hashed. Longer lines are split.
const MAX_CHUNK_BYTES: usize = 64;
/// Minimum similarity of a rename in percent, as in git.
const MIN_SIMILARITY: u64 = 50;
/// Minimum similarity in percent of two files that are the only ones with their name. Higher,
/// because no other candidate is compared.
const MIN_SAME_NAME_SIMILARITY: u64 = 75;

/// Thoroughness of the rename detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenameSearch {
    /// Every deleted file was compared with every added file.
    Exhaustive,
    /// Only files with the same contents or the same name were compared.
    Limited,
}

/// Merges each detected pair of deletion and addition into one rename.
pub(super) fn detect_renames(stores: &ObjectStore, changes: &mut Vec<TreeDelta>) -> RenameSearch {
    let is_one_sided = |change: &TreeDelta, is_deleted: bool| {
        let (one, other) =
            if is_deleted { (change.old, change.new) } else { (change.new, change.old) };
        one.is_some_and(DiffEntry::is_file) && other.is_none()
    };
    let indexes = |is_deleted: bool| {
        (0..changes.len()).filter(|index| is_one_sided(&changes[*index], is_deleted)).collect()
    };
    let mut detector = RenameDetector {
        stores,
        changes,
        deleted: indexes(true),
        added: indexes(false),
        pairs: vec![],
        span_cache: HashMap::new(),
    };
    detector.pair_identical();
    detector.pair_same_names();
    let search = detector.pair_similar();
    let pairs = detector.pairs;
    merge_pairs(changes, &pairs);
    search
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
        for index in &self.deleted {
            if let Some(old) = self.changes[*index].old {
                by_id.entry(old.id).or_default().push(*index);
            }
        }
        for added in self.added.clone() {
            let Some(new) = self.changes[added].new else { continue };
            let Some(deleted) = by_id.get_mut(&new.id).filter(|deleted| !deleted.is_empty()) else {
                continue;
            };
            let same_name = deleted
                .iter()
                .take(MAX_SAME_CONTENTS)
                .position(|index| self.file_name(*index) == self.file_name(added));
            let deleted = deleted.remove(same_name.unwrap_or(0));
            self.pairs.push((deleted, added));
        }
        self.remove_paired();
    }

    /// Pairs files with a unique name on both sides and enough similarity.
    fn pair_same_names(&mut self) {
        let (deleted_by_name, added_by_name) =
            (self.group_by_name(&self.deleted), self.group_by_name(&self.added));
        let mut pairs = vec![];
        for index in self.added.clone() {
            let name = self.file_name(index);
            let (Some([deleted]), Some([_])) = (
                deleted_by_name.get(name).map(Vec::as_slice),
                added_by_name.get(name).map(Vec::as_slice),
            ) else {
                continue;
            };
            if self.similarity(*deleted, index) >= MIN_SAME_NAME_SIMILARITY {
                pairs.push((*deleted, index));
            }
        }
        self.pairs.extend(pairs);
        self.remove_paired();
    }

    /// Pairs the remaining files, most similar first. With too many pairs it compares only files of
    /// the same name.
    fn pair_similar(&mut self) -> RenameSearch {
        let is_exhaustive = self.deleted.len().saturating_mul(self.added.len()) <= MAX_PAIRS;
        let by_name = self.group_by_name(&self.deleted);
        let mut scored = vec![];
        for added in self.added.clone() {
            let namesakes = by_name.get(self.file_name(added)).map_or(&[][..], Vec::as_slice);
            let candidates = if is_exhaustive { &self.deleted.clone()[..] } else { namesakes };
            let limit = if is_exhaustive { usize::MAX } else { MAX_SAME_NAME };
            for deleted in candidates.iter().copied().take(limit) {
                let score = self.similarity(deleted, added);
                if score >= MIN_SIMILARITY {
                    let name_differs = self.file_name(deleted) != self.file_name(added);
                    scored.push((u64::MAX - score, name_differs, deleted, added));
                }
            }
        }
        scored.sort_unstable();
        let mut taken = std::collections::HashSet::new();
        for (_, _, deleted, added) in scored {
            if !taken.contains(&deleted) && !taken.contains(&added) {
                taken.extend([deleted, added]);
                self.pairs.push((deleted, added));
            }
        }
        if is_exhaustive { RenameSearch::Exhaustive } else { RenameSearch::Limited }
    }

    /// Removes paired files from the candidates.
    fn remove_paired(&mut self) {
        let paired = self.pairs.iter().flat_map(|(deleted, added)| [*deleted, *added]);
        let paired: std::collections::HashSet<usize> = paired.collect();
        self.deleted.retain(|index| !paired.contains(index));
        self.added.retain(|index| !paired.contains(index));
    }

    fn file_name(&self, index: usize) -> &[u8] {
        let path = &self.changes[index].path;
        path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
    }

    fn group_by_name(&self, indexes: &[usize]) -> HashMap<Vec<u8>, Vec<usize>> {
        let mut by_name: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for index in indexes {
            by_name.entry(self.file_name(*index).to_owned()).or_default().push(*index);
        }
        by_name
    }

    /// Share of the larger file that is also in the other one, in percent. Span hashes are cached.
    fn similarity(&mut self, deleted: usize, added: usize) -> u64 {
        for index in [deleted, added] {
            if !self.span_cache.contains_key(&index) {
                let spans = self.read_file(index).map(|bytes| SpanHashes::from_bytes(&bytes));
                self.span_cache.insert(index, spans);
            }
        }
        let spans = |index: usize| self.span_cache.get(&index).and_then(Option::as_ref);
        spans(deleted).zip(spans(added)).map_or(0, |(one, other)| one.similarity(other))
    }

    fn read_file(&self, index: usize) -> Option<Vec<u8>> {
        let change = &self.changes[index];
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
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let is_text = !numstat::is_binary(bytes);
        let mut counted: HashMap<u64, u64> = HashMap::new();
        let pieces = bytes.split_inclusive(|byte| *byte == b'\n');
        for piece in pieces.flat_map(|line| line.chunks(MAX_CHUNK_BYTES)) {
            // A CRLF and an LF line are equal.
            let bare = piece.strip_suffix(b"\r\n").filter(|_| is_text);
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
        let (mut common, mut index) = (0, 0);
        for (hash, bytes) in &self.sorted {
            while other.sorted.get(index).is_some_and(|(other_hash, _)| other_hash < hash) {
                index += 1;
            }
            if let Some((other_hash, other_bytes)) = other.sorted.get(index)
                && other_hash == hash
            {
                common += bytes.min(other_bytes);
            }
        }
        common * 100 / larger.max(1)
    }
}

/// Replaces each pair by one change.
fn merge_pairs(changes: &mut Vec<TreeDelta>, pairs: &[(usize, usize)]) {
    let mut removed: Vec<usize> = vec![];
    for (old, new) in pairs {
        let (path, entry) = (changes[*old].path.clone(), changes[*old].old);
        let change = &mut changes[*new];
        (change.old_path, change.old) = (Some(path), entry);
        removed.push(*old);
    }
    removed.sort_unstable();
    for index in removed.into_iter().rev() {
        changes.remove(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::test_repo::{FILE_MODE, TempRepo};
    use crate::repo::tree_delta::DiffEntry;
    use git2::ObjectType;

    fn change(path: &str, old: Option<Oid>, new: Option<Oid>) -> TreeDelta {
        let entry = |id: Oid| DiffEntry { id, mode: FILE_MODE };
        TreeDelta { path: path.into(), old_path: None, old: old.map(entry), new: new.map(entry) }
    }

    /// Id of an object that is in no store, and so is similar to nothing.
    fn missing_id(path: &str) -> Oid {
        Oid::hash_object(ObjectType::Blob, path.as_bytes()).unwrap()
    }

    /// 100 lines of equal length, of which the first ones are always the same.
    fn hundred_lines(same: u64) -> Vec<u8> {
        let line = |nth: u64| format!("{}{nth:03}\n", if nth < same { "same" } else { "else" });
        (0..100).flat_map(|nth| line(nth).into_bytes()).collect()
    }

    #[test]
    fn all_pairs_are_compared_up_to_the_limit() {
        let repo = TempRepo::new();
        let (old, new) = (repo.blob(b"a\nb\nc\nd\n"), repo.blob(b"a\nb\nc\ne\n"));
        let stores = repo.object_store();
        for (added_count, search, rename_count) in
            [(200, RenameSearch::Exhaustive, 1), (201, RenameSearch::Limited, 0)]
        {
            let mut changes =
                vec![change("before.rs", Some(old), None), change("after.rs", None, Some(new))];
            for nth in 1..200 {
                let path = format!("deleted{nth}.rs");
                changes.push(change(&path, Some(missing_id(&path)), None));
            }
            for nth in 1..added_count {
                let path = format!("added{nth}.rs");
                changes.push(change(&path, None, Some(missing_id(&path))));
            }
            assert_eq!(detect_renames(&stores, &mut changes), search);
            let renames = changes.iter().filter(|change| change.old_path.is_some());
            assert_eq!(renames.count(), rename_count);
        }
        assert_eq!(MAX_PAIRS, 200 * 200);
    }

    #[test]
    fn half_of_a_renamed_file_must_be_the_same() {
        let repo = TempRepo::new();
        let old = repo.blob(&hundred_lines(100));
        for (same, is_rename) in [(MIN_SIMILARITY, true), (MIN_SIMILARITY - 1, false)] {
            let new = repo.blob(&hundred_lines(same));
            let mut changes =
                vec![change("old.rs", Some(old), None), change("new.rs", None, Some(new))];
            detect_renames(&repo.object_store(), &mut changes);
            assert_eq!(changes.len() == 1, is_rename, "{same} %");
        }
        assert_eq!(MIN_SIMILARITY, 50);
    }
}
