//! Naming and documentation rules of the source: one meaning per type name, no function names that
//! are bare participles, and documentation for every module and public type. They replace the lint
//! `missing_docs`, which also forces comments on fields whose names say it all.
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Function names that say nothing about what the function does.
const BANNED_FUNCTION_NAMES: &[&str] = &[
    "told", "heard", "said", "says", "shown", "meant", "asked", "given", "kept", "held", "taken",
    "named", "wanted", "whole", "plain", "known", "done", "gone", "left", "came", "warned",
    "readied", "whose", "there", "of", "at",
];

#[test]
fn no_type_name_occurs_twice() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = type_name(line) {
                places.entry(name.into()).or_default().push(format!(
                    "{}:{}",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
    assert!(places.len() > 500, "only {} types found", places.len());
    places.retain(|_, found| found.len() > 1);
    assert!(places.is_empty(), "one name, one meaning: {places:#?}");
}

#[test]
fn function_names_say_what_the_function_does() {
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            let Some((before, rest)) = line.split_once("fn ") else { continue };
            let mut modifiers = before.split_whitespace();
            if !modifiers.all(|word| word.starts_with("pub") || ["async", "const"].contains(&word))
            {
                continue;
            }
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let is_banned = BANNED_FUNCTION_NAMES.contains(&name.as_str());
            assert!(
                !is_banned,
                "{}:{}: `fn {name}`: use a verb or a noun",
                path.display(),
                number + 1
            );
        }
    }
}

#[test]
fn every_module_and_public_type_is_documented() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} does not begin with `//!`", path.display());
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            if !line.starts_with("pub ") || type_name(line).is_none() {
                continue;
            }
            let documented = lines[..number]
                .iter()
                .rev()
                .map(|line| line.trim())
                .take_while(|line| !line.is_empty());
            let documented = documented
                .take_while(|line| *line != "}")
                .any(|line| line.starts_with("///") || line.contains("about = "));
            assert!(documented, "{}:{}: `{line}` has no comment", path.display(), number + 1);
        }
    }
}

/// The name of the type that a line declares. Associated types are indented and do not count.
fn type_name(line: &str) -> Option<&str> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let line = line
        .strip_prefix("pub(super) ")
        .or_else(|| line.strip_prefix("pub(crate) "))
        .unwrap_or(line);
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let rest = ["struct ", "enum ", "trait ", "type ", "union "]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Every Rust file below `src`, with its text.
fn sources() -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new("src").to_owned()];
    let mut sources = vec![];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                sources.push((path, text));
            }
        }
    }
    assert!(sources.len() > 400, "only {} files found", sources.len());
    sources
}
