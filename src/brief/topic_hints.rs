//! Parses a topic for hints: file names, symbols, changes, architecture, history. Works on words
//! alone, without the repository.
use crate::repo::DiffRange;
use std::ops::RangeInclusive;

/// What a topic mentions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TopicHints {
    /// Possible file or folder names, in order.
    pub(super) names: Vec<String>,
    /// Possible identifiers.
    pub(super) symbols: Vec<String>,
    /// Diff range the topic refers to.
    pub(super) change: Option<DiffRange>,
    pub(super) architecture: bool,
    pub(super) history: bool,
}

/// Limit on names, and on symbols.
const MAX_NAMES: usize = 24;
/// Longest word or span that may be a name, in bytes.
const MAX_WORD_BYTES: usize = 300;
/// Lengths of a commit id, or of its prefix, in digits.
const COMMIT_ID_DIGITS: RangeInclusive<usize> = 7..=40;

const ARCHITECTURE_WORDS: &[&str] = &[
    "architecture",
    "architectural",
    "structure",
    "design of",
    "module",
    "modules",
    "dependencies",
    "dependency",
    "crate",
    "crates",
    "package",
    "packages",
    "monorepo",
    "layering",
    "layers",
    "microservice",
    "microservices",
];
const ARCHITECTURE_WORDS_NON_ENGLISH: &[&str] =
    &["架构", "模块", "依赖", "アーキテクチャ", "архитектур"];
const HISTORY_WORDS: &[&str] =
    &["history", "regression", "regressed", "introduced", "blame", "when did"];

/// Phrases that refer to changes. The first match decides the diff range.
const CHANGE_PHRASES: &[(&str, DiffRange)] = &[
    ("staged", DiffRange::Staged),
    ("uncommitted", DiffRange::Worktree),
    ("working tree", DiffRange::Worktree),
    ("pull request", DiffRange::Branch),
    ("merge request", DiffRange::Branch),
    ("this pr", DiffRange::Branch),
    ("the pr", DiffRange::Branch),
    ("my pr", DiffRange::Branch),
    ("this branch", DiffRange::Branch),
    ("the branch", DiffRange::Branch),
    ("my branch", DiffRange::Branch),
    ("this change", DiffRange::Auto),
    ("these changes", DiffRange::Auto),
    ("the changes", DiffRange::Auto),
    ("my changes", DiffRange::Auto),
    ("the change", DiffRange::Auto),
    ("my change", DiffRange::Auto),
    ("this diff", DiffRange::Auto),
    ("the diff", DiffRange::Auto),
    ("this patch", DiffRange::Auto),
    ("the patch", DiffRange::Auto),
];
const CHANGE_PHRASES_NON_ENGLISH: &[&str] =
    &["这个改动", "这次改动", "这些改动", "这个变更", "这次变更", "变更集"];
const LAST_COMMIT_PHRASES: &[&str] =
    &["this commit", "last commit", "the commit", "latest commit", "my commit"];

impl TopicHints {
    pub(super) fn parse(text: &str) -> TopicHints {
        let mut topic = TopicHints::default();
        for span in backtick_spans(text) {
            topic.add_name(span);
            topic.add_symbol(span, true);
        }
        for word in split_words(text) {
            if word.contains(['.', '/']) {
                topic.add_name(word);
            }
            topic.add_symbol(word, false);
        }
        // Normalize to words with one space around each, so that only whole words match.
        let to_space = |c: char| if c.is_alphanumeric() { c } else { ' ' };
        let normalized: String = text.to_lowercase().chars().map(to_space).collect();
        let normalized: Vec<&str> = normalized.split_whitespace().collect();
        let normalized = format!(" {} ", normalized.join(" "));
        let contains_phrase = |word: &str| normalized.contains(&format!(" {word} "));
        let contains_any = |words: &[&str]| words.iter().any(|word| contains_phrase(word));
        let text_contains_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let change = CHANGE_PHRASES
            .iter()
            .find(|(word, _)| contains_phrase(word))
            .map(|(_, range)| range.clone());
        let commit = find_commit(&normalized)
            .or(contains_any(LAST_COMMIT_PHRASES).then(|| DiffRange::Commit("HEAD".into())));
        topic.change = change
            .or(commit)
            .or(text_contains_any(CHANGE_PHRASES_NON_ENGLISH).then_some(DiffRange::Auto));
        topic.architecture =
            contains_any(ARCHITECTURE_WORDS) || text_contains_any(ARCHITECTURE_WORDS_NON_ENGLISH);
        topic.history = contains_any(HISTORY_WORDS);
        topic
    }

    fn add_name(&mut self, word: &str) {
        let word = word
            .trim_matches(|c: char| matches!(c, ',' | ';' | '!' | '?' | '(' | ')' | '"' | '\''));
        let word = word.trim_end_matches(['.', ':']);
        let is_name = word.len() >= 2 && !word.contains("://") && !word.contains("..");
        if is_name && self.names.len() < MAX_NAMES && !self.names.iter().any(|name| name == word) {
            self.names.push(word.to_owned());
        }
    }

    fn add_symbol(&mut self, word: &str, in_backticks: bool) {
        // `App::open()` is about `open`.
        let word =
            word.trim_end_matches(['?', '.', ':']).trim_end_matches("()").trim_end_matches('!');
        let is_path = word.contains("::");
        let word = word.rsplit("::").next().unwrap_or(word);
        let is_word = word.chars().all(|c| c.is_alphanumeric() || c == '_');
        let starts_identifier = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_snake_case = word.trim_matches('_').contains('_');
        let has_lowercase = word.chars().any(char::is_lowercase);
        let is_camel_case = word.chars().skip(1).any(char::is_uppercase) && has_lowercase;
        let is_symbol = if in_backticks || is_path {
            word.len() >= 2
        } else {
            word.len() >= 4 && (is_snake_case || is_camel_case)
        };
        let is_known = self.symbols.iter().any(|symbol| symbol == word);
        if is_word && starts_identifier && is_symbol && !is_known && self.symbols.len() < MAX_NAMES
        {
            self.symbols.push(word.to_owned());
        }
    }
}

/// A commit named by its id or a prefix of it.
fn find_commit(normalized: &str) -> Option<DiffRange> {
    let mut words = normalized.split(' ').skip_while(|word| *word != "commit").skip(1);
    let id = words.next().filter(|id| COMMIT_ID_DIGITS.contains(&id.len()))?;
    id.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| DiffRange::Commit(id.to_owned()))
}

/// Text between backticks on one line.
fn backtick_spans(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.map(str::trim).filter(|span| !span.is_empty() && span.len() <= MAX_WORD_BYTES)
}

/// Splits into words at whitespace and punctuation, and also at non-ASCII text, because some
/// scripts have no spaces.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let is_separator = |c: char| {
        c.is_whitespace()
            || matches!(c, '`' | '"' | '(' | ')' | ',' | '“' | '”' | '，' | '。' | '、' | '<' | '>')
    };
    let words = text.split(is_separator);
    let ascii = text.split(move |c: char| is_separator(c) || !c.is_ascii());
    words.chain(ascii).filter(|word| !word.is_empty() && word.len() <= MAX_WORD_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_symbols_of_a_topic_are_limited() {
        assert_eq!(MAX_NAMES, 24);
        let topic = |count: usize| {
            let words: Vec<String> =
                (0..count).map(|number| format!("f{number}.rs name_{number}")).collect();
            let hints = TopicHints::parse(&words.join(" "));
            (hints.names.len(), hints.symbols.len())
        };
        assert_eq!(topic(MAX_NAMES), (MAX_NAMES, MAX_NAMES));
        assert_eq!(topic(MAX_NAMES + 1), (MAX_NAMES, MAX_NAMES));
    }

    #[test]
    fn long_word_is_no_name() {
        assert_eq!(MAX_WORD_BYTES, 300);
        let parse =
            |bytes: usize| TopicHints::parse(&format!("{}.rs", "x".repeat(bytes - 3))).names;
        assert_eq!(parse(MAX_WORD_BYTES).len(), 1);
        assert!(parse(MAX_WORD_BYTES + 1).is_empty());
    }

    #[test]
    fn commit_id_has_seven_to_forty_digits() {
        assert_eq!(COMMIT_ID_DIGITS, 7..=40);
        for (digits, is_id) in [(6, false), (7, true), (40, true), (41, false)] {
            let id = "a".repeat(digits);
            let change = TopicHints::parse(&format!("Is commit {id} right?")).change;
            assert_eq!(change, is_id.then_some(DiffRange::Commit(id)), "{digits} digits");
        }
    }
}
