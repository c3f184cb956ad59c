//! Searches the tree for definitions and uses of symbols (Aho-Corasick, with a timeout).
use super::ground::Ground;
use super::kind::{self, Kind};
use super::outline;
use crate::repo::exclusion_reason;
use aho_corasick::AhoCorasick;
use std::time::{Duration, Instant};

/// Timeout of the search.
const PATIENCE: Duration = Duration::from_millis(300);
/// Limits on locations per symbol.
const MOST_DEFINED: usize = 3;
const MOST_USED: usize = 2;
/// Line limit of a definition.
const LONGEST: usize = 60;

/// Line range that defines or uses a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) symbol: String,
    pub(super) path: String,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) defines: bool,
}

/// Locations found. After a timeout, `cut_short` has the number of files searched and of all files.
pub(super) struct Search {
    pub(super) places: Vec<Place>,
    pub(super) cut_short: Option<(usize, usize)>,
}

/// Finds the definitions of symbols. Uses are returned only for symbols without a definition.
pub(super) fn search(ground: &Ground, symbols: &[String]) -> Search {
    let mut found = Search { places: vec![], cut_short: None };
    let Ok(words) = AhoCorasick::new(symbols) else { return found };
    let mut paths: Vec<(Kind, &str)> =
        ground.paths().into_iter().map(|path| (kind::kind(path), path)).collect();
    paths.retain(|(kind, _)| *kind != Kind::Generated && *kind != Kind::Docs);
    paths.sort_by_key(|(kind, _)| *kind);
    let until = Instant::now() + PATIENCE;
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
            look(path, &String::from_utf8_lossy(&bytes), symbols, &mut found.places);
        }
    }
    settle(symbols, found)
}

fn look(path: &str, text: &str, symbols: &[String], places: &mut Vec<Place>) {
    let lines: Vec<&str> = text.lines().collect();
    for (line, at) in lines.iter().zip(1..) {
        for symbol in symbols.iter().filter(|symbol| names(line, symbol)) {
            let defines = outline::definition(line) == Some(symbol);
            let many =
                places.iter().filter(|place| place.symbol == *symbol && place.defines == defines);
            if many.count() >= if defines { MOST_DEFINED } else { MOST_USED } {
                continue;
            }
            let (first, last) = if defines {
                (at, outline::extent(&lines, at, LONGEST))
            } else {
                (at.saturating_sub(2).max(1), (at + 2).min(lines.len()))
            };
            let (symbol, path) = (symbol.clone(), path.to_owned());
            places.push(Place { symbol, path, first, last, defines });
        }
    }
}

/// Whether a line contains a word at word boundaries.
fn names(line: &str, word: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(inner) && !line[at + word.len()..].starts_with(inner))
}

/// Drops uses of symbols that have a definition, and sorts by the order of `symbols`.
fn settle(symbols: &[String], mut found: Search) -> Search {
    let defined: Vec<String> = {
        let defining = found.places.iter().filter(|place| place.defines);
        defining.map(|place| place.symbol.clone()).collect()
    };
    found.places.retain(|place| place.defines || !defined.contains(&place.symbol));
    found.places.sort_by_key(|place| symbols.iter().position(|symbol| *symbol == place.symbol));
    found
}
