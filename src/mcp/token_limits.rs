//! Token limits of tool results: token estimates, truncation and pagination of text.

/// Limit of a result, in estimated tokens.
pub const MAX_RESULT_TOKENS: usize = 1_900;
/// Limit of one page of `show_debate`, in estimated tokens.
pub const MAX_PAGE_TOKENS: usize = 1_600;

/// Estimates the tokens of a text: four ASCII characters per token, one character otherwise.
pub fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + text.chars().filter(|c| !c.is_ascii()).count()
}

/// The first `max_words` words of a text on one line, with `…` if it was truncated.
pub fn first_words(text: &str, max_words: usize) -> String {
    let mut words = text.split_whitespace();
    let mut selected: Vec<&str> = words.by_ref().take(max_words).collect();
    let mut is_truncated = words.next().is_some();
    // Text without spaces, as in Chinese or Japanese, is truncated by characters.
    while selected.len() > 1 && estimate_tokens(&selected.join(" ")) > 2 * max_words {
        selected.pop();
        is_truncated = true;
    }
    let text = selected.join(" ");
    let prefix = first_chars(&text, 2 * max_words);
    if prefix.len() < text.len() || is_truncated { prefix + " …" } else { prefix }
}

/// The longest prefix of a text that has at most `max_tokens` estimated tokens.
fn first_chars(text: &str, max_tokens: usize) -> String {
    let mut budget = 4 * max_tokens;
    let fits = |c: &char| {
        let cost = if c.is_ascii() { 1 } else { 4 };
        budget.checked_sub(cost).is_some_and(|rest| {
            budget = rest;
            true
        })
    };
    text.chars().take_while(fits).collect()
}

/// Truncates the middle of a text to at most `max_tokens` and puts `marker` in its place.
pub fn truncate_middle(text: &str, max_tokens: usize, marker: &str) -> String {
    if estimate_tokens(text) <= max_tokens {
        return text.to_owned();
    }
    let budget = max_tokens.saturating_sub(estimate_tokens(marker) + 2);
    let start = first_chars(text, budget * 2 / 5);
    let reversed: String = text.chars().rev().collect();
    let end: String = first_chars(&reversed, budget - budget * 2 / 5).chars().rev().collect();
    format!("{}\n\n{marker}\n\n{}", start.trim_end(), end.trim_start())
}

/// Splits a text into non-empty pages of at most `MAX_PAGE_TOKENS`, at line ends where possible.
pub fn paginate(text: &str) -> Vec<String> {
    let mut pages = vec![String::new()];
    let mut size = 0;
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while !rest.is_empty() {
            let part = first_chars(rest, MAX_PAGE_TOKENS);
            let cost = estimate_tokens(&part);
            if size > 0 && size + cost > MAX_PAGE_TOKENS {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_has_at_most_1600_tokens() {
        assert_eq!(MAX_PAGE_TOKENS, 1_600);
        let page_count = |chars| paginate(&"x".repeat(chars)).len();
        assert_eq!(page_count(4 * MAX_PAGE_TOKENS), 1);
        assert_eq!(page_count(4 * MAX_PAGE_TOKENS + 1), 2);
    }
}
