//! Somebody else's text inside ours: it must not pass for our headings, nor do things to a terminal.

/// What a terminal and a reader may be sent: no control characters but line ends and tabs, so that
/// nothing can move the cursor or change the title, and none that reverse what is read.
pub fn printable(text: &str) -> String {
    let turning = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let fits = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || turning(*c));
    text.chars().filter(fits).collect()
}

/// On one line.
pub fn one_line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// With its headings and rules made smaller than any of ours, and its fences closed.
pub fn demoted(text: &str) -> String {
    let text = printable(text);
    let mut fenced = false;
    let line = |line: &str| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        let inside = fenced || fence;
        match line {
            heading if !inside && heading.trim_start().starts_with('#') => {
                format!("###{}", heading.trim_start())
            }
            rule if !inside && rule.trim() == "---" => "***".into(),
            other => other.to_owned(),
        }
    };
    let mut text = text.lines().map(line).collect::<Vec<_>>().join("\n");
    if fenced {
        text.push_str("\n```");
    }
    text
}
