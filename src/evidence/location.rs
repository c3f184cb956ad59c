//! Parser for a path with optional lines: `src/a.rs:10-20`, `src/a.rs#L10`, `src/a.rs(10)`. Rejects
//! look-alikes: times, versions, host names with a port, module paths. Entry point:
//! `parse_location`.
use super::{CitedLocation, CitedText};

/// Maximum length of a path in bytes.
const MAX_PATH_BYTES: usize = 1_000;

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
pub(super) fn parse_location(text: &str, setting: PathContext) -> Option<CitedLocation> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_PATH_BYTES + 50 || text.contains("://") {
        return None;
    }
    let unix = text.replace('\\', "/");
    let bare = strip_drive(&unix);
    let (path, tail) = split_suffix(bare);
    let mut place =
        CitedLocation { path: path.trim_end().to_owned(), lines: None, text: None, certain: true };
    match tail {
        PathSuffix::None => {}
        PathSuffix::Lines(lines) => place.lines = Some(lines),
        PathSuffix::Symbol(name) => place.text = Some(CitedText::Symbol(name.to_owned())),
        PathSuffix::Other => return None,
    }
    let spoken_of = place.lines.is_some() || place.text.is_some();
    place.certain = match path_likelihood(&place.path, spoken_of, setting) {
        PathLikelihood::No => return None,
        PathLikelihood::Maybe => false,
        PathLikelihood::Yes => true,
    };
    Some(place)
}

/// Parses line numbers right after a path: ` lines 10-20`, ` (L10)`, `:10`, `#L10`. Returns them
/// and the number of bytes used.
pub(super) fn parse_lines_after(text: &str) -> Option<((u32, u32), usize)> {
    let rest = text.trim_start_matches([' ', ',', '(', '[', '*', '_']);
    let spaced = rest.len() < text.len();
    let (rest, named) = if let Some(rest) = rest.strip_prefix(":").or(rest.strip_prefix("#L")) {
        (rest.strip_prefix('L').unwrap_or(rest), !spaced)
    } else {
        let lower: String = rest.chars().take(24).collect::<String>().to_lowercase();
        let start = ["at ", "on ", "around ", "in ", "near "];
        let skip = start.iter().find(|word| lower.starts_with(**word)).map_or(0, |word| word.len());
        let words = ["lines ", "line ", "lines: ", "line: ", "ll. ", "l. "];
        let word = words.iter().find(|word| lower[skip..].starts_with(**word));
        match word {
            Some(word) => (rest.get(skip + word.len()..)?.trim_start(), true),
            None => (rest.get(skip..)?.strip_prefix('L')?, true),
        }
    };
    let (lines, after) = parse_line_range(rest.strip_prefix('L').unwrap_or(rest))?;
    let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let closing = after.len() - after.trim_start_matches([')', ']']).len();
    let opened = text[..text.len() - rest.len()].contains(['(', '[']);
    let used = text.len() - after.len() + if opened { closing } else { 0 };
    (named && ends).then_some((lines, used))
}

/// Parses line numbers right before a path: `line 10 of `.
pub(super) fn parse_lines_before(text: &str) -> Option<(u32, u32)> {
    let end = text.char_indices().rev().nth(40).map_or(0, |(at, _)| at);
    let lower = text[end..].to_lowercase();
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
    let follows = digits > 0 && rest[digits..].starts_with(':');
    follows.then(|| &word[..path.len() + 1 + digits])
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
    if let Some(at) = text.find("#L") {
        let lines = parse_line_range(&text[at + 2..]).filter(|(_, rest)| is_column(rest));
        return (
            &text[..at],
            lines.map_or(PathSuffix::Other, |(lines, _)| PathSuffix::Lines(lines)),
        );
    }
    if let Some((path, rest)) = text.split_once(':') {
        let double = rest.strip_prefix(':');
        let rest = double.unwrap_or(rest).trim();
        if rest.is_empty() {
            return (path, PathSuffix::None);
        }
        let digits = rest.strip_prefix(['L', 'l']).unwrap_or(rest);
        if double.is_none()
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
        let file = path.contains('/') || extension(path).is_some_and(is_known_extension);
        return (
            path,
            if file && is_column(rest) { PathSuffix::Lines(lines) } else { PathSuffix::Other },
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
    let spaced = rest.trim_start();
    let joints = ["..=", "..", "-", "–", "—", "‑", "−", "~", "to ", "and ", "through "];
    let second = joints.iter().find_map(|joint| {
        let rest = spaced.strip_prefix(joint)?.trim_start();
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
    let many = text.bytes().take_while(u8::is_ascii_digit).count();
    // A longer number is not a line number.
    (1..=9).contains(&many).then(|| (text[..many].parse().unwrap_or(0), &text[many..]))
}

enum PathLikelihood {
    No,
    Maybe,
    Yes,
}

/// Rates whether a text is a path. `spoken_of` means that lines or a symbol follow it.
fn path_likelihood(path: &str, spoken_of: bool, setting: PathContext) -> PathLikelihood {
    let banned = |c: char| "<>|\"*?={}`;,!^%\t\n".contains(c) || c.is_control();
    if path.is_empty()
        || path.len() > MAX_PATH_BYTES
        || path.contains(banned)
        || path.contains("//")
    {
        return PathLikelihood::No;
    }
    let folder = path.ends_with('/');
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let foldered = path.trim_start_matches(['.', '~']).trim_end_matches('/').contains('/');
    let email = path.contains('@') && !foldered;
    if name.is_empty() || email || !name.chars().any(char::is_alphanumeric) {
        return PathLikelihood::No;
    }
    // A command with a path in it is not a path.
    let spaces = path.contains(' ');
    let sentence = || path.split('/').any(|name| name.matches(' ').count() > 2);
    if spaces && (setting != PathContext::Quoted || path.contains(" -") || sentence()) {
        return PathLikelihood::No;
    }
    let ending = extension(name);
    let known = ending.is_some_and(is_known_extension) && !is_product_name(name);
    let stem = name.split('.').next().unwrap_or_default();
    let listed = is_listed(EXTENSIONLESS_FILES, stem)
        && (name.starts_with(char::is_uppercase) || spoken_of || foldered);
    let dotted = name.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let host = ending.is_some_and(is_host_suffix);
    if spaces && !(known && (foldered || spoken_of || !name.contains(' '))) {
        return PathLikelihood::No;
    }
    match (spoken_of, foldered) {
        (true, true) => PathLikelihood::Yes,
        (true, false) if known || listed || dotted => PathLikelihood::Yes,
        (true, false) if ending.is_some() && !host => PathLikelihood::Yes,
        (false, true) if known || listed && setting != PathContext::Prose => PathLikelihood::Yes,
        (false, true) if setting == PathContext::Quoted && !host => PathLikelihood::Maybe,
        (false, false) if setting != PathContext::Prose && known => PathLikelihood::Yes,
        (false, false) if setting != PathContext::Prose && listed => PathLikelihood::Maybe,
        (false, false) if setting == PathContext::Quoted && (dotted || folder) => {
            PathLikelihood::Maybe
        }
        _ => PathLikelihood::No,
    }
}

/// File extension, if it has a plausible form.
pub(super) fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.')?;
    let fits = (1..=12).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte));
    (fits && !stem.is_empty()).then_some(ending)
}

/// Whether this is a known file extension.
pub(super) fn is_known_extension(ending: &str) -> bool {
    is_listed(FILE_EXTENSIONS, ending)
}

/// Whether this is a host suffix.
pub(super) fn is_host_suffix(ending: &str) -> bool {
    is_listed(HOST_SUFFIXES, ending)
}

/// Whether a word is in a space-separated list, ignoring case.
fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other.eq_ignore_ascii_case(word))
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
    let drive = bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && &bytes[1..3] == b":/";
    if drive { &text[2..] } else { text }
}
