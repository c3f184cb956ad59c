//! Libraries a topic names: those a manifest depends on. "sqlx or rusqlite?" is about the manifest
//! that has one of them, and about where it is used.

/// Words of a topic, or keys of a manifest, that are no libraries.
const PLAIN: &[&str] = &[
    "authors",
    "build",
    "categories",
    "default",
    "dependencies",
    "description",
    "dev",
    "edition",
    "engines",
    "features",
    "files",
    "format",
    "group",
    "here",
    "homepage",
    "keywords",
    "lib",
    "license",
    "lint",
    "lints",
    "main",
    "module",
    "name",
    "package",
    "path",
    "private",
    "profile",
    "publish",
    "readme",
    "repository",
    "require",
    "scripts",
    "should",
    "start",
    "test",
    "tests",
    "type",
    "types",
    "use",
    "version",
    "workspace",
];
/// Words that are looked for.
const MOST: usize = 40;

/// What may be the name of a library in a topic, as it is written.
pub(super) fn candidates(topic: &str) -> Vec<String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '@' | '/' | '.');
    let mut found: Vec<String> = vec![];
    for word in topic.split(|c| !inner(c)) {
        let word = word.trim_matches(['-', '.', '/']);
        let known =
            PLAIN.contains(&word.to_lowercase().as_str()) || found.iter().any(|it| it == word);
        if word.len() >= 3 && !known && found.len() < MOST {
            found.push(word.to_owned());
        }
    }
    found
}

/// The first of these words that a manifest depends on: a line begins with it.
pub(super) fn depended_on<'a>(manifest: &str, words: &'a [String]) -> Option<&'a str> {
    let begins = |line: &str, word: &str| {
        let line = line.trim_start().trim_start_matches(['"', '\'', '-', ' ']);
        // A module path ends with the name people use.
        let first = line.split([' ', '\t', '"', '\'', '=', ':', '<', '>', '~', '!', '[', ',', ';']);
        let first = first.into_iter().next().unwrap_or_default();
        let last = first.rsplit('/').next().unwrap_or(first);
        same(first, word) || same(last, word)
    };
    let fits = |word: &&String| manifest.lines().any(|line| begins(line, word));
    words.iter().find(fits).map(String::as_str)
}

/// As registries compare names: case, `-` and `_` do not matter.
fn same(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    !one.is_empty() && plain(one) == plain(other)
}
