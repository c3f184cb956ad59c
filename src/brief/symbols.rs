//! Where something is defined, and where it is used: a search through the tree that ends in time.
use super::ground::Ground;
use super::kind::{self, Kind};
use super::outline;
use crate::repo::absent;
use aho_corasick::AhoCorasick;
use std::time::{Duration, Instant};

/// How long it is looked for.
const PATIENCE: Duration = Duration::from_millis(300);
/// Places that are told of one symbol.
const MOST_DEFINED: usize = 3;
const MOST_USED: usize = 2;
/// Lines of a definition that are shown.
const LONGEST: usize = 60;

/// A place a symbol stands at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) symbol: String,
    pub(super) path: String,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) defines: bool,
}

/// What was found, and of how many files, if not all were looked into.
pub(super) struct Search {
    pub(super) places: Vec<Place>,
    pub(super) cut_short: Option<(usize, usize)>,
}

/// Looks for symbols: where they are defined first, and where they are used only if that is nowhere.
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
        // Asked here and not of all beforehand, because it takes as long as reading.
        if absent(path.as_bytes()).is_some() {
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

/// Whether a line has a word, and not only as a part of another.
fn names(line: &str, word: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(inner) && !line[at + word.len()..].starts_with(inner))
}

/// Definitions, and uses only of what is defined nowhere; in the order the symbols were named.
fn settle(symbols: &[String], mut found: Search) -> Search {
    let defined: Vec<String> = {
        let defining = found.places.iter().filter(|place| place.defines);
        defining.map(|place| place.symbol.clone()).collect()
    };
    found.places.retain(|place| place.defines || !defined.contains(&place.symbol));
    found.places.sort_by_key(|place| symbols.iter().position(|symbol| *symbol == place.symbol));
    found
}
