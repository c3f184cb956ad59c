//! The source page: a file of the pinned tree, with an anchor for every line.
use super::html::{Html, bounded, html};
use super::layout::{Assets, Page, layout};

/// Maximum number of lines shown. In longer files, a window around the requested line.
const LINES: usize = 5_000;
/// Maximum length of a line, in characters.
const WIDE: usize = 2_000;

/// A file of the pinned tree.
pub struct Source<'a> {
    /// URL of the debate.
    pub base: &'a str,
    /// Path relative to the repository root.
    pub path: &'a str,
    /// Hash of the pinned tree.
    pub pin: &'a str,
    /// Content of the file, with secrets redacted.
    pub text: &'a str,
    /// Line to highlight, counted from 1.
    pub line: Option<usize>,
}

/// Renders the page of a file.
pub fn source(source: &Source<'_>, assets: Assets<'_>) -> Html {
    let Source { base, path, pin, text, line } = source;
    let total = text.lines().count();
    let first = match line {
        Some(line) if total > LINES => line.saturating_sub(LINES / 2).min(total - LINES),
        _ => 0,
    };
    let rows: Html = text
        .lines()
        .enumerate()
        .skip(first)
        .take(LINES)
        .map(|(nth, words)| row(nth + 1, words, *line == Some(nth + 1)))
        .collect();
    let cut = if total > LINES {
        html!("<p>Lines {} to {} of {}.</p>", first + 1, first + LINES, total)
    } else {
        Html::new()
    };
    let name = bounded(path, 300);
    let main = html!(
        "<h1><code>{}</code></h1><p>As it stood when the debate was opened, in tree \
         <code>{}</code>, without secrets. <a href=\"{}\">Back to the debate</a></p>{}\
         <div class=\"scroll\" tabindex=\"0\"><table class=\"code\"><caption class=\"unseen\">{}\
         </caption><tbody>{}</tbody></table></div>",
        name,
        bounded(pin, 12),
        *base,
        cut,
        name,
        rows
    );
    let title = format!("{name} · debate");
    layout(&Page { kind: "source", title: &title, about: Html::new(), main }, assets)
}

fn row(nth: usize, words: &str, meant: bool) -> Html {
    let meant = if meant { html!(" class=\"meant\"") } else { Html::new() };
    html!(
        "<tr id=\"L{}\"{}><th scope=\"row\"><a href=\"#L{}\">{}</a></th><td><code>{}</code></td></tr>",
        nth,
        meant,
        nth,
        nth,
        bounded(words, WIDE)
    )
}
