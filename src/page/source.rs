//! A file at the commit a debate is pinned to, with a name for every line.
use super::html::{Html, bounded, html};
use super::layout::{Assets, Page, layout};

/// Lines that are shown; around the one asked for, if there are more.
const LINES: usize = 5_000;
/// Characters of a line.
const WIDE: usize = 2_000;

/// A file, as it stood.
pub struct Source<'a> {
    /// The address of the debate.
    pub base: &'a str,
    /// From the root of the repository.
    pub path: &'a str,
    /// The tree.
    pub pin: &'a str,
    /// What stands in it, without secrets.
    pub text: &'a str,
    /// The line it is about.
    pub line: Option<usize>,
}

/// The page of a file.
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
