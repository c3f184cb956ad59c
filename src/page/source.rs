//! The source page: a file of the pinned tree, with an anchor for every line.
use super::html::{Html, MAX_HASH_CHARS, html, truncate};
use super::layout::{AssetUrls, PageContent, render_page};

/// Maximum number of lines shown. In longer files, a window around the requested line.
const MAX_LINES: usize = 5_000;
/// Maximum length of a line, in characters.
const MAX_LINE_CHARS: usize = 2_000;
/// Characters shown of a path.
const MAX_PATH_CHARS: usize = 300;

/// A file of the pinned tree.
pub struct SourceFile<'a> {
    /// URL of the debate.
    pub debate_url: &'a str,
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
pub fn render_source_page(source: &SourceFile<'_>, assets: AssetUrls<'_>) -> Html {
    let SourceFile { debate_url, path, pin, text, line } = source;
    let total = text.lines().count();
    let first = match line {
        Some(line) if total > MAX_LINES => {
            line.saturating_sub(MAX_LINES / 2).min(total - MAX_LINES)
        }
        _ => 0,
    };
    let rows: Html = text
        .lines()
        .enumerate()
        .skip(first)
        .take(MAX_LINES)
        .map(|(index, line_text)| render_line(index + 1, line_text, *line == Some(index + 1)))
        .collect();
    let range_note = if total > MAX_LINES {
        html!("<p>Lines {} to {} of {}.</p>", first + 1, first + MAX_LINES, total)
    } else {
        Html::new()
    };
    let name = truncate(path, MAX_PATH_CHARS);
    let main = html!(
        "<h1><code>{}</code></h1><p>As it stood when the debate was opened, in tree \
         <code>{}</code>, without secrets. <a href=\"{}\">Back to the debate</a></p>{}\
         <div class=\"scroll\" tabindex=\"0\"><table class=\"code\"><caption class=\"unseen\">{}\
         </caption><tbody>{}</tbody></table></div>",
        name,
        truncate(pin, MAX_HASH_CHARS),
        *debate_url,
        range_note,
        name,
        rows
    );
    let title = format!("{name} · debate");
    render_page(
        &PageContent { kind: "source", title: &title, main_attributes: Html::new(), main },
        assets,
    )
}

fn render_line(number: usize, line_text: &str, highlight: bool) -> Html {
    let highlight = if highlight { html!(" class=\"meant\"") } else { Html::new() };
    html!(
        "<tr id=\"L{}\"{}><th scope=\"row\"><a href=\"#L{}\">{}</a></th><td><code>{}</code></td></tr>",
        number,
        highlight,
        number,
        number,
        truncate(line_text, MAX_LINE_CHARS)
    )
}
