//! The source page: a file of the pinned tree, with an anchor for every line.
use super::html::{Html, MAX_HASH_CHARS, truncate};
use super::layout::{AssetUrls, PageContent, render_page};
use maud::html;

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
    let name = truncate(path, MAX_PATH_CHARS);
    let main = html! {
        main #source tabindex="-1" {
            h1 { code { (name) } }
            p {
                "As it stood when the debate was opened, in tree "
                code { (truncate(pin, MAX_HASH_CHARS)) } ", without secrets. "
                a href=(debate_url) { "Back to the debate" }
            }
            @if total > MAX_LINES {
                p { "Lines " (first + 1) " to " (first + MAX_LINES) " of " (total) "." }
            }
            div.scroll tabindex="0" {
                table.code {
                    caption.unseen { (name) }
                    tbody {
                        @for (number, text) in (1..).zip(text.lines()).skip(first).take(MAX_LINES) {
                            tr #{ "L" (number) } class=[(*line == Some(number)).then_some("meant")] {
                                th scope="row" { a href={ "#L" (number) } { (number) } }
                                td { code { (truncate(text, MAX_LINE_CHARS)) } }
                            }
                        }
                    }
                }
            }
        }
    };
    let title = format!("{name} · debate");
    render_page(PageContent { kind: "source", title: &title, main }, assets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, line: Option<usize>) -> String {
        let assets = AssetUrls { script: "/app.js", style: "/app.css" };
        let source = SourceFile { debate_url: "/debates/d", path: "a.rs", pin: "abc", text, line };
        render_source_page(&source, assets).into_string()
    }

    #[test]
    fn source_page_has_at_most_5_000_lines() {
        assert_eq!(MAX_LINES, 5_000);
        let page = render(&"a\n".repeat(MAX_LINES), Some(1));
        assert_eq!(page.matches("<tr id=").count(), MAX_LINES);
        assert!(!page.contains("<p>Lines "));
        // In a longer file, the window follows the requested line.
        let text = "a\n".repeat(MAX_LINES + 1);
        for (line, window) in
            [(None, "1 to 5000"), (Some(1), "1 to 5000"), (Some(5_001), "2 to 5001")]
        {
            let page = render(&text, line);
            assert_eq!(page.matches("<tr id=").count(), MAX_LINES);
            assert!(page.contains(&format!("<p>Lines {window} of 5001.</p>")), "{line:?}");
        }
    }

    #[test]
    fn line_on_the_source_page_has_at_most_2_000_characters() {
        assert_eq!(MAX_LINE_CHARS, 2_000);
        let line = "x".repeat(MAX_LINE_CHARS);
        assert!(render(&line, None).contains(&format!("<code>{line}</code>")));
        assert!(render(&format!("{line}x"), None).contains(&format!("<code>{line}…</code>")));
    }
}
