//! Searches the tree for definitions and uses of symbols (Aho-Corasick, with a timeout).
use super::file_kind::{self, FileKind};
use super::outline;
use super::source_tree::SourceTree;
use crate::repo::exclusion_reason;
use aho_corasick::AhoCorasick;
use std::time::{Duration, Instant};

/// Timeout of the search.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(300);
/// Limits on locations per symbol.
const MAX_DEFINITIONS: usize = 3;
const MAX_USES: usize = 2;
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
pub(super) fn find_symbols(ground: &SourceTree, symbols: &[String]) -> SymbolSearchResult {
    let mut found = SymbolSearchResult { locations: vec![], cut_short: None };
    let Ok(words) = AhoCorasick::new(symbols) else { return found };
    let mut paths: Vec<(FileKind, &str)> =
        ground.paths().into_iter().map(|path| (file_kind::classify(path), path)).collect();
    paths.retain(|(kind, _)| *kind != FileKind::Generated && *kind != FileKind::Docs);
    paths.sort_by_key(|(kind, _)| *kind);
    let until = Instant::now() + SEARCH_TIMEOUT;
    for (nth, (_, path)) in paths.iter().enumerate() {
        if Instant::now() >= until {
            found.cut_short = Some((nth, paths.len()));
            break;
        }
        // Checked per file and not beforehand, because this check takes as long as reading.
        if exclusion_reason(path.as_bytes()).is_some() {
            continue;
        }
        let Ok(bytes) = ground.read(path) else { continue };
        if words.find(&bytes).is_some() && !bytes.iter().take(8_000).any(|byte| *byte == 0) {
            scan_file(path, &String::from_utf8_lossy(&bytes), symbols, &mut found.locations);
        }
    }
    prefer_definitions(symbols, found)
}

fn scan_file(path: &str, text: &str, symbols: &[String], places: &mut Vec<SymbolLocation>) {
    let lines: Vec<&str> = text.lines().collect();
    for (line, at) in lines.iter().zip(1..) {
        for symbol in symbols.iter().filter(|symbol| contains_word(line, symbol)) {
            let defines = outline::defined_name(line) == Some(symbol);
            let many = places
                .iter()
                .filter(|place| place.symbol == *symbol && place.is_definition == defines);
            if many.count() >= if defines { MAX_DEFINITIONS } else { MAX_USES } {
                continue;
            }
            let (first, last) = if defines {
                (at, outline::definition_end(&lines, at, MAX_DEFINITION_LINES))
            } else {
                (at.saturating_sub(2).max(1), (at + 2).min(lines.len()))
            };
            let (symbol, path) = (symbol.clone(), path.to_owned());
            places.push(SymbolLocation {
                symbol,
                path,
                first_line: first,
                last_line: last,
                is_definition: defines,
            });
        }
    }
}

/// Whether a line contains a word at word boundaries.
fn contains_word(line: &str, word: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(inner) && !line[at + word.len()..].starts_with(inner))
}

/// Drops uses of symbols that have a definition, and sorts by the order of `symbols`.
fn prefer_definitions(symbols: &[String], mut found: SymbolSearchResult) -> SymbolSearchResult {
    let defined: Vec<String> = {
        let defining = found.locations.iter().filter(|place| place.is_definition);
        defining.map(|place| place.symbol.clone()).collect()
    };
    found.locations.retain(|place| place.is_definition || !defined.contains(&place.symbol));
    found.locations.sort_by_key(|place| symbols.iter().position(|symbol| *symbol == place.symbol));
    found
}
