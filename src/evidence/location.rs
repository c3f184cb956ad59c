//! Parser for a path with optional lines: `src/a.rs:10-20`, `src/a.rs#L10`, `src/a.rs(10)`. Rejects
//! look-alikes: times, versions, host names with a port, module paths. Entry point:
//! `parse_location`.
use super::{CitedLocation, CitedText};

/// Maximum length of a path in bytes.
const MAX_PATH_BYTES: usize = 1_000;
/// Maximum length of the suffix after a path, such as line numbers, in bytes.
const MAX_SUFFIX_BYTES: usize = 50;
/// Maximum length of a file extension in bytes.
const MAX_EXTENSION_BYTES: usize = 12;
/// Maximum number of digits in a line number.
const MAX_NUMBER_DIGITS: usize = 9;
/// Maximum number of spaces in one name of a path. A name with more is a sentence.
const MAX_SPACES_IN_NAME: usize = 2;
/// Characters searched after a path for words such as `on line`.
const LINES_AFTER_CHARS: usize = 24;
/// Characters searched before a path for line numbers.
const LINES_BEFORE_CHARS: usize = 40;

/// Extensions that make a name without a folder a file, and not a member access.
const FILE_EXTENSIONS: &str = "adoc asm astro awk bash bat bazel bzl c cabal cc cfg cjs clj cljs cmake cmd conf cpp cs \
    csproj css csv cts cu cue cxx dart dhall diff ebuild el elm env erb erl ex exs fish fs \
    fsx gd gleam go gql gradle graphql groovy h haml hbs hcl hh hpp hrl hs htm html hxx ini \
    ipynb java jl js json json5 jsonc jsonl jsx kt kts less lhs lisp lock lua m md mdx mjs \
    mk ml mli mm mod mts nim nix nu odin pas patch php pl plist pm po prisma properties \
    proto ps1 pug purs py pyi pyx qml r rake rb re rkt rs rst sass sbt scala scm scss \
    service sh snap sol sql sum sv svelte svg swift tcl tex tf tfvars thrift toml ts tsv tsx \
    txt vala vb vhd vim vue wat wgsl xhtml xml xsd yaml yml zig zsh";

/// File names without an extension.
const EXTENSIONLESS_FILES: &str = "authors brewfile build caddyfile changelog changes codeowners containerfile contributing \
    copying dockerfile gemfile gnumakefile jenkinsfile justfile kconfig licence license \
    makefile news notice owners podfile procfile rakefile readme todo vagrantfile version \
    workspace";

/// Top-level domains and other host suffixes. Not used as file extensions.
const HOST_SUFFIXES: &str = "ai app biz cloud co com corp de dev edu eu example gov home info internal invalid io lan \
    local localdomain localhost net org svc test uk us";

/// Product names that look like files.
const PRODUCT_NAMES: &str = "node.js vue.js next.js nuxt.js react.js express.js three.js d3.js angular.js ember.js \
    backbone.js alpine.js chart.js moment.js discord.js p5.js socket.io asp.net deno.js \
    bun.js require.js tokio.rs docs.rs serde.rs actix.rs diesel.rs";

/// Where a candidate was found, which decides how strict the parser is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathContext {
    /// A word of prose: needs a line number or a folder.
    Prose,
    /// A word of an evidence entry: needs no folder.
    Evidence,
    /// In backticks or quotation marks: anything that can be a path.
    Quoted,
}

/// Parses a complete candidate as a location.
pub(super) fn parse_location(text: &str, context: PathContext) -> Option<CitedLocation> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_PATH_BYTES + MAX_SUFFIX_BYTES || text.contains("://") {
        return None;
    }
    let unix = text.replace('\\', "/");
    let bare = strip_drive(&unix);
    let (path, suffix) = split_suffix(bare);
    let mut location =
        CitedLocation { path: path.trim_end().to_owned(), lines: None, text: None, certain: true };
    match suffix {
        PathSuffix::None => {}
        PathSuffix::Lines(lines) => location.lines = Some(lines),
        PathSuffix::Symbol(name) => location.text = Some(CitedText::Symbol(name.to_owned())),
        PathSuffix::Other => return None,
    }
    let has_suffix = location.lines.is_some() || location.text.is_some();
    location.certain = match path_likelihood(&location.path, has_suffix, context) {
        PathLikelihood::No => return None,
        PathLikelihood::Maybe => false,
        PathLikelihood::Yes => true,
    };
    Some(location)
}

/// Parses line numbers right after a path: ` lines 10-20`, ` (L10)`, `:10`, `#L10`. Returns them
/// and the number of bytes used.
pub(super) fn parse_lines_after(text: &str) -> Option<((u32, u32), usize)> {
    let rest = text.trim_start_matches([' ', ',', '(', '[', '*', '_']);
    let spaced = rest.len() < text.len();
    let (rest, is_marked) = if let Some(rest) = rest.strip_prefix(":").or(rest.strip_prefix("#L")) {
        (rest.strip_prefix('L').unwrap_or(rest), !spaced)
    } else {
        let lower: String = rest.chars().take(LINES_AFTER_CHARS).collect::<String>().to_lowercase();
        let prepositions = ["at ", "on ", "around ", "in ", "near "];
        let skip =
            prepositions.iter().find(|word| lower.starts_with(**word)).map_or(0, |word| word.len());
        let words = ["lines ", "line ", "lines: ", "line: ", "ll. ", "l. "];
        let word = words.iter().find(|word| lower[skip..].starts_with(**word));
        match word {
            Some(word) => (rest.get(skip + word.len()..)?.trim_start(), true),
            None => (rest.get(skip..)?.strip_prefix('L')?, true),
        }
    };
    let (lines, after) = parse_line_range(rest.strip_prefix('L').unwrap_or(rest))?;
    let is_complete = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let closing_len = after.len() - after.trim_start_matches([')', ']']).len();
    let has_bracket = text[..text.len() - rest.len()].contains(['(', '[']);
    let used = text.len() - after.len() + if has_bracket { closing_len } else { 0 };
    (is_marked && is_complete).then_some((lines, used))
}

/// Parses line numbers right before a path: `line 10 of `.
pub(super) fn parse_lines_before(text: &str) -> Option<(u32, u32)> {
    let start = text.char_indices().rev().nth(LINES_BEFORE_CHARS).map_or(0, |(at, _)| at);
    let lower = text[start..].to_lowercase();
    let lower = lower.trim_end();
    let lower = ["of", "in"].iter().find_map(|word| lower.strip_suffix(word))?.trim_end();
    let at = lower.rfind("line")?;
    let rest = lower[at + 4..].trim_start_matches('s').trim_start();
    let (lines, after) = parse_line_range(rest)?;
    after.trim().is_empty().then_some(lines)
}

/// The location in a line of grep output: `a.rs:10` of `a.rs:10:let`.
pub(super) fn location_before_code(word: &str) -> Option<&str> {
    let (path, rest) = word.split_once(':')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let has_code = digits > 0 && rest[digits..].starts_with(':');
    has_code.then(|| &word[..path.len() + 1 + digits])
}

/// Suffix after a path.
enum PathSuffix<'a> {
    None,
    Lines((u32, u32)),
    Symbol(&'a str),
    Other,
}

/// Splits a candidate into path and suffix.
fn split_suffix(text: &str) -> (&str, PathSuffix<'_>) {
    if let Some(hash) = text.find("#L") {
        let lines = parse_line_range(&text[hash + 2..]).filter(|(_, rest)| is_column(rest));
        return (
            &text[..hash],
            lines.map_or(PathSuffix::Other, |(lines, _)| PathSuffix::Lines(lines)),
        );
    }
    if let Some((path, rest)) = text.split_once(':') {
        let after_colons = rest.strip_prefix(':');
        let rest = after_colons.unwrap_or(rest).trim();
        if rest.is_empty() {
            return (path, PathSuffix::None);
        }
        let digits = rest.strip_prefix(['L', 'l']).unwrap_or(rest);
        if after_colons.is_none()
            && let Some((lines, rest)) = parse_line_range(digits)
        {
            return (
                path,
                if is_column(rest) { PathSuffix::Lines(lines) } else { PathSuffix::Other },
            );
        }
        let name = rest.strip_suffix("()").unwrap_or(rest);
        let is_name =
            name.split("::").all(is_identifier) && extension(path).is_some_and(is_known_extension);
        return (path, if is_name { PathSuffix::Symbol(name) } else { PathSuffix::Other });
    }
    if let Some(inner) = text.strip_suffix(')')
        && let Some((path, digits)) = inner.rsplit_once('(')
        && let Some((lines, rest)) = parse_line_range(digits)
    {
        let is_file = path.contains('/') || extension(path).is_some_and(is_known_extension);
        return (
            path,
            if is_file && is_column(rest) { PathSuffix::Lines(lines) } else { PathSuffix::Other },
        );
    }
    (text, PathSuffix::None)
}

/// Whether the rest after the line numbers is a column, or empty.
fn is_column(rest: &str) -> bool {
    let rest = rest.strip_prefix([':', ',', 'C']).unwrap_or(rest);
    rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b',' | b' '))
}

/// Parses `10`, `10-20`, `10–L20` or `10 to 20`. Returns first and last line, and the rest.
fn parse_line_range(text: &str) -> Option<((u32, u32), &str)> {
    let (first, rest) = parse_number(text)?;
    let rest = strip_column(rest);
    let trimmed = rest.trim_start();
    let separators = ["..=", "..", "-", "–", "—", "‑", "−", "~", "to ", "and ", "through "];
    let second = separators.iter().find_map(|separator| {
        let rest = trimmed.strip_prefix(separator)?.trim_start();
        parse_number(rest.strip_prefix(['L', 'l']).unwrap_or(rest))
    });
    match second {
        Some((second, rest)) => Some(((first.min(second), first.max(second)), strip_column(rest))),
        None => Some(((first, first), rest)),
    }
}

/// Strips the column of `10C5`.
fn strip_column(text: &str) -> &str {
    text.strip_prefix('C').and_then(parse_number).map_or(text, |(_, rest)| rest)
}

fn parse_number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    // A longer number is not a line number.
    (1..=MAX_NUMBER_DIGITS)
        .contains(&digits)
        .then(|| (text[..digits].parse().unwrap_or(0), &text[digits..]))
}

enum PathLikelihood {
    No,
    Maybe,
    Yes,
}

/// Rates whether a text is a path. `has_suffix` means that lines or a symbol follow it.
fn path_likelihood(path: &str, has_suffix: bool, context: PathContext) -> PathLikelihood {
    let is_forbidden = |c: char| "<>|\"*?={}`;,!^%\t\n".contains(c) || c.is_control();
    if path.is_empty()
        || path.len() > MAX_PATH_BYTES
        || path.contains(is_forbidden)
        || path.contains("//")
    {
        return PathLikelihood::No;
    }
    let is_folder = path.ends_with('/');
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let has_folder = path.trim_start_matches(['.', '~']).trim_end_matches('/').contains('/');
    let is_email = path.contains('@') && !has_folder;
    if name.is_empty() || is_email || !name.chars().any(char::is_alphanumeric) {
        return PathLikelihood::No;
    }
    // A command with a path in it is not a path.
    let has_spaces = path.contains(' ');
    let is_sentence = || path.split('/').any(|name| name.matches(' ').count() > MAX_SPACES_IN_NAME);
    if has_spaces && (context != PathContext::Quoted || path.contains(" -") || is_sentence()) {
        return PathLikelihood::No;
    }
    let ending = extension(name);
    let has_known_extension = ending.is_some_and(is_known_extension) && !is_product_name(name);
    let stem = name.split('.').next().unwrap_or_default();
    let is_known_name = is_listed(EXTENSIONLESS_FILES, stem)
        && (name.starts_with(char::is_uppercase) || has_suffix || has_folder);
    let is_dotfile =
        name.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let is_host = ending.is_some_and(is_host_suffix);
    if has_spaces && !(has_known_extension && (has_folder || has_suffix || !name.contains(' '))) {
        return PathLikelihood::No;
    }
    match (has_suffix, has_folder) {
        (true, true) => PathLikelihood::Yes,
        (true, false) if has_known_extension || is_known_name || is_dotfile => PathLikelihood::Yes,
        (true, false) if ending.is_some() && !is_host => PathLikelihood::Yes,
        (false, true) if has_known_extension || is_known_name && context != PathContext::Prose => {
            PathLikelihood::Yes
        }
        (false, true) if context == PathContext::Quoted && !is_host => PathLikelihood::Maybe,
        (false, false) if context != PathContext::Prose && has_known_extension => {
            PathLikelihood::Yes
        }
        (false, false) if context != PathContext::Prose && is_known_name => PathLikelihood::Maybe,
        (false, false) if context == PathContext::Quoted && (is_dotfile || is_folder) => {
            PathLikelihood::Maybe
        }
        _ => PathLikelihood::No,
    }
}

/// File extension, if it has a plausible form.
pub(super) fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.')?;
    let is_plausible = (1..=MAX_EXTENSION_BYTES).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte));
    (is_plausible && !stem.is_empty()).then_some(ending)
}

/// Whether this is a known file extension.
pub(super) fn is_known_extension(extension: &str) -> bool {
    is_listed(FILE_EXTENSIONS, extension)
}

/// Whether this is a host suffix.
pub(super) fn is_host_suffix(suffix: &str) -> bool {
    is_listed(HOST_SUFFIXES, suffix)
}

/// Whether a word is in a space-separated list, ignoring case.
fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|entry| entry.eq_ignore_ascii_case(word))
}

/// Whether a name is a product and not a file.
pub(super) fn is_product_name(name: &str) -> bool {
    is_listed(PRODUCT_NAMES, name)
}

/// Whether a text is one identifier.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Strips a Windows drive letter. No other colon is valid before the line numbers.
fn strip_drive(text: &str) -> &str {
    let bytes = text.as_bytes();
    let has_drive = bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && &bytes[1..3] == b":/";
    if has_drive { &text[2..] } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_location(text: &str) -> bool {
        parse_location(text, PathContext::Quoted).is_some()
    }

    #[test]
    fn path_has_1_000_bytes_and_its_suffix_50() {
        let path = format!("{}.rs", "x".repeat(MAX_PATH_BYTES - 3));
        assert!(is_location(&path));
        assert!(!is_location(&format!("x{path}")));
        let symbol = "y".repeat(MAX_SUFFIX_BYTES - 2);
        assert!(is_location(&format!("{path}::{symbol}")));
        assert!(!is_location(&format!("{path}::{symbol}y")));
        assert_eq!((MAX_PATH_BYTES, MAX_SUFFIX_BYTES), (1_000, 50));
    }

    #[test]
    fn line_number_has_9_digits() {
        let digits = "1".repeat(MAX_NUMBER_DIGITS);
        assert!(is_location(&format!("src/a.rs:{digits}")));
        assert!(!is_location(&format!("src/a.rs:{digits}1")));
        assert_eq!(MAX_NUMBER_DIGITS, 9);
    }

    #[test]
    fn extension_has_12_bytes() {
        let name = format!("a.{}", "x".repeat(MAX_EXTENSION_BYTES));
        assert!(is_location(&format!("{name}:1")));
        assert!(!is_location(&format!("{name}x:1")));
        assert_eq!(MAX_EXTENSION_BYTES, 12);
    }

    #[test]
    fn name_has_2_spaces() {
        let path = |spaces: usize| format!("src/{}a.rs", "a ".repeat(spaces));
        assert!(is_location(&path(MAX_SPACES_IN_NAME)));
        assert!(!is_location(&path(MAX_SPACES_IN_NAME + 1)));
        assert_eq!(MAX_SPACES_IN_NAME, 2);
    }
}
