//! Benchmark: accuracy of citation checks. Draws snippets from repositories, changes them like
//! models misquote, and counts which quotes are accepted and rejected.
//! `cargo bench --bench citation_accuracy -- REPOSITORY…`
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use debate_mcp::debate::CitationStatus;
use debate_mcp::evidence::{CitationChecker, LookupScope, SearchMode, extract_from_text};
use debate_mcp::repo::{TreeStore, TreeView};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SNIPPETS: usize = 1_000;

/// Mutations of a quote, and whether the quote is still true.
const MUTATIONS: &[(&str, QuoteTruth)] = &[
    ("unchanged", QuoteTruth::True),
    ("3 lines off", QuoteTruth::True),
    ("40 lines off", QuoteTruth::True),
    ("CRLF", QuoteTruth::True),
    ("re-indented", QuoteTruth::True),
    ("cut short", QuoteTruth::True),
    ("word altered", QuoteTruth::False),
    ("look-alike letter", QuoteTruth::False),
    ("other file", QuoteTruth::False),
    ("invented file", QuoteTruth::False),
    ("line out of range", QuoteTruth::False),
];

#[derive(Clone, Copy, PartialEq)]
enum QuoteTruth {
    True,
    False,
}

/// Consecutive lines of a file.
struct Snippet {
    path: String,
    line: usize,
    lines: Vec<String>,
}

fn main() {
    let given: Vec<PathBuf> =
        std::env::args().skip(1).filter(|it| !it.starts_with('-')).map(PathBuf::from).collect();
    let roots = if given.is_empty() { vec![PathBuf::from(".")] } else { given };
    for root in roots {
        evaluate_repository(&root.canonicalize().unwrap());
    }
}

fn evaluate_repository(root: &Path) {
    let home = tempfile::tempdir().unwrap();
    let trees = TreeStore::new(home.path());
    let tree = trees.pin(root).unwrap().unwrap().tree;
    let view = trees.view(root, &tree).unwrap();
    let files = citable_files(&view);
    let snippets = draw_snippets(&files);
    println!("{}: {} files, {} snippets", root.display(), files.len(), snippets.len());
    let checker = CitationChecker::new(TreeStore::new(home.path()));
    let scope = LookupScope {
        preferred_paths: &[],
        folder: "",
        excluded_path: None,
        base: None,
        search: SearchMode::BuildIndex,
    };
    let (mut right, mut false_accepts, mut refused, mut weak, mut rejected) = (0, 0, 0, 0, 0);
    for (change, truth) in MUTATIONS {
        let mut counts: BTreeMap<CitationStatus, usize> = BTreeMap::new();
        let mut true_after_all = 0;
        for (nth, snippet) in snippets.iter().enumerate() {
            let (text, path, lines) = build_citation(change, snippet, &snippets, nth);
            if *truth == QuoteTruth::False
                && contains_lines(&files, &path, &lines)
                && *change != "line out of range"
            {
                true_after_all += 1;
                continue;
            }
            let references = extract_from_text(&text);
            let found = checker.check(root, &tree, &references, &scope).unwrap();
            let found = found.first().map_or(CitationStatus::Unchecked, |citation| citation.found);
            *counts.entry(found).or_default() += 1;
            match (truth, found.is_verified()) {
                (QuoteTruth::True, true) => right += 1,
                (QuoteTruth::True, false) if found.is_wrong() => refused += 1,
                (QuoteTruth::True, false) => weak += 1,
                (QuoteTruth::False, true) => false_accepts += 1,
                (QuoteTruth::False, false) => rejected += 1,
            }
        }
        let counts: Vec<String> =
            counts.iter().map(|(found, n)| format!("{found:?} {n}")).collect();
        let after_all = match true_after_all {
            0 => String::new(),
            many => format!(" ({many} true after all, not counted)"),
        };
        println!("  {change:<18} {}{after_all}", counts.join(", "));
    }
    let part = |some: usize, all: usize| some as f64 / all.max(1) as f64;
    println!(
        "  accepts a true quote: {:.4} ({right} of {}, {weak} too short or too common, {refused} \
         called wrong); without the short and common: {:.4}",
        part(right, right + weak + refused),
        right + weak + refused,
        part(right, right + refused),
    );
    println!(
        "  rejects a false one: {:.4} ({rejected} of {}); precision {:.4}",
        part(rejected, rejected + false_accepts),
        rejected + false_accepts,
        part(right, right + false_accepts),
    );
}

/// Files that can be cited: text files whose path needs no quoting.
fn citable_files(view: &TreeView) -> BTreeMap<String, Vec<String>> {
    let reader = view.reader().unwrap();
    let mut files = BTreeMap::new();
    for file in view.files() {
        let text = reader.read_bytes(file).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(text) = text.filter(|text| !text.contains('\0')) else { continue };
        let plain = !file.path.contains(|c: char| !c.is_alphanumeric() && !"/._-".contains(c));
        let secret = debate_mcp::repo::exclusion_reason(file.path.as_bytes()).is_some();
        if plain && !secret && file.path.contains('.') {
            files.insert(file.path.clone(), text.lines().map(str::to_owned).collect());
        }
    }
    files
}

/// Draws snippets of one to six lines. The seed is fixed, so every run has the same.
fn draw_snippets(files: &BTreeMap<String, Vec<String>>) -> Vec<Snippet> {
    let long: Vec<(&String, &Vec<String>)> =
        files.iter().filter(|(_, lines)| lines.len() >= 20).collect();
    let mut seed = 42_u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut snippets = vec![];
    while snippets.len() < SNIPPETS {
        let (path, lines) = long[below(long.len())];
        let (line, many) = (below(lines.len() - 7), 1 + below(6));
        let piece = lines[line..line + many].to_vec();
        let ends = [&piece[0], &piece[many - 1]];
        // The first and last line of a quote must have enough text.
        let says = ends.iter().all(|line| line.trim().len() > 7 && line.len() < 300);
        if says && piece.iter().all(|line| !line.contains("``````")) {
            snippets.push(Snippet { path: path.clone(), line: line + 1, lines: piece });
        }
    }
    snippets
}

/// Builds a citation of a mutated snippet. Returns its text, path and quoted lines.
fn build_citation(
    change: &str,
    snippet: &Snippet,
    all: &[Snippet],
    nth: usize,
) -> (String, String, Vec<String>) {
    let (mut path, mut line, mut lines) =
        (snippet.path.clone(), snippet.line, snippet.lines.clone());
    let last = lines.len() - 1;
    let mut ending = "\n";
    match change {
        "3 lines off" => line += 3,
        "40 lines off" => line = if line > 40 { line - 40 } else { line + 40 },
        "CRLF" => ending = "\r\n",
        "re-indented" => lines = lines.iter().map(|line| format!("\t  {}", line.trim())).collect(),
        "cut short" => {
            let many = lines[last].trim_end().chars().count() - 2;
            lines[last] = lines[last].chars().take(many).collect();
        }
        "word altered" => lines[nth % (last + 1)] = alter_word(&lines[nth % (last + 1)]),
        "look-alike letter" => {
            let alike = |c: char| match c {
                'a' => 'а',
                'e' => 'е',
                'o' => 'о',
                '(' => '（',
                _ => c,
            };
            lines = lines.iter().map(|line| line.chars().map(alike).collect()).collect();
        }
        "other file" => path.clone_from(&all[(nth + all.len() / 2) % all.len()].path),
        "invented file" => path = format!("{}_invented.rs", path.replace('.', "_")),
        "line out of range" => {
            line += 1_000_000;
            return (format!("`{path}:{line}`"), path, lines);
        }
        _ => {}
    }
    let end = line + last;
    let text = format!("``````text {path}:{line}-{end}\n{}{ending}``````\n", lines.join(ending));
    (text, path, lines)
}

/// The line with one letter of its longest word changed.
fn alter_word(line: &str) -> String {
    let words = line.split(|c: char| !c.is_alphanumeric());
    let Some(word) = words.max_by_key(|word| word.len()).filter(|word| !word.is_empty()) else {
        return format!("{line} x1");
    };
    let mut letters: Vec<char> = word.chars().collect();
    let middle = letters.len() / 2;
    letters[middle] = if letters[middle] == 'q' { 'z' } else { 'q' };
    line.replacen(word, &letters.iter().collect::<String>(), 1)
}

/// Whether a file contains the lines after all. A simple reference check, independent of the
/// citation index.
fn contains_lines(files: &BTreeMap<String, Vec<String>>, path: &str, lines: &[String]) -> bool {
    let bare = |line: &String| line.split_whitespace().collect::<String>();
    let Some(file) = files.get(path) else { return false };
    let file: Vec<String> = file.iter().map(bare).filter(|line| !line.is_empty()).collect();
    let wanted: Vec<String> = lines.iter().map(bare).filter(|line| !line.is_empty()).collect();
    file.windows(wanted.len()).any(|window| {
        window.iter().zip(&wanted).all(|(line, wanted)| line.contains(wanted.as_str()))
    })
}
