//! Benchmark: time to check citations in a repository of 50,000 files, compared with `git grep` and
//! `git ls-tree`. Run with `cargo bench --bench evidence`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use debate_mcp::debate::CitationStatus;
use debate_mcp::evidence::{
    CitationChecker, LookupScope, Reference, SearchMode, extract_from_text,
};
use debate_mcp::repo::TreeStore;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FILES: usize = 50_000;
const LINES: usize = 120;
const CITATIONS: usize = 50;
const RUNS: usize = 15;

const BUILD_INDEX: LookupScope<'static> = LookupScope {
    preferred_paths: &[],
    folder: "",
    excluded_path: None,
    base: None,
    search: SearchMode::BuildIndex,
};
const CACHED_INDEX_ONLY: LookupScope<'static> = LookupScope {
    preferred_paths: &[],
    folder: "",
    excluded_path: None,
    base: None,
    search: SearchMode::CachedIndexOnly,
};

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let (root, home) = (folder.path().join("repo"), folder.path().join("home"));
    let bytes = create_repository(&root);
    // Nothing is checked out, so citations are checked against the tree of the commit.
    let repository = git2::Repository::open(&root).unwrap();
    let tree = repository.head().unwrap().peel_to_tree().unwrap().id().to_string();
    println!("{FILES} files, {:.0} MB of text", bytes as f64 / 1e6);

    let list_time = median(5, || run_git(&root, &["ls-tree", "-r", "--name-only", "HEAD"]));
    let path_reference = extract_from_text("f77.rs:3");
    let open_time = median(5, || {
        assert_eq!(
            check(
                &CitationChecker::new(TreeStore::new(&home)),
                &root,
                &tree,
                &path_reference,
                &CACHED_INDEX_ONLY
            ),
            [CitationStatus::Ambiguous]
        );
    });
    print_comparison("path index and one path", open_time, "git ls-tree -r", list_time);

    let (text, quotes) = build_citations();
    let references = extract_from_text(&text);
    assert_eq!(references.len(), CITATIONS);
    let checker = CitationChecker::new(TreeStore::new(&home));
    check(&checker, &root, &tree, &references, &CACHED_INDEX_ONLY);
    let found = check(&checker, &root, &tree, &references, &CACHED_INDEX_ONLY);
    assert!(found.iter().all(|found| *found == CitationStatus::Exact), "{found:?}");
    let cached_time =
        median(RUNS, || drop(check(&checker, &root, &tree, &references, &CACHED_INDEX_ONLY)));
    let parse_time = median(RUNS, || drop(extract_from_text(&text)));
    let grep_time =
        median(1, || quotes.iter().take(2).for_each(|quote| run_git_grep(&root, quote))) * 25;
    print_comparison(
        "50 citations, at their lines",
        cached_time,
        "git grep -F for each",
        grep_time,
    );
    println!("reading them from the text: {:.2} ms", millis(parse_time));

    let started = Instant::now();
    let missing_quote = extract_from_text("dir1/f1.rs:1 \"nobody_wrote_this(at_all, ever)\"");
    assert_eq!(
        check(&checker, &root, &tree, &missing_quote, &BUILD_INDEX),
        [CitationStatus::NotFound]
    );
    let build_time = started.elapsed();
    let index_files = std::fs::read_dir(home.join("indexes")).unwrap();
    let size: u64 = index_files.map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    let full_grep_time = median(1, || run_git_grep(&root, "nobody_wrote_this"));
    print_comparison("content index, built once", build_time, "git grep -F, once", full_grep_time);
    println!("content index: {:.1} MB on disk and in memory", size as f64 / 1e6);
    let load_time = median(5, || {
        drop(check(
            &CitationChecker::new(TreeStore::new(&home)),
            &root,
            &tree,
            &missing_quote,
            &CACHED_INDEX_ONLY,
        ));
    });
    println!("path index, content index from disk and one search: {:.0} ms", millis(load_time));

    let moved: String = quotes.iter().fold(String::new(), |mut text, quote| {
        writeln!(text, "other/f77.rs:1 \"{quote}\"").unwrap();
        text
    });
    let moved = extract_from_text(&moved);
    let found = check(&checker, &root, &tree, &moved, &CACHED_INDEX_ONLY);
    assert!(found.iter().all(|found| *found == CitationStatus::ElsewhereInRepo), "{found:?}");
    let search_time =
        median(RUNS, || drop(check(&checker, &root, &tree, &moved, &CACHED_INDEX_ONLY)));
    print_comparison(
        "50 citations, each in another file",
        search_time,
        "git grep -F for each",
        grep_time,
    );
    let cached_time =
        median(RUNS, || drop(check(&checker, &root, &tree, &references, &CACHED_INDEX_ONLY)));
    print_comparison(
        "50 citations, at their lines, weighed",
        cached_time,
        "git grep -F for each",
        grep_time,
    );
}

fn check(
    checker: &CitationChecker,
    root: &Path,
    tree: &str,
    references: &[Reference],
    scope: &LookupScope<'_>,
) -> Vec<CitationStatus> {
    let found = checker.check(root, tree, references, scope).unwrap();
    found.into_iter().map(|citation| citation.found).collect()
}

fn print_comparison(label: &str, our_time: Duration, other_name: &str, other_time: Duration) {
    let ratio = other_time.as_secs_f64() / our_time.as_secs_f64();
    println!(
        "{label}: {:.1} ms ({other_name}: {:.1} ms, {ratio:.1}x)",
        millis(our_time),
        millis(other_time)
    );
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(runs: usize, mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// A line that occurs in no other file.
fn unique_line(file: usize, nth: usize) -> String {
    let number = (file * 31 + nth * 17) % 9_973;
    format!("    let value_{number} = compute_{file}(part_{nth}, &state.field_{});", nth * 7 % 101)
}

/// Citations of files across the repository, and their quotes.
fn build_citations() -> (String, Vec<String>) {
    let (mut text, mut quotes) = (String::new(), vec![]);
    for nth in 0..CITATIONS {
        let (file, line) = (nth * 997 % FILES, nth % LINES);
        let quote = unique_line(file, line).trim().to_owned();
        writeln!(text, "dir{}/f{file}.rs:{} \"{quote}\"", file % 500, line + 1).unwrap();
        quotes.push(quote);
    }
    (text, quotes)
}

/// Creates the repository with one `git fast-import` stream. The file name `f77.rs` occurs twice.
/// Returns the size of all texts in bytes.
fn create_repository(root: &Path) -> usize {
    std::fs::create_dir_all(root).unwrap();
    run_git(root, &["init", "--quiet"]);
    let mut child = Command::new("git");
    // Short delta chains, as git packs the files of the last commit.
    child.args(["fast-import", "--quiet", "--depth=1"]).current_dir(root).stdin(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut stream = std::io::BufWriter::new(child.stdin.take().unwrap());
    let branch = "refs/heads/main";
    writeln!(stream, "commit {branch}\ncommitter a <a@b> 0 +0000\ndata 1\nx").unwrap();
    let mut bytes = 0;
    for file in 0..FILES {
        let lines: Vec<String> = (0..LINES).map(|nth| unique_line(file, nth)).collect();
        let text = lines.join("\n") + "\n";
        bytes += text.len();
        let path = format!("dir{}/f{file}.rs", file % 500);
        let path = if file == 78 { "other/f77.rs".to_owned() } else { path };
        writeln!(stream, "M 100644 inline {path}\ndata {}\n{text}", text.len()).unwrap();
    }
    stream.flush().unwrap();
    drop(stream);
    assert!(child.wait().unwrap().success());
    run_git(root, &["symbolic-ref", "HEAD", branch]);
    bytes
}

fn run_git(root: &Path, args: &[&str]) {
    let status = Command::new("git").args(args).current_dir(root).stdout(Stdio::null()).status();
    assert!(status.unwrap().success(), "git {args:?}");
}

/// Runs `git grep`. A missing match makes it exit with 1, which is no error here.
fn run_git_grep(root: &Path, quote: &str) {
    let args = ["grep", "-F", "-n", "-e", quote, "HEAD"];
    Command::new("git").args(args).current_dir(root).stdout(Stdio::null()).status().unwrap();
}
