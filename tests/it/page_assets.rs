//! The committed assets of the web page (`src/web/assets`) equal a fresh build of their sources.
use crate::prerequisites::{find_program_or_skip, repo_path};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Size limit of each file.
const MAX_BYTES: [(&str, usize); 2] = [("app.js", 25_000), ("app.css", 20_000)];
/// Maximum number of lines of a TypeScript file.
const MAX_SCRIPT_LINES: usize = 300;

fn find_node() -> Option<PathBuf> {
    let modules = [repo_path("tests/browser/node_modules/esbuild")];
    find_program_or_skip("node", Path::new("node"), &modules, "npm ci --prefix tests/browser")
}

#[track_caller]
fn run_successfully(command: &mut Command) {
    let output = command.output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}

/// `DEBATE_UPDATE=1 cargo test page_assets` updates the files.
#[test]
fn page_assets_match_a_fresh_build() {
    let Some(node) = find_node() else { return };
    let folder = tempfile::tempdir().unwrap();
    run_successfully(
        Command::new(node).arg(repo_path("tests/browser/build.mjs")).arg(folder.path()),
    );
    for (name, limit) in MAX_BYTES {
        let built = fs::read(folder.path().join(name)).unwrap();
        assert!(built.len() <= limit, "{name} has {} bytes; the limit is {limit}", built.len());
        let path = repo_path("src/web/assets").join(name);
        if std::env::var_os("DEBATE_UPDATE").is_some_and(|update| update == "1") {
            fs::write(path, built).unwrap();
            continue;
        }
        let committed = fs::read(path).unwrap_or_default();
        assert!(committed == built, "src/web/assets/{name} is not up to date: set DEBATE_UPDATE=1");
    }
}

#[test]
fn page_sources_pass_the_type_checker() {
    let Some(node) = find_node() else { return };
    let compiler = repo_path("tests/browser/node_modules/typescript/bin/tsc");
    let project = repo_path("src/web/ts/tsconfig.json");
    run_successfully(
        Command::new(node).arg(compiler).arg("--noEmit").arg("--project").arg(project),
    );
}

/// The script asserts the delays before a reconnect, and the timeout of a hidden tab.
#[test]
fn live_feed_reconnects_and_disconnects_in_time() {
    let Some(node) = find_node() else { return };
    run_successfully(Command::new(node).arg(repo_path("tests/browser/feed.mjs")));
}

/// Only `html.ts` parses HTML from the server. No other script may create markup from strings.
#[test]
fn html_is_parsed_only_in_html_ts() {
    for entry in fs::read_dir(repo_path("src/web/ts")).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        let name = entry.file_name();
        let lines = text.lines().count();
        assert!(
            lines <= MAX_SCRIPT_LINES,
            "{} has {lines} lines: split it by concept",
            name.display()
        );
        for api in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!text.contains(api), "{} uses {api}", name.display());
        }
        let parses_html = text.contains("parseFromString");
        assert_eq!(parses_html, name == "html.ts", "{}", name.display());
    }
}
