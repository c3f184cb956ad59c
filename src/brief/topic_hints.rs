//! Parses a topic for hints: file names, symbols, changes, architecture, history. Works on words
//! alone, without the repository.
use crate::repo::DiffRange;

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
        let spread = |c: char| if c.is_alphanumeric() { c } else { ' ' };
        let plain: String = text.to_lowercase().chars().map(spread).collect();
        let plain: Vec<&str> = plain.split_whitespace().collect();
        let plain = format!(" {} ", plain.join(" "));
        let says = |word: &str| plain.contains(&format!(" {word} "));
        let any = |words: &[&str]| words.iter().any(|word| says(word));
        let elsewhere = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let change =
            CHANGE_PHRASES.iter().find(|(word, _)| says(word)).map(|(_, range)| range.clone());
        let commit = find_commit(&plain)
            .or(any(LAST_COMMIT_PHRASES).then(|| DiffRange::Commit("HEAD".into())));
        topic.change =
            change.or(commit).or(elsewhere(CHANGE_PHRASES_NON_ENGLISH).then_some(DiffRange::Auto));
        topic.architecture = any(ARCHITECTURE_WORDS) || elsewhere(ARCHITECTURE_WORDS_NON_ENGLISH);
        topic.history = any(HISTORY_WORDS);
        topic
    }

    fn add_name(&mut self, word: &str) {
        let word = word
            .trim_matches(|c: char| matches!(c, ',' | ';' | '!' | '?' | '(' | ')' | '"' | '\''));
        let word = word.trim_end_matches(['.', ':']);
        let sensible = word.len() >= 2 && !word.contains("://") && !word.contains("..");
        if sensible && self.names.len() < MAX_NAMES && !self.names.iter().any(|name| name == word) {
            self.names.push(word.to_owned());
        }
    }

    fn add_symbol(&mut self, word: &str, ticked: bool) {
        // `App::open()` is about `open`.
        let word =
            word.trim_end_matches(['?', '.', ':']).trim_end_matches("()").trim_end_matches('!');
        let called = word.contains("::");
        let word = word.rsplit("::").next().unwrap_or(word);
        let plain = word.chars().all(|c| c.is_alphanumeric() || c == '_');
        let starts = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let snake = word.trim_matches('_').contains('_');
        let lower = word.chars().any(char::is_lowercase);
        let humps = word.chars().skip(1).any(char::is_uppercase) && lower;
        let telling =
            if ticked || called { word.len() >= 2 } else { word.len() >= 4 && (snake || humps) };
        let known = self.symbols.iter().any(|symbol| symbol == word);
        if plain && starts && telling && !known && self.symbols.len() < MAX_NAMES {
            self.symbols.push(word.to_owned());
        }
    }
}

/// A commit named by its id or a prefix of it.
fn find_commit(plain: &str) -> Option<DiffRange> {
    let mut words = plain.split(' ').skip_while(|word| *word != "commit").skip(1);
    let id = words.next().filter(|id| (7..=40).contains(&id.len()))?;
    id.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| DiffRange::Commit(id.to_owned()))
}

/// Text between backticks on one line.
fn backtick_spans(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.map(str::trim).filter(|span| !span.is_empty() && span.len() <= 300)
}

/// Splits into words at whitespace and punctuation, and also at non-ASCII text, because some
/// scripts have no spaces.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let marks = |c: char| {
        c.is_whitespace()
            || matches!(c, '`' | '"' | '(' | ')' | ',' | '“' | '”' | '，' | '。' | '、' | '<' | '>')
    };
    let whole = text.split(marks);
    let ascii = text.split(move |c: char| marks(c) || !c.is_ascii());
    whole.chain(ascii).filter(|word| !word.is_empty() && word.len() <= 300)
}
