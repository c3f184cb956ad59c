//! The document skeleton of every page: head, navigation and footer.
use super::html::Html;
use maud::{Markup, PreEscaped, html};

/// URLs of the assets. They contain a version, so that browsers can cache them for long.
#[derive(Clone, Copy, Debug)]
pub struct AssetUrls<'a> {
    /// URL of the script.
    pub script: &'a str,
    /// URL of the style sheet.
    pub style: &'a str,
}

/// Content of a page.
pub(super) struct PageContent<'a> {
    /// Page type: `archive`, `debate`, `compare`, `leaderboard`, `source` or `message`.
    pub(super) kind: &'static str,
    /// Document title.
    pub(super) title: &'a str,
    /// The `main` element, including the `h1`. Its id is the page type.
    pub(super) main: Markup,
}

/// Renders a complete HTML document.
pub(super) fn render_page(page: PageContent<'_>, assets: AssetUrls<'_>) -> Html {
    let PageContent { kind, title, main } = page;
    let current = |link: &str| (link == kind).then_some("page");
    Html::from(html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="stylesheet" href=(assets.style);
                link rel="icon" type="image/svg+xml" href="/favicon.svg";
                script type="module" src=(assets.script) {}
            }
            body data-page=(kind) {
                a.skip href={ "#" (kind) } { "Skip to the content" }
                header.top {
                    p.brand { a href="/" { "debate" } }
                    nav aria-label="Main" {
                        ul {
                            li { a href="/" aria-current=[current("archive")] { "Archive" } }
                            li {
                                a href="/leaderboard" aria-current=[current("leaderboard")] {
                                    "Leaderboard"
                                }
                            }
                        }
                    }
                }
                (main)
                (render_footer())
            }
        }
        "\n"
    })
}

/// Renders the footer of pages and exported files.
pub(super) fn render_footer() -> Markup {
    html! {
        footer {
            p {
                "Models argue; a person decides. What stands here was said by models, and is not "
                "checked except where it says so."
            }
        }
    }
}
