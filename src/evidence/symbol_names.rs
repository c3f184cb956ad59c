//! Recognizes code symbols and commit ids in inline code.
use super::location;

/// Length of a full commit id in hexadecimal digits.
const ID_DIGITS: usize = 40;
/// Minimum length of an abbreviated commit id in hexadecimal digits.
const MIN_ID_DIGITS: usize = 7;
/// Maximum length of an abbreviated commit id. Other lengths below 40 are likely other hashes.
const MAX_SHORT_ID: usize = 16;
/// Maximum length of a symbol in bytes.
const MAX_SYMBOL_BYTES: usize = 200;
/// Minimum length of a symbol that proves something, in characters.
pub(super) const MIN_SYMBOL_CHARS: usize = 3;

/// Parses a code symbol: `foo_bar`, `Foo::bar`, `foo.bar()`, `FooBar`. Rejects commands, flags,
/// versions, plain words, and paths of the standard library.
pub(super) fn parse_symbol(code: &str) -> Option<&str> {
    let code = code.trim().trim_start_matches(['&', '*', '@']);
    let bare = match code.find('(') {
        Some(paren) if paren > 0 && code.ends_with(')') => &code[..paren],
        Some(_) => return None,
        None => code,
    };
    let is_call = bare.len() < code.len() || bare.ends_with('!');
    let bare = bare.trim_end_matches('!');
    let is_std = ["std::", "core::", "alloc::"].iter().any(|start| bare.starts_with(start));
    if bare.is_empty() || bare.len() > MAX_SYMBOL_BYTES || is_std || location::is_product_name(bare)
    {
        return None;
    }
    let parts: Vec<&str> = symbol_parts(bare).collect();
    if !parts.iter().all(|part| location::is_identifier(part)) {
        return None;
    }
    let is_host =
        parts.len() > 1 && !is_call && parts.last().is_some_and(|it| location::is_host_suffix(it));
    let is_distinctive = is_call || parts.len() > 1 || parts.iter().any(|part| is_compound(part));
    (is_distinctive && !is_host && bare.chars().count() >= MIN_SYMBOL_CHARS).then_some(bare)
}

/// Identifiers of a qualified symbol.
pub(super) fn symbol_parts(name: &str) -> impl Iterator<Item = &str> {
    name.split("::").flat_map(|part| part.split("->")).flat_map(|part| part.split(['.', '#']))
}

/// Whether an identifier is compound, so that it is not a word of prose: `foo_bar`, `fooBar`.
fn is_compound(part: &str) -> bool {
    let is_snake_case = part.trim_matches('_').contains('_');
    let mut pairs = part.chars().zip(part.chars().skip(1));
    is_snake_case || pairs.any(|(current, next)| current.is_lowercase() && next.is_uppercase())
}

/// Whether a word is a commit id or a prefix of one: 7 to 40 lower-case hexadecimal digits with at
/// least one letter and one figure, so that it is neither a word nor a number.
pub(super) fn is_commit_id(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    (MIN_ID_DIGITS..=ID_DIGITS).contains(&word.len()) && is_hex && has_digit && has_letter
}

/// Whether inline code is probably a commit id, without the word "commit" before it.
pub(super) fn is_likely_commit_id(word: &str) -> bool {
    is_commit_id(word) && (word.len() <= MAX_SHORT_ID || word.len() == ID_DIGITS)
}

/// Whether the text before an id introduces a commit.
pub(super) fn announces_commit(before: &str) -> bool {
    let word = before.trim_end_matches([' ', ':', '`', '(', '"', '@', '#']);
    let word = word.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let keywords = ["commit", "commits", "sha", "revision", "rev", "changeset", "hash"];
    keywords.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_id_has_7_to_40_digits() {
        let digits = "a1".repeat(ID_DIGITS);
        assert!(is_commit_id(&digits[..MIN_ID_DIGITS]));
        assert!(!is_commit_id(&digits[..MIN_ID_DIGITS - 1]));
        assert!(is_commit_id(&digits[..ID_DIGITS]));
        assert!(!is_commit_id(&digits[..=ID_DIGITS]));
        assert!(is_likely_commit_id(&digits[..MAX_SHORT_ID]));
        assert!(!is_likely_commit_id(&digits[..=MAX_SHORT_ID]));
        assert!(is_likely_commit_id(&digits[..ID_DIGITS]));
        assert_eq!((MIN_ID_DIGITS, MAX_SHORT_ID, ID_DIGITS), (7, 16, 40));
    }

    #[test]
    fn symbol_has_3_characters_to_200_bytes() {
        let call = |bytes: usize| format!("{}()", "x".repeat(bytes));
        assert!(parse_symbol(&call(MIN_SYMBOL_CHARS)).is_some());
        assert!(parse_symbol(&call(MIN_SYMBOL_CHARS - 1)).is_none());
        assert!(parse_symbol(&call(MAX_SYMBOL_BYTES)).is_some());
        assert!(parse_symbol(&call(MAX_SYMBOL_BYTES + 1)).is_none());
        assert_eq!((MIN_SYMBOL_CHARS, MAX_SYMBOL_BYTES), (3, 200));
    }
}
