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
    let paths: Vec<PathBuf> =
        std::env::args().skip(1).filter(|it| !it.starts_with('-')).map(PathBuf::from).collect();
    let roots = if paths.is_empty() { vec![PathBuf::from(".")] } else { paths };
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
    let (mut true_accepts, mut false_accepts, mut false_rejects, mut undecided, mut true_rejects) =
        (0, 0, 0, 0, 0);
    for (mutation, truth) in MUTATIONS {
        let mut counts: BTreeMap<CitationStatus, usize> = BTreeMap::new();
        let mut true_after_all = 0;
        for (nth, snippet) in snippets.iter().enumerate() {
            let (text, path, lines) = build_citation(mutation, snippet, &snippets, nth);
            if *truth == QuoteTruth::False
                && contains_lines(&files, &path, &lines)
                && *mutation != "line out of range"
            {
                true_after_all += 1;
                continue;
            }
            let references = extract_from_text(&text);
            let found = checker.check(root, &tree, &references, &scope).unwrap();
            let found = found.first().map_or(CitationStatus::Unchecked, |citation| citation.found);
            *counts.entry(found).or_default() += 1;
            match (truth, found.is_verified()) {
                (QuoteTruth::True, true) => true_accepts += 1,
                (QuoteTruth::True, false) if found.is_wrong() => false_rejects += 1,
                (QuoteTruth::True, false) => undecided += 1,
                (QuoteTruth::False, true) => false_accepts += 1,
                (QuoteTruth::False, false) => true_rejects += 1,
            }
        }
        let counts: Vec<String> =
            counts.iter().map(|(found, n)| format!("{found:?} {n}")).collect();
        let after_all = match true_after_all {
            0 => String::new(),
            count => format!(" ({count} true after all, not counted)"),
        };
        println!("  {mutation:<18} {}{after_all}", counts.join(", "));
    }
    let ratio = |some: usize, all: usize| some as f64 / all.max(1) as f64;
    println!(
        "  accepts a true quote: {:.4} ({true_accepts} of {}, {undecided} too short or too common, {false_rejects} \
         called wrong); without the short and common: {:.4}",
        ratio(true_accepts, true_accepts + undecided + false_rejects),
        true_accepts + undecided + false_rejects,
        ratio(true_accepts, true_accepts + false_rejects),
    );
    println!(
        "  rejects a false one: {:.4} ({true_rejects} of {}); precision {:.4}",
        ratio(true_rejects, true_rejects + false_accepts),
        true_rejects + false_accepts,
        ratio(true_accepts, true_accepts + false_accepts),
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
        let (line, count) = (below(lines.len() - 7), 1 + below(6));
        let quoted = lines[line..line + count].to_vec();
        let ends = [&quoted[0], &quoted[count - 1]];
        // The first and last line of a quote must have enough text.
        let has_enough_text = ends.iter().all(|line| line.trim().len() > 7 && line.len() < 300);
        if has_enough_text && quoted.iter().all(|line| !line.contains("``````")) {
            snippets.push(Snippet { path: path.clone(), line: line + 1, lines: quoted });
        }
    }
    snippets
}

/// Builds a citation of a mutated snippet. Returns its text, path and quoted lines.
fn build_citation(
    mutation: &str,
    snippet: &Snippet,
    snippets: &[Snippet],
    nth: usize,
) -> (String, String, Vec<String>) {
    let (mut path, mut line, mut lines) =
        (snippet.path.clone(), snippet.line, snippet.lines.clone());
    let last = lines.len() - 1;
    let mut line_ending = "\n";
    match mutation {
        "3 lines off" => line += 3,
        "40 lines off" => line = if line > 40 { line - 40 } else { line + 40 },
        "CRLF" => line_ending = "\r\n",
        "re-indented" => lines = lines.iter().map(|line| format!("\t  {}", line.trim())).collect(),
        "cut short" => {
            let kept_chars = lines[last].trim_end().chars().count() - 2;
            lines[last] = lines[last].chars().take(kept_chars).collect();
        }
        "word altered" => lines[nth % (last + 1)] = alter_word(&lines[nth % (last + 1)]),
        "look-alike letter" => {
            let look_alike = |c: char| match c {
                'a' => 'а',
                'e' => 'е',
                'o' => 'о',
                '(' => '（',
                _ => c,
            };
            lines = lines.iter().map(|line| line.chars().map(look_alike).collect()).collect();
        }
        "other file" => {
            path.clone_from(&snippets[(nth + snippets.len() / 2) % snippets.len()].path);
        }
        "invented file" => path = format!("{}_invented.rs", path.replace('.', "_")),
        "line out of range" => {
            line += 1_000_000;
            return (format!("`{path}:{line}`"), path, lines);
        }
        _ => {}
    }
    let end = line + last;
    let text =
        format!("``````text {path}:{line}-{end}\n{}{line_ending}``````\n", lines.join(line_ending));
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
    let without_whitespace = |line: &String| line.split_whitespace().collect::<String>();
    let Some(file) = files.get(path) else { return false };
    let file: Vec<String> =
        file.iter().map(without_whitespace).filter(|line| !line.is_empty()).collect();
    let quoted: Vec<String> =
        lines.iter().map(without_whitespace).filter(|line| !line.is_empty()).collect();
    file.windows(quoted.len()).any(|window| {
        window.iter().zip(&quoted).all(|(line, quoted)| line.contains(quoted.as_str()))
    })
}
