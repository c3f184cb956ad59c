//! Reads the paths that a Rust source text names: `use` trees, re-exports, and paths in expressions
//! and types. Comments, literals and test code are skipped. A small tokenizer is enough for this,
//! because the source is formatted and compiles.

/// The paths of one source file, split at `::`.
#[derive(Default)]
pub(crate) struct SourcePaths {
    pub(crate) imports: Vec<ImportedPath>,
    /// `pub use`, with any visibility.
    pub(crate) reexports: Vec<ImportedPath>,
    /// Paths of at least two segments outside of `use`.
    pub(crate) inline: Vec<Vec<String>>,
}

/// One leaf of a `use` tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImportedPath {
    pub(crate) segments: Vec<String>,
    /// The name it has in the file: the last segment or the name after `as`; `*` for a glob.
    pub(crate) name: String,
}

/// Reads all paths of a source text.
pub(crate) fn read_paths(text: &str) -> SourcePaths {
    let tokens = without_test_code(&tokenize(text));
    let mut paths = SourcePaths::default();
    let mut is_public = false;
    let mut index = 0;
    while index < tokens.len() {
        let token = tokens[index];
        let next = tokens.get(index + 1).copied().unwrap_or_default();
        if token == "pub" {
            is_public = true;
            index += 1;
            if next == "(" {
                index = end_of_group(&tokens, index);
            }
            continue;
        }
        // `use<'a>` in a return type lists captured lifetimes.
        if token == "use" && next != "<" {
            let list = if is_public { &mut paths.reexports } else { &mut paths.imports };
            index = read_use_tree(&tokens, index + 1, &[], list);
        } else if is_word(token) && next == "::" {
            let mut segments = vec![token.to_owned()];
            index += 1;
            while tokens.get(index) == Some(&"::")
                && tokens.get(index + 1).is_some_and(|token| is_word(token))
            {
                segments.push(tokens[index + 1].to_owned());
                index += 2;
            }
            if segments.len() > 1 {
                paths.inline.push(segments);
            }
            // The path continues behind generic arguments: `Vec::<u8>::new`.
            index += usize::from(tokens.get(index) == Some(&"::"));
        } else {
            index += 1;
        }
        is_public = false;
    }
    paths
}

/// Reads a `use` tree from `index` and returns the index behind it.
fn read_use_tree(
    tokens: &[&str],
    mut index: usize,
    prefix: &[String],
    leaves: &mut Vec<ImportedPath>,
) -> usize {
    let mut segments = prefix.to_vec();
    let mut name = None;
    while let Some(token) = tokens.get(index).copied() {
        match token {
            "{" => {
                index += 1;
                while tokens.get(index).is_some_and(|token| *token != "}") {
                    index = read_use_tree(tokens, index, &segments, leaves);
                    index += usize::from(tokens.get(index) == Some(&","));
                }
                return index + 1;
            }
            "as" => {
                name = tokens.get(index + 1).map(|name| (*name).to_owned());
                index += 1;
            }
            "," | "}" | ";" => break,
            "::" => {}
            // `a::{self, b}` imports `a`.
            "self" if !segments.is_empty() => {}
            segment => segments.push(segment.to_owned()),
        }
        index += 1;
    }
    let name = name.or_else(|| segments.last().cloned()).unwrap_or_default();
    leaves.push(ImportedPath { segments, name });
    index
}

/// Splits a source text into words, `::` and single characters. A literal becomes `""`.
fn tokenize(text: &str) -> Vec<&str> {
    let mut tokens = vec![];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment_length(rest)
        } else if let Some(length) = literal_length(rest) {
            tokens.push("\"\"");
            length
        } else if is_word(rest) {
            let length = word_length(rest);
            tokens.push(&rest[..length]);
            length
        } else {
            let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            if !first.is_whitespace() {
                tokens.push(&rest[..length]);
            }
            length
        };
        rest = &rest[length..];
    }
    tokens
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

fn block_comment_length(text: &str) -> usize {
    let mut depth = 0;
    let mut index = 0;
    while index < text.len() {
        let rest = &text.as_bytes()[index..];
        if rest.starts_with(b"/*") {
            depth += 1;
            index += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            index += 2;
            if depth == 0 {
                return index;
            }
        } else {
            index += 1;
        }
    }
    text.len()
}

/// The length of the string or character literal at the beginning of the text. A lifetime is none.
fn literal_length(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['"', '#', '\'']))
    })?;
    let body = &text[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        // Otherwise it is a raw identifier: `r#type`.
        let content = body[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = content.find(&end).unwrap_or(content.len());
        return Some((prefix.len() + hashes + 1 + length + end.len()).min(text.len()));
    }
    let quote = body.chars().next().filter(|quote| *quote != '#')?;
    let mut characters = body.char_indices().skip(1);
    if quote == '\'' {
        let (_, first) = characters.next()?;
        if first != '\\' {
            let (index, second) = characters.next()?;
            return (second == '\'').then_some(prefix.len() + index + 1);
        }
        characters = body.char_indices().skip(1);
    }
    while let Some((index, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return Some(prefix.len() + index + 1);
        }
    }
    Some(text.len())
}

/// Removes every item under `#[cfg(test)]`.
fn without_test_code<'t>(tokens: &[&'t str]) -> Vec<&'t str> {
    let mut kept = vec![];
    let mut index = 0;
    while index < tokens.len() {
        if !is_attribute(tokens, index) {
            kept.push(tokens[index]);
            index += 1;
            continue;
        }
        let end = end_of_group(tokens, index + 1);
        let attribute = &tokens[index..end];
        let is_test_only = attribute.get(2) == Some(&"cfg")
            && attribute.contains(&"test")
            && !attribute.contains(&"not");
        if is_test_only {
            index = end_of_item(tokens, end);
        } else {
            kept.extend(attribute);
            index = end;
        }
    }
    kept
}

fn is_attribute(tokens: &[&str], index: usize) -> bool {
    tokens[index] == "#" && tokens.get(index + 1) == Some(&"[")
}

/// The index behind the item at `index`: behind its `;` or its body, with attributes before it.
fn end_of_item(tokens: &[&str], mut index: usize) -> usize {
    while index < tokens.len() && is_attribute(tokens, index) {
        index = end_of_group(tokens, index + 1);
    }
    while index < tokens.len() {
        match tokens[index] {
            ";" => return index + 1,
            "{" => return end_of_group(tokens, index),
            "(" | "[" => index = end_of_group(tokens, index),
            _ => index += 1,
        }
    }
    index
}

/// The index behind the bracket that closes the one at `index`.
fn end_of_group(tokens: &[&str], mut index: usize) -> usize {
    let mut depth = 0;
    while index < tokens.len() {
        match tokens[index] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        index += 1;
        if depth == 0 {
            break;
        }
    }
    index
}

#[test]
fn use_trees_are_expanded() {
    let cases: &[(&str, &[&str])] = &[
        ("use crate::a::B;", &["crate::a::B"]),
        ("use crate::{a::B, c::{d, E}};", &["crate::a::B", "crate::c::d", "crate::c::E"]),
        ("use super::super::{\n    a::{self, B},\n};", &["super::super::a", "super::super::a::B"]),
        ("use a::b::*;", &["a::b::*"]),
        ("use a::{B as C, d as _};", &["a::B as C", "a::d as _"]),
        ("fn f() -> impl Trait + use<'_> { use a::B; }", &["a::B"]),
        ("// use a::B;\n/* use /* a */ ::C; */ use d::E; // use f::G;", &["d::E"]),
        ("let s = \"use a::B;\"; let r = r#\"use \"c::D;\"#; let q = '\"'; use e::F;", &["e::F"]),
        ("let s = \"\\\"use a::B;\"; let c = '\\''; fn f<'a>(x: &'a u8) { use e::F; }", &["e::F"]),
        ("#[cfg(test)]\nuse a::{B, C};\nuse d::E;", &["d::E"]),
        ("#[cfg(test)]\n#[allow(dead_code)]\nmod tests { use a::B; }\nuse d::E;", &["d::E"]),
        ("#[cfg(test)]\nmod tests;\n#[cfg(unix)]\nuse d::E;", &["d::E"]),
        ("#[cfg(test)]\nfn f(x: [u8; 2]) { use a::B; }\n#[cfg(not(test))]\nuse d::E;", &["d::E"]),
    ];
    for (text, expected) in cases {
        let imports = read_paths(text).imports;
        let found: Vec<String> = imports.iter().map(show_import).collect();
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn reexports_are_told_apart_from_imports() {
    let text =
        "pub use a::B;\npub(crate) use c::{D, E};\npub(in crate::x) use f::G as H;\nuse i::J;";
    let paths = read_paths(text);
    let reexports: Vec<String> = paths.reexports.iter().map(show_import).collect();
    assert_eq!(reexports, ["a::B", "c::D", "c::E", "f::G as H"]);
    assert_eq!(paths.imports.len(), 1);
}

#[test]
fn paths_in_code_are_found() {
    let cases: &[(&str, &[&str])] = &[
        (
            "fn f(x: crate::a::B) -> super::C { self::d::e() }",
            &["crate::a::B", "super::C", "self::d::e"],
        ),
        ("Vec::<crate::a::B>::new(), x.y::<super::C>()", &["crate::a::B", "super::C"]),
        ("pub(crate) fn f() { format!(\"{}\", crate::a::b()) }", &["crate::a::b"]),
        ("// crate::a::B\nlet text = \"crate::c::D\"; #[cfg(test)] fn f() { crate::e::F }", &[]),
    ];
    for (text, expected) in cases {
        let found: Vec<String> =
            read_paths(text).inline.iter().map(|segments| segments.join("::")).collect();
        assert_eq!(found, *expected, "{text}");
    }
}

fn show_import(import: &ImportedPath) -> String {
    let path = import.segments.join("::");
    let is_renamed = import.segments.last() != Some(&import.name);
    if is_renamed { format!("{path} as {}", import.name) } else { path }
}
