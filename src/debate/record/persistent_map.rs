//! Persistent ordered map: a weight-balanced search tree with path copying. A clone shares all
//! nodes, and an insertion copies only the O(log n) shared nodes on its path. The session drafts
//! a copy of the debate for every write, so the cost of a write must not grow with the record.
//!
//! Balance as in Adams' trees with the parameters (3, 2) of Hirai and Yamamoto, "Balancing
//! weight-balanced trees" (2011), which are proved correct.
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// A subtree may have at most this many times the elements of its sibling.
const MAX_WEIGHT_RATIO: usize = 3;
/// A double rotation is made if the inner grandchild has this many times the outer one's elements.
const DOUBLE_ROTATION_RATIO: usize = 2;

/// Ordered map that is cheap to clone.
pub(super) struct PersistentMap<K, V> {
    root: Link<K, V>,
}

type Link<K, V> = Option<Arc<Node<K, V>>>;

struct Node<K, V> {
    key: K,
    value: Arc<V>,
    /// Number of elements in this subtree.
    size: usize,
    left: Link<K, V>,
    right: Link<K, V>,
}

impl<K: Copy + Ord, V> PersistentMap<K, V> {
    pub(super) const fn new() -> PersistentMap<K, V> {
        PersistentMap { root: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    pub(super) fn get(&self, key: K) -> Option<&V> {
        let mut link = &self.root;
        while let Some(node) = link {
            link = match key.cmp(&node.key) {
                Ordering::Less => &node.left,
                Ordering::Equal => return Some(&node.value),
                Ordering::Greater => &node.right,
            };
        }
        None
    }

    pub(super) fn contains_key(&self, key: K) -> bool {
        self.get(key).is_some()
    }

    /// Inserts or replaces a value. Returns whether one was replaced.
    pub(super) fn insert(&mut self, key: K, value: V) -> bool {
        let size = subtree_size(&self.root);
        insert_into(&mut self.root, key, Arc::new(value));
        subtree_size(&self.root) == size
    }

    /// Keeps the elements for which the predicate holds. O(n).
    pub(super) fn retain(&mut self, keeps: impl Fn(K, &V) -> bool) {
        let mut kept = PersistentMap::new();
        for node in self.nodes_in(..).filter(|node| keeps(node.key, &node.value)) {
            insert_into(&mut kept.root, node.key, node.value.clone());
        }
        *self = kept;
    }

    /// Elements in a range of keys, in order.
    pub(super) fn range(
        &self,
        keys: impl RangeBounds<K>,
    ) -> impl DoubleEndedIterator<Item = (K, &V)> {
        self.nodes_in(keys).map(|node| (node.key, &*node.value))
    }

    /// All keys, in order.
    pub(super) fn keys(&self) -> impl DoubleEndedIterator<Item = K> {
        self.nodes_in(..).map(|node| node.key)
    }

    fn nodes_in(&self, keys: impl RangeBounds<K>) -> Nodes<'_, K, V> {
        let is_before = |key: K| match keys.start_bound() {
            Bound::Included(start) => key < *start,
            Bound::Excluded(start) => key <= *start,
            Bound::Unbounded => false,
        };
        let is_after = |key: K| match keys.end_bound() {
            Bound::Included(end) => key > *end,
            Bound::Excluded(end) => key >= *end,
            Bound::Unbounded => false,
        };
        let (mut front, mut skipped) = (vec![], 0);
        let mut link = &self.root;
        while let Some(node) = link {
            if is_before(node.key) {
                skipped += 1 + subtree_size(&node.left);
                link = &node.right;
            } else {
                front.push(&**node);
                link = &node.left;
            }
        }
        let mut back = vec![];
        let mut link = &self.root;
        while let Some(node) = link {
            if is_after(node.key) {
                skipped += 1 + subtree_size(&node.right);
                link = &node.left;
            } else {
                back.push(&**node);
                link = &node.right;
            }
        }
        // A range that ends before it begins skips elements twice.
        Nodes { front, back, remaining: subtree_size(&self.root).saturating_sub(skipped) }
    }
}

/// In-order iterator from both ends.
struct Nodes<'a, K, V> {
    /// The next node from the front is the last one, its unvisited ancestors come before it.
    front: Vec<&'a Node<K, V>>,
    back: Vec<&'a Node<K, V>>,
    remaining: usize,
}

impl<'a, K, V> Iterator for Nodes<'a, K, V> {
    type Item = &'a Node<K, V>;

    fn next(&mut self) -> Option<&'a Node<K, V>> {
        self.remaining = self.remaining.checked_sub(1)?;
        let node = self.front.pop()?;
        let mut link = &node.right;
        while let Some(child) = link {
            self.front.push(child);
            link = &child.left;
        }
        Some(node)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl<K, V> DoubleEndedIterator for Nodes<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.remaining = self.remaining.checked_sub(1)?;
        let node = self.back.pop()?;
        let mut link = &node.left;
        while let Some(child) = link {
            self.back.push(child);
            link = &child.right;
        }
        Some(node)
    }
}

fn subtree_size<K, V>(link: &Link<K, V>) -> usize {
    link.as_ref().map_or(0, |node| node.size)
}

fn insert_into<K: Copy + Ord, V>(link: &mut Link<K, V>, key: K, value: Arc<V>) {
    let Some(shared) = link else {
        *link = Some(Arc::new(Node { key, value, size: 1, left: None, right: None }));
        return;
    };
    let node = Arc::make_mut(shared);
    match key.cmp(&node.key) {
        Ordering::Less => insert_into(&mut node.left, key, value),
        Ordering::Equal => node.value = value,
        Ordering::Greater => insert_into(&mut node.right, key, value),
    }
    rebalance(shared);
}

/// Restores size and balance of a node after an insertion below it.
fn rebalance<K: Copy, V>(link: &mut Arc<Node<K, V>>) {
    let node = Arc::make_mut(link);
    node.update_size();
    let (left, right) = (subtree_size(&node.left), subtree_size(&node.right));
    if left + right < 2 {
        return;
    }
    if let Some(child) = node.right.as_mut().filter(|_| right > MAX_WEIGHT_RATIO * left) {
        if subtree_size(&child.left) >= DOUBLE_ROTATION_RATIO * subtree_size(&child.right) {
            rotate_right(child);
        }
        rotate_left(link);
    } else if let Some(child) = node.left.as_mut().filter(|_| left > MAX_WEIGHT_RATIO * right) {
        if subtree_size(&child.right) >= DOUBLE_ROTATION_RATIO * subtree_size(&child.left) {
            rotate_left(child);
        }
        rotate_right(link);
    }
}

/// Makes the right child the root of this subtree.
fn rotate_left<K: Copy, V>(link: &mut Arc<Node<K, V>>) {
    let node = Arc::make_mut(link);
    let Some(mut root) = node.right.take() else { return };
    node.right = Arc::make_mut(&mut root).left.take();
    node.update_size();
    std::mem::swap(link, &mut root);
    let new_root = Arc::make_mut(link);
    new_root.left = Some(root);
    new_root.update_size();
}

/// Makes the left child the root of this subtree.
fn rotate_right<K: Copy, V>(link: &mut Arc<Node<K, V>>) {
    let node = Arc::make_mut(link);
    let Some(mut root) = node.left.take() else { return };
    node.left = Arc::make_mut(&mut root).right.take();
    node.update_size();
    std::mem::swap(link, &mut root);
    let new_root = Arc::make_mut(link);
    new_root.right = Some(root);
    new_root.update_size();
}

impl<K, V> Node<K, V> {
    fn update_size(&mut self) {
        self.size = 1 + subtree_size(&self.left) + subtree_size(&self.right);
    }
}

/// Shares the value and both subtrees.
impl<K: Copy, V> Clone for Node<K, V> {
    fn clone(&self) -> Node<K, V> {
        let Node { key, value, size, left, right } = self;
        let (value, left, right) = (value.clone(), left.clone(), right.clone());
        Node { key: *key, value, size: *size, left, right }
    }
}

/// Shares all elements. O(1).
impl<K, V> Clone for PersistentMap<K, V> {
    fn clone(&self) -> PersistentMap<K, V> {
        PersistentMap { root: self.root.clone() }
    }
}

impl<K: Copy + Ord, V: PartialEq> PartialEq for PersistentMap<K, V> {
    fn eq(&self, other: &PersistentMap<K, V>) -> bool {
        subtree_size(&self.root) == subtree_size(&other.root) && self.range(..).eq(other.range(..))
    }
}

impl<K: Copy + Ord, V: Eq> Eq for PersistentMap<K, V> {}

impl<K: Copy + Ord + fmt::Debug, V: fmt::Debug> fmt::Debug for PersistentMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.range(..)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::debate_fixture::Rng;
    use std::collections::BTreeMap;

    /// Bound of the depth of a tree whose subtrees differ by the weight ratio at most: a child has
    /// at most 3/4 of the elements, and (3/4)^3 is less than a half.
    fn max_depth(size: usize) -> usize {
        3 * (usize::BITS - (size + 1).leading_zeros()) as usize
    }

    /// Checks sizes and balance, and returns the depth.
    fn check<K, V>(link: &Link<K, V>) -> usize {
        let Some(node) = link else { return 0 };
        let (left, right) = (subtree_size(&node.left), subtree_size(&node.right));
        assert_eq!(node.size, 1 + left + right);
        let is_balanced = left <= MAX_WEIGHT_RATIO * right && right <= MAX_WEIGHT_RATIO * left;
        assert!(left + right < 2 || is_balanced, "{left} : {right}");
        1 + check(&node.left).max(check(&node.right))
    }

    #[test]
    fn behaves_like_a_btree_map() {
        for seed in 0..300 {
            let mut rng = Rng(seed);
            let (mut map, mut expected) = (PersistentMap::new(), BTreeMap::new());
            let span = 1 + rng.below(200);
            for step in 0..rng.below(300) {
                let key = if seed % 3 == 0 { step } else { rng.below(span) };
                let replaced = expected.insert(key, step).is_some();
                assert_eq!(map.insert(key, step), replaced);
            }
            if rng.one_in(3) {
                let odd = rng.below(2);
                map.retain(|key, _| key % 2 == odd);
                expected.retain(|key, _| key % 2 == odd);
            }
            assert!(check(&map.root) <= max_depth(expected.len()));
            assert_eq!(map.is_empty(), expected.is_empty());
            assert!(map.keys().eq(expected.keys().copied()));
            for _ in 0..20 {
                let (a, b) = (rng.below(span + 2), rng.below(span + 2));
                assert_eq!(map.get(a), expected.get(&a));
                let (low, high) = (a.min(b), a.max(b));
                let both = expected.range(low..high).map(|(key, value)| (*key, value));
                assert!(map.range(low..high).eq(both.clone()));
                assert!(map.range(low..high).rev().eq(both.rev()));
                assert!(
                    map.range(low..=high)
                        .map(|it| it.0)
                        .eq(expected.range(low..=high).map(|it| *it.0))
                );
                assert!(map.range(..high).count() == expected.range(..high).count());
                assert!(
                    map.range(low..).last().map(|it| it.0)
                        == expected.range(low..).last().map(|it| *it.0)
                );
                assert_eq!(map.range((low + 1)..low).count(), 0);
            }
            let mut from_both_ends = map.range(..);
            let mut seen = 0;
            while let Some((front, _)) = from_both_ends.next() {
                seen += 1;
                if let Some((back, _)) = from_both_ends.next_back() {
                    seen += 1;
                    assert!(front < back);
                }
            }
            assert_eq!(seen, expected.len());
        }
    }

    #[test]
    fn a_clone_shares_its_nodes_and_does_not_change() {
        let mut map = PersistentMap::new();
        for key in 0..1_000 {
            map.insert(key, key);
        }
        let snapshot = map.clone();
        assert!(Arc::ptr_eq(map.root.as_ref().unwrap(), snapshot.root.as_ref().unwrap()));
        map.insert(1_000, 0);
        map.insert(500, 0);
        assert_eq!(snapshot.range(..).count(), 1_000);
        assert_eq!(snapshot.get(500), Some(&500));
        assert_eq!(map.get(500), Some(&0));
        let node = |map: &PersistentMap<i32, i32>| -> Vec<*const Node<i32, i32>> {
            map.nodes_in(..).map(std::ptr::from_ref).collect()
        };
        let old: std::collections::HashSet<_> = node(&snapshot).into_iter().collect();
        let copied = node(&map).into_iter().filter(|it| !old.contains(it)).count();
        assert!(copied <= 2 * max_depth(1_001), "{copied} nodes copied");
    }
}
