//! Parser for one evidence entry of a claim. It usually starts with a location, followed by the
//! quoted text with or without quotation marks. It can also be a commit, a URL, figures or a
//! document.
use super::location::{self, PathContext};
use super::{
    CitedLocation, CitedTarget, CitedText, UnverifiableKind, markdown, prose_line, symbol_names,
    unverifiable,
};

/// Words allowed before the leading location of an entry.
const LEAD_WORDS: &[&str] = &["in", "see", "at", "file", "from", "source", "cf"];

/// Parses an entry without fences into targets, each with its raw text.
pub(super) fn parse_entry(entry: &str) -> Vec<(CitedTarget, String)> {
    let entry = entry.trim();
    let mut targets = match leading_location(entry) {
        Some(location) => vec![(CitedTarget::Location(location), entry.to_owned())],
        None => targets_on_lines(entry),
    };
    if unverifiable::is_benchmark(entry) {
        targets.push((benchmark_target(entry, has_printed_output(entry)), entry.to_owned()));
    }
    if targets.is_empty() {
        targets.push((fallback_target(entry), entry.to_owned()));
    }
    targets
}

/// Parses an entry that starts with one of the known paths, which may contain spaces, commas or
/// colons. Each path comes with its escaped spelling.
pub(super) fn parse_known_path(entry: &str, paths: &[(String, &str)]) -> Option<CitedLocation> {
    let bare = entry.trim().trim_start_matches('`');
    let after = |path: &str| {
        let rest = bare.strip_prefix(path)?;
        rest.chars().next().is_none_or(|c| " \t`:#(".contains(c)).then_some(rest)
    };
    let found = paths.iter().filter_map(|(escaped, path)| {
        let rest = after(path).or_else(|| after(escaped))?;
        Some((rest, path))
    });
    let (rest, path) = found.min_by_key(|(rest, _)| rest.len())?;
    let (lines, used) =
        location::parse_lines_after(rest).map_or((None, 0), |(lines, used)| (Some(lines), used));
    let (rest, _) = strip_separator(rest[used..].trim_start_matches(['`', ')', ']', '*', ' ']));
    let text = quoted_text(rest).map(|quote| CitedText::Quote(quote.to_owned()));
    Some(CitedLocation { path: (*path).to_owned(), lines, text, certain: true })
}

/// Target for benchmark figures, with or without printed output.
pub(super) fn benchmark_target(text: &str, has_output: bool) -> CitedTarget {
    let lacks_output = unverifiable::claims_measurement(text) && !has_output;
    CitedTarget::Unverifiable(if lacks_output {
        UnverifiableKind::BenchmarkWithoutOutput
    } else {
        UnverifiableKind::Benchmark
    })
}

/// Parses an entry that is one location followed by a quote.
fn leading_location(entry: &str) -> Option<CitedLocation> {
    let first = entry.lines().next()?;
    let targets = prose_line::parse_line(first, PathContext::Evidence);
    let location_count =
        targets.iter().filter(|(target, _)| matches!(target, CitedTarget::Location(_))).count();
    let (CitedTarget::Location(location), range) = targets.into_iter().next()? else { return None };
    let lead = first[..range.start].trim_matches(|c: char| !c.is_alphanumeric());
    if location_count != 1 || !(lead.is_empty() || LEAD_WORDS.contains(&&*lead.to_lowercase())) {
        return None;
    }
    // The quote can come before the path.
    let head = first[range.start..].trim_start_matches(['`', '"', '“', '‘', '「', '«']);
    if matches!(location.text, Some(CitedText::Quote(_)))
        && !head.starts_with(location.path.as_str())
    {
        let is_whole_entry =
            entry.len() == range.end || entry[range.end..].trim_matches([')', '.', ' ']).is_empty();
        return is_whole_entry.then_some(location);
    }
    // Only the location: the quote parsed along with it may be incomplete.
    let length = location_len(&first[range.start..])?;
    let rest = entry[range.start + length..].trim_start_matches([')', ']', '*', ' ']);
    let (rest, may_be_unquoted) = strip_separator(rest);
    let quote = quoted_text(rest).or_else(|| {
        let is_code = may_be_unquoted && is_code_like(rest);
        is_code.then_some(rest.trim())
    });
    let text = match quote {
        Some(quote)
            if matches!(location.text, Some(CitedText::Symbol(_))) && !quote.contains(' ') =>
        {
            location.text.clone()
        }
        Some(quote) => Some(CitedText::Quote(quote.to_owned())),
        None if rest.trim().is_empty() => location.text.clone(),
        None => return None,
    };
    let certain = location.certain || text.is_some();
    Some(CitedLocation { text, certain, ..location })
}

/// Length in bytes of the leading location with its line numbers, without a quote.
fn location_len(text: &str) -> Option<usize> {
    let is_quoted = text.starts_with(['`', '"', '“']);
    let end = if is_quoted {
        let inner = text.char_indices().skip(1);
        inner.filter(|(_, c)| "`\"”".contains(*c)).map(|(at, c)| at + c.len_utf8()).next()?
    } else {
        let word = text.split(char::is_whitespace).next().unwrap_or(text);
        let word = location::location_before_code(word).unwrap_or(word);
        word.trim_end_matches([':', ',', ';', '.', ')', '*']).len()
    };
    let lines_len = location::parse_lines_after(&text[end..]).map_or(0, |(_, used)| used);
    Some(end + lines_len)
}

/// Strips the separator after a location. The flag tells whether unquoted code may follow.
fn strip_separator(rest: &str) -> (&str, bool) {
    let after_dash =
        ["–", "—", "- ", "-> ", "→", "=> "].iter().find_map(|dash| rest.strip_prefix(dash));
    if let Some(rest) = after_dash {
        return (rest.trim_start(), false);
    }
    let after = rest.trim_start_matches([':', '|', '：', '\t', ' ']);
    (after.trim_start_matches('\n'), true)
}

/// Text between quotation marks or backticks, if they enclose the whole text.
fn quoted_text(text: &str) -> Option<&str> {
    let text = text.trim().trim_end_matches(['.', ',']);
    let text =
        if text.ends_with(')') && text.starts_with('(') { &text[1..text.len() - 1] } else { text };
    let first = text.chars().next()?;
    let closing = if first == '`' {
        '`'
    } else {
        prose_line::QUOTE_MARKS.iter().find(|(open, _)| *open == first).map(|pair| pair.1)?
    };
    let inner = text.strip_prefix(first)?.strip_suffix(closing)?;
    // Two inline code spans are not one quote.
    let is_single = first != '`' || !inner.trim_matches('`').contains('`');
    let inner = inner.trim_matches('`').trim();
    (is_single && !inner.is_empty()).then_some(inner)
}

/// Whether unquoted text is code, and not a description of it.
fn is_code_like(text: &str) -> bool {
    let text = text.trim();
    let is_comment =
        ["//", "/*", "#", "--", "<!--", ";;"].iter().any(|mark| text.starts_with(mark));
    let is_code_char = |c: char| ";{}=()[]<>_|&#$@+\\".contains(c);
    let (mut plain_words, mut word_count) = (0, 0);
    for word in text.split_whitespace() {
        word_count += 1;
        let word = word.trim_end_matches([',', '.']);
        plain_words +=
            usize::from(word.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '’'));
    }
    // A sentence with inline code is a description.
    is_comment
        || text.contains(is_code_char) && !text.contains('`') && plain_words * 2 <= word_count + 1
}

/// Targets on all lines of an entry.
fn targets_on_lines(entry: &str) -> Vec<(CitedTarget, String)> {
    let mut targets = vec![];
    for line in entry.lines() {
        let found = prose_line::parse_line(line, PathContext::Evidence).into_iter();
        targets.extend(found.map(|(target, range)| (target, line[range].to_owned())));
    }
    targets
}

/// Target of an entry in which no other parser found one.
fn fallback_target(entry: &str) -> CitedTarget {
    let bare = markdown::strip_backticks(entry);
    if symbol_names::is_commit_id(bare) {
        return CitedTarget::Commit(bare.to_owned());
    }
    if let Some(location) = location::parse_location(bare, PathContext::Quoted) {
        return CitedTarget::Location(location);
    }
    match symbol_names::parse_symbol(bare) {
        Some(name) => CitedTarget::Symbol(name.to_owned()),
        None => CitedTarget::Unverifiable(UnverifiableKind::Document),
    }
}

/// Whether an entry shows the output of a measurement, quoted or on lines of its own.
fn has_printed_output(entry: &str) -> bool {
    let lower = entry.to_lowercase();
    let quoted = lower.split(['`', '"', '“', '”']).skip(1).step_by(2);
    quoted.chain(lower.lines().skip(1)).any(unverifiable::has_measurement)
}
