//! Finds libraries that the topic mentions and a manifest depends on. For "sqlx or rusqlite?" the
//! brief (see `brief`) gets the manifest with one of them, and the code that uses it.

/// Words of a topic, or manifest keys, that are never library names.
const STOP_WORDS: &[&str] = &[
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
/// Shortest word that may be a library name, in bytes.
const MIN_CANDIDATE_BYTES: usize = 3;
/// Limit on candidate words.
const MAX_CANDIDATES: usize = 40;

/// Words of the topic that may be library names, as written.
pub(super) fn library_candidates(topic: &str) -> Vec<String> {
    let is_name_char =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '@' | '/' | '.');
    let mut found: Vec<String> = vec![];
    for word in topic.split(|c| !is_name_char(c)) {
        let word = word.trim_matches(['-', '.', '/']);
        let is_known =
            STOP_WORDS.contains(&word.to_lowercase().as_str()) || found.iter().any(|it| it == word);
        if word.len() >= MIN_CANDIDATE_BYTES && !is_known && found.len() < MAX_CANDIDATES {
            found.push(word.to_owned());
        }
    }
    found
}

/// The first word that starts a line of the manifest, and so is a dependency.
pub(super) fn find_dependency<'a>(manifest: &str, words: &'a [String]) -> Option<&'a str> {
    let starts_with_word = |line: &str, word: &str| {
        let line = line.trim_start().trim_start_matches(['"', '\'', '-', ' ']);
        // The last part of a Go module path is the common name.
        let first = line.split([' ', '\t', '"', '\'', '=', ':', '<', '>', '~', '!', '[', ',', ';']);
        let first = first.into_iter().next().unwrap_or_default();
        let last = first.rsplit('/').next().unwrap_or(first);
        is_same_package(first, word) || is_same_package(last, word)
    };
    let is_dependency = |word: &&String| manifest.lines().any(|line| starts_with_word(line, word));
    words.iter().find(is_dependency).map(String::as_str)
}

/// Compares package names as registries do: case-insensitive, `-` equals `_`.
fn is_same_package(one: &str, other: &str) -> bool {
    let normalize = |name: &str| name.to_lowercase().replace('_', "-");
    !one.is_empty() && normalize(one) == normalize(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_candidates_are_limited() {
        assert_eq!((MIN_CANDIDATE_BYTES, MAX_CANDIDATES), (3, 40));
        let count_candidates = |count: usize| {
            let words: Vec<String> = (0..count).map(|number| format!("name{number}")).collect();
            library_candidates(&words.join(" ")).len()
        };
        assert_eq!(count_candidates(MAX_CANDIDATES), MAX_CANDIDATES);
        assert_eq!(count_candidates(MAX_CANDIDATES + 1), MAX_CANDIDATES);
        assert_eq!(library_candidates("ab abc"), ["abc"]);
    }
}
