//! Parser for one evidence entry of a claim. It usually starts with a location, followed by the
//! quoted text with or without quotation marks. It can also be a commit, a URL, figures or a
//! document.
use super::place::{self, Setting};
use super::{Cited, Place, Stated, Words, line, markdown, names, stated};

/// Words allowed before the leading location of an entry.
const LEADS: &[&str] = &["in", "see", "at", "file", "from", "source", "cf"];

/// Parses an entry without fences into targets, each with its raw text.
pub(super) fn cited(entry: &str) -> Vec<(Cited, String)> {
    let entry = entry.trim();
    let mut cited = match leading(entry) {
        Some(place) => vec![(Cited::Place(place), entry.to_owned())],
        None => scattered(entry),
    };
    if stated::benchmark(entry) {
        cited.push((figures(entry, printed(entry)), entry.to_owned()));
    }
    if cited.is_empty() {
        cited.push((alone(entry), entry.to_owned()));
    }
    cited
}

/// Parses an entry that starts with one of the known paths, which may contain spaces, commas or
/// colons. Each path comes with its escaped spelling.
pub(super) fn known(entry: &str, paths: &[(String, &str)]) -> Option<Place> {
    let bare = entry.trim().trim_start_matches('`');
    let after = |path: &str| {
        let rest = bare.strip_prefix(path)?;
        rest.chars().next().is_none_or(|c| " \t`:#(".contains(c)).then_some(rest)
    };
    let found = paths.iter().filter_map(|(shown, path)| {
        let rest = after(path).or_else(|| after(shown))?;
        Some((rest, path))
    });
    let (rest, path) = found.min_by_key(|(rest, _)| rest.len())?;
    let (lines, used) =
        place::lines_after(rest).map_or((None, 0), |(lines, used)| (Some(lines), used));
    let (rest, _) = joint(rest[used..].trim_start_matches(['`', ')', ']', '*', ' ']));
    let words = quoted(rest).map(|quote| Words::Quote(quote.to_owned()));
    Some(Place { path: (*path).to_owned(), lines, words, sure: true })
}

/// Target for benchmark figures, with or without printed output.
pub(super) fn figures(text: &str, printed: bool) -> Cited {
    let bare = stated::ran(text) && !printed;
    Cited::Stated(if bare { Stated::BareBenchmark } else { Stated::Benchmark })
}

/// Parses an entry that is one location followed by a quote.
fn leading(entry: &str) -> Option<Place> {
    let first = entry.lines().next()?;
    let found = line::cited(first, Setting::Offered);
    let many = found.iter().filter(|(cited, _)| matches!(cited, Cited::Place(_))).count();
    let (Cited::Place(place), range) = found.into_iter().next()? else { return None };
    let lead = first[..range.start].trim_matches(|c: char| !c.is_alphanumeric());
    if many != 1 || !(lead.is_empty() || LEADS.contains(&&*lead.to_lowercase())) {
        return None;
    }
    // The quote can come before the path.
    let head = first[range.start..].trim_start_matches(['`', '"', '“', '‘', '「', '«']);
    if matches!(place.words, Some(Words::Quote(_))) && !head.starts_with(place.path.as_str()) {
        let whole =
            entry.len() == range.end || entry[range.end..].trim_matches([')', '.', ' ']).is_empty();
        return whole.then_some(place);
    }
    // Only the location: the quote parsed along with it may be incomplete.
    let bare = bare_place(&first[range.start..])?;
    let rest = entry[range.start + bare..].trim_start_matches([')', ']', '*', ' ']);
    let (rest, joint) = joint(rest);
    let quote = quoted(rest).or_else(|| {
        let unmarked = joint && code_like(rest);
        unmarked.then_some(rest.trim())
    });
    let words = match quote {
        Some(quote) if matches!(place.words, Some(Words::Name(_))) && !quote.contains(' ') => {
            place.words.clone()
        }
        Some(quote) => Some(Words::Quote(quote.to_owned())),
        None if rest.trim().is_empty() => place.words.clone(),
        None => return None,
    };
    let sure = place.sure || words.is_some();
    Some(Place { words, sure, ..place })
}

/// Length in bytes of the leading location with its line numbers, without a quote.
fn bare_place(text: &str) -> Option<usize> {
    let marked = text.starts_with(['`', '"', '“']);
    let end = if marked {
        let inner = text.char_indices().skip(1);
        inner.filter(|(_, c)| "`\"”".contains(*c)).map(|(at, c)| at + c.len_utf8()).next()?
    } else {
        let word = text.split(char::is_whitespace).next().unwrap_or(text);
        let word = place::before_code(word).unwrap_or(word);
        word.trim_end_matches([':', ',', ';', '.', ')', '*']).len()
    };
    let lines = place::lines_after(&text[end..]).map_or(0, |(_, used)| used);
    Some(end + lines)
}

/// Strips the separator after a location. The flag tells whether unquoted code may follow.
fn joint(rest: &str) -> (&str, bool) {
    let dashed =
        ["–", "—", "- ", "-> ", "→", "=> "].iter().find_map(|dash| rest.strip_prefix(dash));
    if let Some(rest) = dashed {
        return (rest.trim_start(), false);
    }
    let after = rest.trim_start_matches([':', '|', '：', '\t', ' ']);
    (after.trim_start_matches('\n'), true)
}

/// Text between quotation marks or backticks, if they enclose the whole text.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim().trim_end_matches(['.', ',']);
    let text =
        if text.ends_with(')') && text.starts_with('(') { &text[1..text.len() - 1] } else { text };
    let first = text.chars().next()?;
    let closing = if first == '`' {
        '`'
    } else {
        line::MARKS.iter().find(|(open, _)| *open == first).map(|pair| pair.1)?
    };
    let inner = text.strip_prefix(first)?.strip_suffix(closing)?;
    // Two inline code spans are not one quote.
    let one = first != '`' || !inner.trim_matches('`').contains('`');
    let inner = inner.trim_matches('`').trim();
    (one && !inner.is_empty()).then_some(inner)
}

/// Whether unquoted text is code, and not a description of it.
fn code_like(text: &str) -> bool {
    let text = text.trim();
    let comment = ["//", "/*", "#", "--", "<!--", ";;"].iter().any(|mark| text.starts_with(mark));
    let sign = |c: char| ";{}=()[]<>_|&#$@+\\".contains(c);
    let (mut plain, mut all) = (0, 0);
    for word in text.split_whitespace() {
        all += 1;
        let word = word.trim_end_matches([',', '.']);
        plain += usize::from(word.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '’'));
    }
    // A sentence with inline code is a description.
    comment || text.contains(sign) && !text.contains('`') && plain * 2 <= all + 1
}

/// Targets on all lines of an entry.
fn scattered(entry: &str) -> Vec<(Cited, String)> {
    let mut cited = vec![];
    for line in entry.lines() {
        let found = line::cited(line, Setting::Offered).into_iter();
        cited.extend(found.map(|(cited, range)| (cited, line[range].to_owned())));
    }
    cited
}

/// Target of an entry in which no other parser found one.
fn alone(entry: &str) -> Cited {
    let bare = markdown::inner(entry);
    if names::commit(bare) {
        return Cited::Commit(bare.to_owned());
    }
    if let Some(place) = place::whole(bare, Setting::Marked) {
        return Cited::Place(place);
    }
    match names::name(bare) {
        Some(name) => Cited::Name(name.to_owned()),
        None => Cited::Stated(Stated::Document),
    }
}

/// Whether an entry shows the output of a measurement, quoted or on lines of its own.
fn printed(entry: &str) -> bool {
    let lower = entry.to_lowercase();
    let marked = lower.split(['`', '"', '“', '”']).skip(1).step_by(2);
    marked.chain(lower.lines().skip(1)).any(stated::measured)
}
