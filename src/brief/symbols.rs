//! Searches the tree for definitions and uses of symbols (Aho-Corasick, with a timeout).
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
    let mut found = SymbolSearchResult { locations: vec![], cut_short: None };
    let Ok(matcher) = AhoCorasick::new(symbols) else { return found };
    let mut paths: Vec<(FileKind, &str)> =
        source_tree.paths().into_iter().map(|path| (file_kind::classify(path), path)).collect();
    paths.retain(|(kind, _)| *kind != FileKind::Generated && *kind != FileKind::Docs);
    paths.sort_by_key(|(kind, _)| *kind);
    let deadline = Instant::now() + SEARCH_TIMEOUT;
    for (index, (_, path)) in paths.iter().enumerate() {
        if Instant::now() >= deadline {
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
