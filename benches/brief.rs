//! Benchmark: time to gather a brief, compared with `git` for the same input: a pull request, a
//! diff of 17,000 files, a tree of 50,000 files. Run with `cargo bench --bench brief`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use debate_mcp::brief::{BriefDetail, BriefSelection, RepositoryBrief, build_brief};
use debate_mcp::repo::TreeStore;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 7;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let pull = create_repository(
        folder.path(),
        "pull",
        &RepositorySize { files: 3_000, changed: 120, lines: 300 },
    );
    let large = create_repository(
        folder.path(),
        "large",
        &RepositorySize { files: 20_000, changed: 17_000, lines: 60 },
    );
    let wide = create_repository(
        folder.path(),
        "wide",
        &RepositorySize { files: 50_000, changed: 1, lines: 12 },
    );
    let home = folder.path().join("home");
    compare("120 files changed", &home, &pull, "diff=HEAD", &["diff", "HEAD~", "HEAD"]);
    print_peak_memory("after 120 files changed");
    compare("17,000 files changed", &home, &large, "diff=HEAD", &["diff", "HEAD~", "HEAD"]);
    compare("50,000 files", &home, &wide, "tree", &["ls-tree", "-r", "-l", "HEAD"]);
    compare("a symbol in 50,000 files", &home, &wide, "auto", &["grep", "-n", "check_permission"]);
    compare("history of 10 files", &home, &pull, "diff=HEAD; history", &["diff", "HEAD~", "HEAD"]);
    print_peak_memory("at the end");
}

/// Times both in turn, so that other processes on the machine slow down both alike.
fn compare(label: &str, home: &Path, root: &Path, selection: &str, git: &[&str]) {
    let (mut ours, mut theirs, mut brief) = (vec![], vec![], RepositoryBrief::default());
    // Pinning is not part of the measurement.
    let trees = TreeStore::new(home);
    let pin = trees.pin(root).unwrap().unwrap();
    let selection = BriefSelection::parse(selection).unwrap();
    let topic = "Should `check_permission` be there?";
    for _ in 0..RUNS {
        let started = Instant::now();
        brief =
            build_brief(&trees, root, root, Some(&pin), topic, &selection, BriefDetail::Contents)
                .unwrap();
        ours.push(started.elapsed());
        let started = Instant::now();
        run_git(root, git);
        theirs.push(started.elapsed());
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "{label}: {:.1} ms, `git {}` {:.1} ms: {:.2}x (median of {RUNS}; {} changed, {} left out, \
         about {} tokens)",
        ours.as_secs_f64() * 1e3,
        git[0],
        theirs.as_secs_f64() * 1e3,
        ours.as_secs_f64() / theirs.as_secs_f64(),
        brief.changed_files.len(),
        brief.left_out.len(),
        brief.tokens,
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Prints the peak memory of this process (`VmHWM`).
fn print_peak_memory(when: &str) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(line) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("peak memory {when}: {}", line.trim_start_matches("VmHWM:").trim());
    }
}

/// Size of a generated repository. `changed` is the number of files in the last commit.
struct RepositorySize {
    files: usize,
    changed: usize,
    lines: usize,
}

fn create_repository(folder: &Path, name: &str, size: &RepositorySize) -> PathBuf {
    let root = folder.join(name);
    std::fs::create_dir(&root).unwrap();
    run_git(&root, &["init", "-q", "-b", "main"]);
    let mut stream = String::new();
    append_commit(&mut stream, size.files, |file| file_text(file, size.lines, 0));
    append_commit(&mut stream, size.changed, |file| file_text(file, size.lines, 1));
    let mut import = Command::new("git");
    import.current_dir(&root).args(["fast-import", "--quiet"]).stdin(Stdio::piped());
    let mut import = import.spawn().unwrap();
    import.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    run_git(&root, &["reset", "-q", "--hard"]);
    // Packed, as after a clone.
    run_git(&root, &["gc", "-q"]);
    root
}

fn append_commit(stream: &mut String, files: usize, text: impl Fn(usize) -> String) {
    stream.push_str("commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\n");
    for file in 0..files {
        let text = text(file);
        let (outer, inner) = (file % 17, file % 239);
        let _ = write!(
            stream,
            "M 644 inline src/part{outer}/folder{inner}/file{file}.rs\ndata {}\n{text}\n",
            text.len()
        );
    }
}

/// Text of a file. No two files share a line, like real source files.
fn file_text(file: usize, lines: usize, version: usize) -> String {
    let mut text = String::new();
    let mut state = file as u64 + 1;
    for line in 0..lines {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let (name, number) = (state >> 40, state >> 17 & 0xff_ffff);
        if version > 0 && (line % 50 == 7 || line % 50 == 8) {
            let _ = writeln!(text, "    let ok_{name:x} = check_permission({number:x}, {line});");
        } else {
            let _ = writeln!(text, "    let word_{name:x} = other_{number:x}({line});");
        }
    }
    text
}

fn run_git(root: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(root).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_PAGER", "cat");
    let output = git.args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
