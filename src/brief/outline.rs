//! Outline of a file by line-based heuristics, without a parser: headings of documents, signatures
//! of code, and guards (checks) among removed lines.
use super::{file_kind, text_format};

/// Keywords that start a definition.
const DEFINITION_KEYWORDS: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "trait",
    "impl",
    "mod",
    "type",
    "const",
    "static",
    "union",
    "macro_rules!",
    "class",
    "def",
    "func",
    "function",
    "interface",
    "namespace",
    "module",
    "protocol",
    "extension",
    "record",
    "object",
    "defmodule",
    "defp",
    "package",
    "typedef",
    "#define",
    "procedure",
    "sub",
    "fun",
    "val",
];

/// Modifiers before such a keyword.
const MODIFIERS: &[&str] = &[
    "pub",
    "pub(crate)",
    "pub(super)",
    "async",
    "unsafe",
    "extern",
    "\"C\"",
    "export",
    "default",
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "abstract",
    "final",
    "override",
    "virtual",
    "inline",
    "constexpr",
    "open",
    "sealed",
    "data",
    "suspend",
    "declare",
    "const",
    "readonly",
    "partial",
    "template",
    "@staticmethod",
    "local",
];

/// Words of lines that check a condition or handle an error.
const GUARD_WORDS: &[&str] = &[
    "if",
    "assert",
    "assert!",
    "debug_assert",
    "check",
    "require",
    "ensure",
    "unwrap_or",
    "guard",
    "unless",
    "validate",
    "verify",
    "throw",
    "raise",
    "catch",
    "except",
    "rescue",
];

/// Whether a line starts a definition, or a method in a language with braces.
pub(super) fn is_signature(line: &str) -> bool {
    defined_name(line).is_some() || is_method(line)
}

/// Name that a line defines.
pub(super) fn defined_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let mut word = words.next()?;
    loop {
        // `const fn` is a function, `const X` a constant.
        let next = words.clone().next();
        if DEFINITION_KEYWORDS.contains(&word)
            && !next.is_some_and(|next| DEFINITION_KEYWORDS.contains(&next))
        {
            break;
        }
        if !MODIFIERS.contains(&word) && !DEFINITION_KEYWORDS.contains(&word) {
            return None;
        }
        word = words.next()?;
    }
    let rest = line.split_once(word)?.1.trim_start();
    let rest = if word == "impl" { rest.rsplit(" for ").next().unwrap_or(rest) } else { rest };
    // A Go method has its receiver first.
    let rest = if word == "func" && rest.starts_with('(') {
        rest.split_once(')')?.1.trim_start()
    } else {
        rest
    };
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

/// Whether a line has the form `name(…) {` and is no statement.
fn is_method(line: &str) -> bool {
    let line = line.trim();
    let Some((head, _)) = line.split_once('(') else { return false };
    let name = head.rsplit([' ', '*', '&']).next().unwrap_or_default();
    let statement_keywords =
        ["if", "for", "while", "switch", "match", "return", "catch", "else", "}"];
    line.ends_with('{')
        && line.contains(')')
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '~'))
        && !statement_keywords
            .iter()
            .any(|word| line.split_whitespace().next() == Some(word) || name == *word)
        && !head.contains(['=', '.'])
}

/// Whether a line checks a condition or handles an error.
pub(super) fn is_guard(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '!'));
    let mut words = words.filter(|word| !word.is_empty());
    words.any(|word| {
        GUARD_WORDS.contains(&word) || word.starts_with("unwrap_or") || word.starts_with("assert")
    }) || line.contains("return Err")
}

/// Headings or signatures of a file, with line numbers.
pub(super) fn build_outline(path: &str, text: &str) -> Vec<(usize, String)> {
    let found: Vec<(usize, String)> = if file_kind::is_document(path) {
        find_headings(text)
    } else {
        let lines = text.lines().zip(1..).filter(|(line, _)| is_signature(line));
        lines
            .map(|(line, line_number)| {
                (line_number, text_format::truncate_line(line.trim_end()).into_owned())
            })
            .collect()
    };
    found
}

/// Headings of Markdown, `AsciiDoc` and `reStructuredText`, outside of code fences.
fn find_headings(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut fenced, mut previous) = (vec![], false, "");
    for (line, line_number) in text.lines().zip(1..) {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        }
        let level = line.chars().take_while(|c| matches!(c, '#' | '=')).count();
        let is_heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
        let is_underline = line.len() >= 3
            && ['=', '-', '~', '^'].iter().any(|c| line.chars().all(|own| own == *c));
        if !fenced && is_heading {
            found.push((line_number, text_format::truncate_line(line).into_owned()));
        } else if !fenced
            && is_underline
            && !previous.trim().is_empty()
            && line.len() + 2 >= previous.trim().len()
        {
            found.push((line_number - 1, text_format::truncate_line(previous).into_owned()));
        }
        previous = line;
    }
    found
}

/// Lines above that are searched for the enclosing definition.
const MAX_LINES_ABOVE: usize = 400;

/// Signature of the definition that contains a line: the nearest one above with less indentation.
pub(super) fn enclosing_definition<'a>(lines: &[&'a str], line_number: usize) -> Option<&'a str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let last = line_number.min(lines.len());
    let own_indent =
        lines.get(last.saturating_sub(1)..)?.iter().find(|line| !line.trim().is_empty());
    let mut own_indent = own_indent.map_or(usize::MAX, |line| indent(line));
    let above = lines[..last.saturating_sub(1)].iter().rev().take(MAX_LINES_ABOVE);
    for line in above.filter(|line| !line.trim().is_empty()) {
        if indent(line) < own_indent {
            if is_signature(line) {
                return Some(line.trim());
            }
            own_indent = indent(line);
        }
    }
    None
}

/// Last line of a definition, by indentation, at most `max_lines` lines.
pub(super) fn definition_end(lines: &[&str], first: usize, max_lines: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(own_indent) = lines.get(first.saturating_sub(1)).map(|line| indent(line)) else {
        return first;
    };
    let mut last = first;
    for (line, line_number) in lines.iter().zip(1..).skip(first).take(max_lines.saturating_sub(1)) {
        let closes = line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end";
        if !line.trim().is_empty() && indent(line) <= own_indent {
            if closes && indent(line) == own_indent {
                last = line_number;
            }
            // A bracket that closes the parameter list can open the body.
            let opens = closes && line.trim_end().ends_with(['{', ':']);
            if !opens && !line.trim_start().starts_with(['{', ')']) {
                break;
            }
        }
        last = line_number;
    }
    while last > first && lines.get(last - 1).is_some_and(|line| line.trim().is_empty()) {
        last -= 1;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enclosing_definition_is_searched_in_the_lines_above() {
        assert_eq!(MAX_LINES_ABOVE, 400);
        let mut lines = vec!["fn long() {"];
        lines.resize(MAX_LINES_ABOVE + 2, "    work();");
        assert_eq!(enclosing_definition(&lines, MAX_LINES_ABOVE + 1), Some("fn long() {"));
        assert_eq!(enclosing_definition(&lines, MAX_LINES_ABOVE + 2), None);
    }
}
