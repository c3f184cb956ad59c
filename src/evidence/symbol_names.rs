//! Recognizes code symbols and commit ids in inline code.
use super::location;

/// Maximum length of an abbreviated commit id. Other lengths below 40 are likely other hashes.
const MAX_SHORT_ID: usize = 16;

/// Parses a code symbol: `foo_bar`, `Foo::bar`, `foo.bar()`, `FooBar`. Rejects commands, flags,
/// versions, plain words, and paths of the standard library.
pub(super) fn parse_symbol(code: &str) -> Option<&str> {
    let code = code.trim().trim_start_matches(['&', '*', '@']);
    let bare = match code.find('(') {
        Some(at) if at > 0 && code.ends_with(')') => &code[..at],
        Some(_) => return None,
        None => code,
    };
    let called = bare.len() < code.len() || bare.ends_with('!');
    let bare = bare.trim_end_matches('!');
    let foreign = ["std::", "core::", "alloc::"].iter().any(|start| bare.starts_with(start));
    if bare.is_empty() || bare.len() > 200 || foreign || location::is_product_name(bare) {
        return None;
    }
    let parts: Vec<&str> = symbol_parts(bare).collect();
    if !parts.iter().all(|part| location::is_identifier(part)) {
        return None;
    }
    let host =
        parts.len() > 1 && !called && parts.last().is_some_and(|it| location::is_host_suffix(it));
    let telling = called || parts.len() > 1 || parts.iter().any(|part| is_compound(part));
    (telling && !host && bare.chars().count() > 2).then_some(bare)
}

/// Identifiers of a qualified symbol.
pub(super) fn symbol_parts(name: &str) -> impl Iterator<Item = &str> {
    name.split("::").flat_map(|part| part.split("->")).flat_map(|part| part.split(['.', '#']))
}

/// Whether an identifier is compound, so that it is not a word of prose: `foo_bar`, `fooBar`.
fn is_compound(part: &str) -> bool {
    let snake = part.trim_matches('_').contains('_');
    let mut humps = part.chars().zip(part.chars().skip(1));
    snake || humps.any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}

/// Whether a word is a commit id or a prefix of one: 7 to 40 lower-case hexadecimal digits with at
/// least one letter and one figure, so that it is neither a word nor a number.
pub(super) fn is_commit_id(word: &str) -> bool {
    let hex = word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let figures = word.bytes().any(|byte| byte.is_ascii_digit());
    let letters = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    (7..=40).contains(&word.len()) && hex && figures && letters
}

/// Whether inline code is probably a commit id, without the word "commit" before it.
pub(super) fn is_likely_commit_id(word: &str) -> bool {
    is_commit_id(word) && (word.len() <= MAX_SHORT_ID || word.len() == 40)
}

/// Whether the text before an id introduces a commit.
pub(super) fn announces_commit(before: &str) -> bool {
    let word = before.trim_end_matches([' ', ':', '`', '(', '"', '@', '#']);
    let word = word.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let words = ["commit", "commits", "sha", "revision", "rev", "changeset", "hash"];
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}
