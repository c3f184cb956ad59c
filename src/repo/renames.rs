//! Rename detection: pairs a deleted with an added file of equal or similar contents. libgit2
//! compares all pairs, which takes minutes for thousands of files. Here files are matched by
//! content hash first, then by file name, and all pairs are compared only if there are few.
use super::changes::{Change, Renames};
use super::stores::Stores;
use super::{LARGEST, counts};
use git2::Oid;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Maximum number of pairs for the comparison of all with all.
const MOST_PAIRS: usize = 40_000;
/// Deleted files of the same name that an added file is compared with if there are too many pairs.
const MOST_NAMESAKES: usize = 8;
/// Minimum similarity of a rename in percent, as in git.
const ALIKE: u64 = 50;
/// Minimum similarity in percent of two files that are the only ones with their name. Higher,
/// because no other candidate is compared.
const NAMESAKES_ALIKE: u64 = 75;

/// Merges each detected pair of deletion and addition into one rename.
pub(super) fn find(stores: &Stores, changes: &mut Vec<Change>) -> Renames {
    let is = |change: &Change, gone: bool| {
        let (one, other) = if gone { (change.old, change.new) } else { (change.new, change.old) };
        one.is_some_and(super::changes::Entry::is_file) && other.is_none()
    };
    let all = |gone: bool| (0..changes.len()).filter(|at| is(&changes[*at], gone)).collect();
    let mut finding = Finding {
        stores,
        changes,
        gone: all(true),
        added: all(false),
        pairs: vec![],
        spans: HashMap::new(),
    };
    finding.same();
    finding.namesakes();
    let thorough = finding.each_with_each();
    let pairs = finding.pairs;
    join(changes, &pairs);
    thorough
}

/// State of the detection. Files are indexes into `changes`.
struct Finding<'a> {
    stores: &'a Stores,
    changes: &'a [Change],
    gone: Vec<usize>,
    added: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    spans: HashMap<usize, Option<Spans>>,
}

impl Finding<'_> {
    /// Pairs files with the same object id. Of several candidates it prefers one with the same
    /// name.
    fn same(&mut self) {
        let mut by_id: HashMap<Oid, Vec<usize>> = HashMap::new();
        for at in &self.gone {
            if let Some(old) = self.changes[*at].old {
                by_id.entry(old.id).or_default().push(*at);
            }
        }
        for added in self.added.clone() {
            let Some(new) = self.changes[added].new else { continue };
            let Some(gone) = by_id.get_mut(&new.id).filter(|gone| !gone.is_empty()) else {
                continue;
            };
            let kept = gone.iter().take(100).position(|at| self.name(*at) == self.name(added));
            let gone = gone.remove(kept.unwrap_or(0));
            self.pairs.push((gone, added));
        }
        self.settle();
    }

    /// Pairs files with a unique name on both sides and enough similarity.
    fn namesakes(&mut self) {
        let (gone, added) = (self.by_name(&self.gone), self.by_name(&self.added));
        let mut pairs = vec![];
        for at in self.added.clone() {
            let name = self.name(at);
            let (Some([one]), Some([_])) =
                (gone.get(name).map(Vec::as_slice), added.get(name).map(Vec::as_slice))
            else {
                continue;
            };
            if self.alike(*one, at) >= NAMESAKES_ALIKE {
                pairs.push((*one, at));
            }
        }
        self.pairs.extend(pairs);
        self.settle();
    }

    /// Pairs the remaining files, most similar first. With too many pairs it compares only files of
    /// the same name.
    fn each_with_each(&mut self) -> Renames {
        let few = self.gone.len().saturating_mul(self.added.len()) <= MOST_PAIRS;
        let by_name = self.by_name(&self.gone);
        let mut scored = vec![];
        for added in self.added.clone() {
            let namesakes = by_name.get(self.name(added)).map_or(&[][..], Vec::as_slice);
            let others = if few { &self.gone.clone()[..] } else { namesakes };
            let most = if few { usize::MAX } else { MOST_NAMESAKES };
            for gone in others.iter().copied().take(most) {
                let score = self.alike(gone, added);
                if score >= ALIKE {
                    let renamed_only_in_part = self.name(gone) != self.name(added);
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
        if few { Renames::All } else { Renames::Likely }
    }

    /// Removes paired files from the candidates.
    fn settle(&mut self) {
        let paired = self.pairs.iter().flat_map(|(gone, added)| [*gone, *added]);
        let paired: std::collections::HashSet<usize> = paired.collect();
        self.gone.retain(|at| !paired.contains(at));
        self.added.retain(|at| !paired.contains(at));
    }

    fn name(&self, at: usize) -> &[u8] {
        let path = &self.changes[at].path;
        path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
    }

    fn by_name(&self, all: &[usize]) -> HashMap<Vec<u8>, Vec<usize>> {
        let mut by_name: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for at in all {
            by_name.entry(self.name(*at).to_owned()).or_default().push(*at);
        }
        by_name
    }

    /// Share of the larger file that is also in the other one, in percent. Span hashes are cached.
    fn alike(&mut self, gone: usize, added: usize) -> u64 {
        for at in [gone, added] {
            if !self.spans.contains_key(&at) {
                let spans = self.read(at).map(|bytes| Spans::of(&bytes));
                self.spans.insert(at, spans);
            }
        }
        let spans = |at: usize| self.spans.get(&at).and_then(Option::as_ref);
        spans(gone).zip(spans(added)).map_or(0, |(one, other)| one.alike(other))
    }

    fn read(&self, at: usize) -> Option<Vec<u8>> {
        let change = &self.changes[at];
        let entry = change.old.or(change.new)?;
        let (size, _) = self.stores.header(entry.id)?;
        self.stores.bytes(entry.id).filter(|_| size > 0 && size <= LARGEST)
    }
}

/// Hashes of a file's lines, in chunks of up to 64 bytes, with the bytes per hash (git's
/// "spanhash").
struct Spans {
    sorted: Vec<(u64, u64)>,
    bytes: u64,
}

impl Spans {
    fn of(bytes: &[u8]) -> Spans {
        const LONGEST: usize = 64;
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let text = !counts::is_binary(bytes);
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
        Spans { sorted, bytes: bytes.len() as u64 }
    }

    fn alike(&self, other: &Spans) -> u64 {
        let (larger, smaller) = (self.bytes.max(other.bytes), self.bytes.min(other.bytes));
        if smaller * 100 < larger * ALIKE {
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
fn join(changes: &mut Vec<Change>, pairs: &[(usize, usize)]) {
    let mut gone: Vec<usize> = vec![];
    for (old, new) in pairs {
        let (path, entry) = (changes[*old].path.clone(), changes[*old].old);
        let change = &mut changes[*new];
        (change.from, change.old) = (Some(path), entry);
        gone.push(*old);
    }
    gone.sort_unstable();
    for at in gone.into_iter().rev() {
        changes.remove(at);
    }
}
