//! Word count for any script.

/// Counts words, and single characters in scripts without spaces between words.
pub(in crate::debate) fn count_words(text: &str) -> usize {
    let mut count = 0;
    let mut in_word = false;
    for c in text.chars() {
        let ideographic = is_ideographic(c);
        let word_char = !ideographic && c.is_alphanumeric();
        count += usize::from(ideographic || (word_char && !in_word));
        in_word = word_char || (in_word && "'\u{2019}-_.".contains(c));
    }
    count
}

/// Han, kana and hangul characters, which are counted one by one.
fn is_ideographic(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x2_0000..=0x3_134f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_count_handles_punctuation_and_cjk() {
        for (text, count) in [
            ("", 0),
            ("one", 1),
            ("  one   two\nthree ", 3),
            ("don't re-use src/lib.rs", 4),
            ("它很快。", 3),
            ("用 SQLite 很快", 4),
            ("日本語です", 5),
            ("- **bold** — `code`", 2),
            ("3.14 and 1,000", 4),
        ] {
            assert_eq!(count_words(text), count, "{text}");
        }
    }
}
