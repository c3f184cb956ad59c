//! No result is longer than a model should read.

/// Tokens of a result, about.
pub const RESULT: usize = 1_900;
/// Tokens of a page.
pub const PAGE: usize = 1_600;

/// About how many tokens a text is: four characters of English, one of most other scripts.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + text.chars().filter(|c| !c.is_ascii()).count()
}

/// The first words of a text, on one line.
pub fn words(text: &str, most: usize) -> String {
    let mut words = text.split_whitespace();
    let mut kept: Vec<&str> = words.by_ref().take(most).collect();
    let mut cut = words.next().is_some();
    // Scripts without spaces, and whoever writes without them, are cut by characters.
    while kept.len() > 1 && tokens(&kept.join(" ")) > 2 * most {
        kept.pop();
        cut = true;
    }
    let text = kept.join(" ");
    let short = chars(&text, 2 * most);
    if short.len() < text.len() || cut { short + " …" } else { short }
}

/// The first characters of a text, as many as are about this many tokens.
fn chars(text: &str, most: usize) -> String {
    let mut left = 4 * most;
    let fits = |c: &char| {
        let cost = if c.is_ascii() { 1 } else { 4 };
        left.checked_sub(cost).is_some_and(|rest| {
            left = rest;
            true
        })
    };
    text.chars().take_while(fits).collect()
}

/// The beginning and the end of a text, with `between` in place of what does not fit.
pub fn ends(text: &str, most: usize, between: &str) -> String {
    if tokens(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(tokens(between) + 2);
    let start = chars(text, room * 2 / 5);
    let back: String = text.chars().rev().collect();
    let end: String = chars(&back, room - room * 2 / 5).chars().rev().collect();
    format!("{}\n\n{between}\n\n{}", start.trim_end(), end.trim_start())
}

/// A text in pages, none of them empty, cut between lines where that is possible.
pub fn pages(text: &str) -> Vec<String> {
    let mut pages = vec![String::new()];
    let mut size = 0;
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while !rest.is_empty() {
            let part = chars(rest, PAGE);
            let cost = tokens(&part);
            if size > 0 && size + cost > PAGE {
                pages.push(String::new());
                size = 0;
            }
            rest = &rest[part.len()..];
            size += cost;
            if let Some(page) = pages.last_mut() {
                page.push_str(&part);
            }
        }
    }
    pages
}
