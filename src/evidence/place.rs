//! Parser for a path with optional lines: `src/a.rs:10-20`, `src/a.rs#L10`, `src/a.rs(10)`. Rejects
//! look-alikes: times, versions, host names with a port, module paths. Entry point:
//! `parse_location`.
use super::{Place, Words};

/// Maximum length of a path in bytes.
const LONGEST: usize = 1_000;

/// Extensions that make a name without a folder a file, and not a member access.
const ENDINGS: &str = "adoc asm astro awk bash bat bazel bzl c cabal cc cfg cjs clj cljs cmake cmd conf cpp cs \
    csproj css csv cts cu cue cxx dart dhall diff ebuild el elm env erb erl ex exs fish fs \
    fsx gd gleam go gql gradle graphql groovy h haml hbs hcl hh hpp hrl hs htm html hxx ini \
    ipynb java jl js json json5 jsonc jsonl jsx kt kts less lhs lisp lock lua m md mdx mjs \
    mk ml mli mm mod mts nim nix nu odin pas patch php pl plist pm po prisma properties \
    proto ps1 pug purs py pyi pyx qml r rake rb re rkt rs rst sass sbt scala scm scss \
    service sh snap sol sql sum sv svelte svg swift tcl tex tf tfvars thrift toml ts tsv tsx \
    txt vala vb vhd vim vue wat wgsl xhtml xml xsd yaml yml zig zsh";

/// File names without an extension.
const NAMES: &str = "authors brewfile build caddyfile changelog changes codeowners containerfile contributing \
    copying dockerfile gemfile gnumakefile jenkinsfile justfile kconfig licence license \
    makefile news notice owners podfile procfile rakefile readme todo vagrantfile version \
    workspace";

/// Top-level domains and other host suffixes. Not used as file extensions.
const HOSTS: &str = "ai app biz cloud co com corp de dev edu eu example gov home info internal invalid io lan \
    local localdomain localhost net org svc test uk us";

/// Product names that look like files.
const PRODUCTS: &str = "node.js vue.js next.js nuxt.js react.js express.js three.js d3.js angular.js ember.js \
    backbone.js alpine.js chart.js moment.js discord.js p5.js socket.io asp.net deno.js \
    bun.js require.js tokio.rs docs.rs serde.rs actix.rs diesel.rs";

/// Where a candidate was found, which decides how strict the parser is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// A word of prose: needs a line number or a folder.
    Prose,
    /// A word of an evidence entry: needs no folder.
    Offered,
    /// In backticks or quotation marks: anything that can be a path.
    Marked,
}

/// Parses a complete candidate as a location.
pub(super) fn whole(text: &str, setting: Setting) -> Option<Place> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST + 50 || text.contains("://") {
        return None;
    }
    let unix = text.replace('\\', "/");
    let bare = without_drive(&unix);
    let (path, tail) = cut(bare);
    let mut place =
        Place { path: path.trim_end().to_owned(), lines: None, words: None, sure: true };
    match tail {
        Tail::None => {}
        Tail::Lines(lines) => place.lines = Some(lines),
        Tail::Name(name) => place.words = Some(Words::Name(name.to_owned())),
        Tail::Other => return None,
    }
    let spoken_of = place.lines.is_some() || place.words.is_some();
    place.sure = match likely(&place.path, spoken_of, setting) {
        Likely::No => return None,
        Likely::Perhaps => false,
        Likely::Yes => true,
    };
    Some(place)
}

/// Parses line numbers right after a path: ` lines 10-20`, ` (L10)`, `:10`, `#L10`. Returns them
/// and the number of bytes used.
pub(super) fn lines_after(text: &str) -> Option<((u32, u32), usize)> {
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
    let (lines, after) = numbers(rest.strip_prefix('L').unwrap_or(rest))?;
    let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let closing = after.len() - after.trim_start_matches([')', ']']).len();
    let opened = text[..text.len() - rest.len()].contains(['(', '[']);
    let used = text.len() - after.len() + if opened { closing } else { 0 };
    (named && ends).then_some((lines, used))
}

/// Parses line numbers right before a path: `line 10 of `.
pub(super) fn lines_before(text: &str) -> Option<(u32, u32)> {
    let end = text.char_indices().rev().nth(40).map_or(0, |(at, _)| at);
    let lower = text[end..].to_lowercase();
    let lower = lower.trim_end();
    let lower = ["of", "in"].iter().find_map(|word| lower.strip_suffix(word))?.trim_end();
    let at = lower.rfind("line")?;
    let rest = lower[at + 4..].trim_start_matches('s').trim_start();
    let (lines, after) = numbers(rest)?;
    after.trim().is_empty().then_some(lines)
}

/// The location in a line of grep output: `a.rs:10` of `a.rs:10:let`.
pub(super) fn before_code(word: &str) -> Option<&str> {
    let (path, rest) = word.split_once(':')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let follows = digits > 0 && rest[digits..].starts_with(':');
    follows.then(|| &word[..path.len() + 1 + digits])
}

/// Suffix after a path.
enum Tail<'a> {
    None,
    Lines((u32, u32)),
    Name(&'a str),
    Other,
}

/// Splits a candidate into path and suffix.
fn cut(text: &str) -> (&str, Tail<'_>) {
    if let Some(at) = text.find("#L") {
        let lines = numbers(&text[at + 2..]).filter(|(_, rest)| is_column(rest));
        return (&text[..at], lines.map_or(Tail::Other, |(lines, _)| Tail::Lines(lines)));
    }
    if let Some((path, rest)) = text.split_once(':') {
        let double = rest.strip_prefix(':');
        let rest = double.unwrap_or(rest).trim();
        if rest.is_empty() {
            return (path, Tail::None);
        }
        let digits = rest.strip_prefix(['L', 'l']).unwrap_or(rest);
        if double.is_none()
            && let Some((lines, rest)) = numbers(digits)
        {
            return (path, if is_column(rest) { Tail::Lines(lines) } else { Tail::Other });
        }
        let name = rest.strip_suffix("()").unwrap_or(rest);
        let is_name = name.split("::").all(identifier) && ending(path).is_some_and(known_ending);
        return (path, if is_name { Tail::Name(name) } else { Tail::Other });
    }
    if let Some(inner) = text.strip_suffix(')')
        && let Some((path, digits)) = inner.rsplit_once('(')
        && let Some((lines, rest)) = numbers(digits)
    {
        let file = path.contains('/') || ending(path).is_some_and(known_ending);
        return (path, if file && is_column(rest) { Tail::Lines(lines) } else { Tail::Other });
    }
    (text, Tail::None)
}

/// Whether the rest after the line numbers is a column, or empty.
fn is_column(rest: &str) -> bool {
    let rest = rest.strip_prefix([':', ',', 'C']).unwrap_or(rest);
    rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b',' | b' '))
}

/// Parses `10`, `10-20`, `10–L20` or `10 to 20`. Returns first and last line, and the rest.
fn numbers(text: &str) -> Option<((u32, u32), &str)> {
    let (first, rest) = number(text)?;
    let rest = without_column(rest);
    let spaced = rest.trim_start();
    let joints = ["..=", "..", "-", "–", "—", "‑", "−", "~", "to ", "and ", "through "];
    let second = joints.iter().find_map(|joint| {
        let rest = spaced.strip_prefix(joint)?.trim_start();
        number(rest.strip_prefix(['L', 'l']).unwrap_or(rest))
    });
    match second {
        Some((second, rest)) => {
            Some(((first.min(second), first.max(second)), without_column(rest)))
        }
        None => Some(((first, first), rest)),
    }
}

/// Strips the column of `10C5`.
fn without_column(text: &str) -> &str {
    text.strip_prefix('C').and_then(number).map_or(text, |(_, rest)| rest)
}

fn number(text: &str) -> Option<(u32, &str)> {
    let many = text.bytes().take_while(u8::is_ascii_digit).count();
    // A longer number is not a line number.
    (1..=9).contains(&many).then(|| (text[..many].parse().unwrap_or(0), &text[many..]))
}

enum Likely {
    No,
    Perhaps,
    Yes,
}

/// Rates whether a text is a path. `spoken_of` means that lines or a symbol follow it.
fn likely(path: &str, spoken_of: bool, setting: Setting) -> Likely {
    let banned = |c: char| "<>|\"*?={}`;,!^%\t\n".contains(c) || c.is_control();
    if path.is_empty() || path.len() > LONGEST || path.contains(banned) || path.contains("//") {
        return Likely::No;
    }
    let folder = path.ends_with('/');
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let foldered = path.trim_start_matches(['.', '~']).trim_end_matches('/').contains('/');
    let email = path.contains('@') && !foldered;
    if name.is_empty() || email || !name.chars().any(char::is_alphanumeric) {
        return Likely::No;
    }
    // A command with a path in it is not a path.
    let spaces = path.contains(' ');
    let sentence = || path.split('/').any(|name| name.matches(' ').count() > 2);
    if spaces && (setting != Setting::Marked || path.contains(" -") || sentence()) {
        return Likely::No;
    }
    let ending = ending(name);
    let known = ending.is_some_and(known_ending) && !product(name);
    let stem = name.split('.').next().unwrap_or_default();
    let listed =
        listed(NAMES, stem) && (name.starts_with(char::is_uppercase) || spoken_of || foldered);
    let dotted = name.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let host = ending.is_some_and(host_ending);
    if spaces && !(known && (foldered || spoken_of || !name.contains(' '))) {
        return Likely::No;
    }
    match (spoken_of, foldered) {
        (true, true) => Likely::Yes,
        (true, false) if known || listed || dotted => Likely::Yes,
        (true, false) if ending.is_some() && !host => Likely::Yes,
        (false, true) if known || listed && setting != Setting::Prose => Likely::Yes,
        (false, true) if setting == Setting::Marked && !host => Likely::Perhaps,
        (false, false) if setting != Setting::Prose && known => Likely::Yes,
        (false, false) if setting != Setting::Prose && listed => Likely::Perhaps,
        (false, false) if setting == Setting::Marked && (dotted || folder) => Likely::Perhaps,
        _ => Likely::No,
    }
}

/// File extension, if it has a plausible form.
pub(super) fn ending(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.')?;
    let fits = (1..=12).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte));
    (fits && !stem.is_empty()).then_some(ending)
}

/// Whether this is a known file extension.
pub(super) fn known_ending(ending: &str) -> bool {
    listed(ENDINGS, ending)
}

/// Whether this is a host suffix.
pub(super) fn host_ending(ending: &str) -> bool {
    listed(HOSTS, ending)
}

/// Whether a word is in a space-separated list, ignoring case.
fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other.eq_ignore_ascii_case(word))
}

/// Whether a name is a product and not a file.
pub(super) fn product(name: &str) -> bool {
    listed(PRODUCTS, name)
}

/// Whether a text is one identifier.
pub(super) fn identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Strips a Windows drive letter. No other colon is valid before the line numbers.
fn without_drive(text: &str) -> &str {
    let bytes = text.as_bytes();
    let drive = bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && &bytes[1..3] == b":/";
    if drive { &text[2..] } else { text }
}
