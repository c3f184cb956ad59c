//! Sanitizers for untrusted text from models and users. They keep it from injecting headings, table
//! cells, HTML tags or terminal escape sequences into our output.

/// Strips control characters except newline and tab, so that a text cannot send terminal escape
/// sequences. Also strips Unicode bidi controls, which reverse the order of what is read.
pub fn strip_control_chars(text: &str) -> String {
    let is_bidi_control = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_allowed =
        |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || is_bidi_control(*c));
    text.chars().filter(is_allowed).collect()
}

/// Collapses white space into single spaces and strips control characters.
pub fn one_line(text: &str) -> String {
    strip_control_chars(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Escapes a text for a cell of a Markdown table.
pub(super) fn escape_table_cell(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('|', "\\|")
}

/// Demotes headings and rules below our own heading levels, escapes HTML tags and closes open code
/// fences.
pub(super) fn demote_headings(text: &str) -> String {
    let text = strip_control_chars(text);
    let mut open_fence: Option<(char, usize)> = None;
    let mut lines: Vec<String> = vec![];
    for line in text.lines() {
        match (open_fence, parse_fence(line)) {
            (None, Some((mark, length, _))) => open_fence = Some((mark, length)),
            (Some((mark, length)), Some((closing_mark, closing_length, true)))
                if mark == closing_mark && closing_length >= length =>
            {
                open_fence = None;
            }
            (None, None) => {
                lines.push(demote_line(line));
                continue;
            }
            _ => {}
        }
        lines.push(line.to_owned());
    }
    lines.extend(open_fence.map(|(mark, length)| String::from(mark).repeat(length)));
    lines.join("\n")
}

/// Parses a code fence: marker, length, and whether it could close a block.
fn parse_fence(line: &str) -> Option<(char, usize, bool)> {
    // Markdown treats a line indented by four or more spaces as code, so it is no fence.
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = line.trim_start_matches(' ');
    if indent > 3 {
        return None;
    }
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let is_inline = mark == '`' && rest.contains('`');
    (length >= 3 && !is_inline).then(|| (mark, length, rest.trim().is_empty()))
}

fn demote_line(line: &str) -> String {
    let trimmed = line.trim();
    let is_underline = |mark: char| !trimmed.is_empty() && trimmed.chars().all(|c| c == mark);
    let level = trimmed.len() - trimmed.trim_start_matches('#').len();
    let has_title = trimmed[level..].is_empty() || trimmed[level..].starts_with([' ', '\t']);
    if (1..=6).contains(&level) && has_title {
        return format!("###{trimmed}");
    }
    // A setext underline would turn the line before it into a heading.
    if is_underline('=') || is_underline('-') {
        return "***".into();
    }
    escape_html_tags(line)
}

/// Escapes HTML tags outside of inline code.
fn escape_html_tags(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    let mut in_code = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        in_code ^= c == '`';
        let starts_tag =
            chars.peek().is_some_and(|c| c.is_ascii_alphabetic() || "!/?".contains(*c));
        if c == '<' && starts_tag && !in_code { escaped.push_str("&lt;") } else { escaped.push(c) }
    }
    escaped
}

#[cfg(test)]
mod tests;
