//! Seeded random generator for repositories and texts.
use std::fmt::Write;

/// Deterministic random generator (`SplitMix64`), seeded so that a failing case can be repeated.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub(crate) fn random_lines(&mut self, lines: usize) -> String {
        let words = ["alpha", "beta", "}", "", "    return x;", "fn gamma() {", "delta", "if ok {"];
        let mut text = String::new();
        for _ in 0..lines {
            let (word, number) = (*self.pick(&words), self.below(40));
            let _ = writeln!(text, "{word} {number}");
        }
        text
    }
}
