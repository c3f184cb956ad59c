//! The committed assets of the web page (`src/web/assets`) equal a fresh build of their sources.
use crate::needs::{here, needs};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Size limit of each file.
const MOST: [(&str, usize); 2] = [("app.js", 25_000), ("app.css", 20_000)];

fn node() -> Option<PathBuf> {
    let modules = [here("tests/browser/node_modules/esbuild")];
    needs("node", Path::new("node"), &modules, "npm ci --prefix tests/browser")
}

#[track_caller]
fn done(command: &mut Command) {
    let done = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
}

/// `DEBATE_UPDATE=1 cargo test page_assets` updates the files.
#[test]
fn what_a_browser_is_given_is_built_from_the_sources() {
    let Some(node) = node() else { return };
    let folder = tempfile::tempdir().unwrap();
    done(Command::new(node).arg(here("tests/browser/build.mjs")).arg(folder.path()));
    for (name, most) in MOST {
        let built = fs::read(folder.path().join(name)).unwrap();
        assert!(built.len() <= most, "{name} has {} bytes, and may have {most}", built.len());
        let path = here("src/web/assets").join(name);
        if std::env::var_os("DEBATE_UPDATE").is_some_and(|update| update == "1") {
            fs::write(path, built).unwrap();
            continue;
        }
        let there = fs::read(path).unwrap_or_default();
        assert!(there == built, "src/web/assets/{name} is not up to date: set DEBATE_UPDATE=1");
    }
}

#[test]
fn the_sources_of_the_page_have_the_types_they_say() {
    let Some(node) = node() else { return };
    let compiler = here("tests/browser/node_modules/typescript/bin/tsc");
    let project = here("src/web/ts/tsconfig.json");
    done(Command::new(node).arg(compiler).arg("--noEmit").arg("--project").arg(project));
}

/// Only `html.ts` parses HTML from the server. No other script may create markup from strings.
#[test]
fn markup_is_made_in_one_place() {
    for entry in fs::read_dir(here("src/web/ts")).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        let name = entry.file_name();
        assert!(text.lines().count() <= 300, "{} is long: split it by concept", name.display());
        for means in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!text.contains(means), "{} uses {means}", name.display());
        }
        let parses = text.contains("parseFromString");
        assert_eq!(parses, name == "html.ts", "{}", name.display());
    }
}
