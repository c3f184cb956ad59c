//! Searches the tree for definitions and uses of symbols (Aho-Corasick, with a timeout). The entry
//! point is `find_symbols`, called by `auto` for the symbols and libraries a topic names.
use super::file_excerpt;
use super::file_kind::{self, FileKind};
use super::outline;
use super::source_tree::SourceTree;
use crate::repo::exclusion_reason;
use aho_corasick::AhoCorasick;
use std::time::{Duration, Instant};

/// Timeout of the search.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(300);
/// Definitions shown per symbol.
const MAX_DEFINITIONS: usize = 3;
/// Uses shown per symbol without a definition.
const MAX_USES: usize = 2;
/// Lines shown before and after a use.
const USE_CONTEXT_LINES: usize = 2;
/// Line limit of a definition.
const MAX_DEFINITION_LINES: usize = 60;

/// Line range that defines or uses a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SymbolLocation {
    pub(super) symbol: String,
    pub(super) path: String,
    pub(super) first_line: usize,
    pub(super) last_line: usize,
    pub(super) is_definition: bool,
}

/// Locations found. After a timeout, `cut_short` has the number of files searched and of all files.
pub(super) struct SymbolSearchResult {
    pub(super) locations: Vec<SymbolLocation>,
    pub(super) cut_short: Option<(usize, usize)>,
}

/// Finds the definitions of symbols. Uses are returned only for symbols without a definition.
pub(super) fn find_symbols(source_tree: &SourceTree, symbols: &[String]) -> SymbolSearchResult {
    let paths = searched_paths(source_tree);
    let started_at = Instant::now();
    search_files(source_tree, &paths, symbols, || started_at.elapsed())
}

/// Paths of the files that may define a symbol, the most likely kind first.
fn searched_paths(source_tree: &SourceTree) -> Vec<&str> {
    let mut paths: Vec<(FileKind, &str)> =
        source_tree.paths().into_iter().map(|path| (file_kind::classify(path), path)).collect();
    paths.retain(|(kind, _)| *kind != FileKind::Generated && *kind != FileKind::Docs);
    paths.sort_by_key(|(kind, _)| *kind);
    paths.into_iter().map(|(_, path)| path).collect()
}

/// Searches the files in this order, until `elapsed` reaches the timeout.
fn search_files(
    source_tree: &SourceTree,
    paths: &[&str],
    symbols: &[String],
    elapsed: impl Fn() -> Duration,
) -> SymbolSearchResult {
    let mut found = SymbolSearchResult { locations: vec![], cut_short: None };
    let Ok(matcher) = AhoCorasick::new(symbols) else { return found };
    for (index, path) in paths.iter().enumerate() {
        if elapsed() >= SEARCH_TIMEOUT {
            found.cut_short = Some((index, paths.len()));
            break;
        }
        // Checked per file and not beforehand, because this check takes as long as reading.
        if exclusion_reason(path.as_bytes()).is_some() {
            continue;
        }
        let Ok(bytes) = source_tree.read(path) else { continue };
        if matcher.find(&bytes).is_some() && !file_excerpt::has_nul_byte(&bytes) {
            scan_file(path, &String::from_utf8_lossy(&bytes), symbols, &mut found.locations);
        }
    }
    prefer_definitions(symbols, found)
}

fn scan_file(path: &str, text: &str, symbols: &[String], locations: &mut Vec<SymbolLocation>) {
    let lines: Vec<&str> = text.lines().collect();
    for (line, line_number) in lines.iter().zip(1..) {
        for symbol in symbols.iter().filter(|symbol| contains_word(line, symbol)) {
            let is_definition = outline::defined_name(line) == Some(symbol);
            let existing = locations.iter().filter(|location| {
                location.symbol == *symbol && location.is_definition == is_definition
            });
            if existing.count() >= if is_definition { MAX_DEFINITIONS } else { MAX_USES } {
                continue;
            }
            let (first, last) = if is_definition {
                (line_number, outline::definition_end(&lines, line_number, MAX_DEFINITION_LINES))
            } else {
                (
                    line_number.saturating_sub(USE_CONTEXT_LINES).max(1),
                    (line_number + USE_CONTEXT_LINES).min(lines.len()),
                )
            };
            let (symbol, path) = (symbol.clone(), path.to_owned());
            locations.push(SymbolLocation {
                symbol,
                path,
                first_line: first,
                last_line: last,
                is_definition,
            });
        }
    }
}

/// Whether a line contains a word at word boundaries.
fn contains_word(line: &str, word: &str) -> bool {
    let is_word_char = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(index, _)| {
        !line[..index].ends_with(is_word_char)
            && !line[index + word.len()..].starts_with(is_word_char)
    })
}

/// Drops uses of symbols that have a definition, and sorts by the order of `symbols`.
fn prefer_definitions(symbols: &[String], mut found: SymbolSearchResult) -> SymbolSearchResult {
    let defined: Vec<String> = {
        let definitions = found.locations.iter().filter(|location| location.is_definition);
        definitions.map(|location| location.symbol.clone()).collect()
    };
    found
        .locations
        .retain(|location| location.is_definition || !defined.contains(&location.symbol));
    found
        .locations
        .sort_by_key(|location| symbols.iter().position(|symbol| *symbol == location.symbol));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::TreeStore;

    #[test]
    fn search_ends_at_its_timeout() {
        assert_eq!(SEARCH_TIMEOUT, Duration::from_millis(300));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), "fn wanted() {}\n").unwrap();
        let trees = TreeStore::new(&folder.path().join("home"));
        let source_tree = SourceTree::open(&trees, folder.path(), folder.path(), None).unwrap();
        let symbols = ["wanted".to_owned()];
        let search = |elapsed: Duration| {
            let found = search_files(&source_tree, &["a.rs"], &symbols, || elapsed);
            (found.locations.len(), found.cut_short)
        };
        assert_eq!(search(SEARCH_TIMEOUT.checked_sub(Duration::from_nanos(1)).unwrap()), (1, None));
        assert_eq!(search(SEARCH_TIMEOUT), (0, Some((0, 1))));
    }

    fn scan_text(text: &str) -> Vec<SymbolLocation> {
        let mut locations = vec![];
        scan_file("a.rs", text, &["wanted".to_owned()], &mut locations);
        locations
    }

    #[test]
    fn definitions_and_uses_per_symbol_are_limited() {
        assert_eq!((MAX_DEFINITIONS, MAX_USES), (3, 2));
        for (line, max) in [("fn wanted() {}\n", MAX_DEFINITIONS), ("wanted();\n", MAX_USES)] {
            assert_eq!(scan_text(&line.repeat(max)).len(), max, "{line}");
            assert_eq!(scan_text(&line.repeat(max + 1)).len(), max, "{line}");
        }
    }

    #[test]
    fn long_definition_is_cut() {
        assert_eq!(MAX_DEFINITION_LINES, 60);
        let last_line = |lines: usize| {
            let body = "    work();\n".repeat(lines - 2);
            scan_text(&format!("fn wanted() {{\n{body}}}\nfn next() {{}}\n"))[0].last_line
        };
        assert_eq!(last_line(MAX_DEFINITION_LINES - 1), MAX_DEFINITION_LINES - 1);
        assert_eq!(last_line(MAX_DEFINITION_LINES), MAX_DEFINITION_LINES);
        assert_eq!(last_line(MAX_DEFINITION_LINES + 1), MAX_DEFINITION_LINES);
    }
}
