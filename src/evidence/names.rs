//! Names of code and ids of commits, as they are written in backticks.
use super::place;

/// Ids that are shorter than this, or whole, may be told from other digests.
const USUAL_ID: usize = 16;

/// A name of code: `foo_bar`, `Foo::bar`, `foo.bar()`, `FooBar`. Commands, flags, versions and
/// plain words are none, and neither is what belongs to the language itself.
pub(super) fn name(code: &str) -> Option<&str> {
    let code = code.trim().trim_start_matches(['&', '*', '@']);
    let bare = match code.find('(') {
        Some(at) if at > 0 && code.ends_with(')') => &code[..at],
        Some(_) => return None,
        None => code,
    };
    let called = bare.len() < code.len() || bare.ends_with('!');
    let bare = bare.trim_end_matches('!');
    let foreign = ["std::", "core::", "alloc::"].iter().any(|start| bare.starts_with(start));
    if bare.is_empty() || bare.len() > 200 || foreign || place::product(bare) {
        return None;
    }
    let parts: Vec<&str> = parts(bare).collect();
    if !parts.iter().all(|part| place::identifier(part)) {
        return None;
    }
    let host = parts.len() > 1 && !called && parts.last().is_some_and(|it| place::host_ending(it));
    let telling = called || parts.len() > 1 || parts.iter().any(|part| composed(part));
    (telling && !host && bare.chars().count() > 2).then_some(bare)
}

/// The identifiers a name is made of.
pub(super) fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split("::").flat_map(|part| part.split("->")).flat_map(|part| part.split(['.', '#']))
}

/// Whether an identifier is one nobody would write in prose: `foo_bar`, `fooBar`, `FooBar`.
fn composed(part: &str) -> bool {
    let snake = part.trim_matches('_').contains('_');
    let mut humps = part.chars().zip(part.chars().skip(1));
    snake || humps.any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}

/// Whether something is the id of a commit, or the beginning of one: hexadecimal digits, letters
/// among them and figures, so that neither words nor numbers are.
pub(super) fn commit(word: &str) -> bool {
    let hex = word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let figures = word.bytes().any(|byte| byte.is_ascii_digit());
    let letters = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    (7..=40).contains(&word.len()) && hex && figures && letters
}

/// Whether an id in backticks is likely that of a commit without anybody saying so.
pub(super) fn plain_commit(word: &str) -> bool {
    commit(word) && (word.len() <= USUAL_ID || word.len() == 40)
}

/// Whether the text before an id says that it is a commit's.
pub(super) fn announces_commit(before: &str) -> bool {
    let word = before.trim_end_matches([' ', ':', '`', '(', '"', '@', '#']);
    let word = word.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let words = ["commit", "commits", "sha", "revision", "rev", "changeset", "hash"];
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}
