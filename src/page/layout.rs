//! The document skeleton of every page: head, navigation, main element and footer.
use super::html::{Html, html};

/// URLs of the assets. They contain a version, so that browsers can cache them for long.
#[derive(Clone, Copy, Debug)]
pub struct AssetUrls<'a> {
    /// URL of the script.
    pub script: &'a str,
    /// URL of the style sheet.
    pub style: &'a str,
}

/// Content of a page.
pub struct PageContent<'a> {
    /// Page type: `archive`, `debate`, `compare`, `leaderboard`, `source` or `message`.
    pub kind: &'static str,
    /// Document title.
    pub title: &'a str,
    /// Attributes of the `main` element. Its id is the page type.
    pub main_attributes: Html,
    /// Content of the `main` element, including the `h1`.
    pub main: Html,
}

/// Renders a complete HTML document.
pub fn render_page(page: &PageContent<'_>, assets: AssetUrls<'_>) -> Html {
    let current_attribute =
        |kind: &str| if kind == page.kind { html!(" aria-current=\"page\"") } else { Html::new() };
    html!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title>\
         <link rel=\"stylesheet\" href=\"{}\"><link rel=\"icon\" type=\"image/svg+xml\" \
         href=\"/favicon.svg\"><script type=\"module\" src=\"{}\"></script></head>\
         <body data-page=\"{}\"><a class=\"skip\" href=\"#{}\">Skip to the content</a>\
         <header class=\"top\"><p class=\"brand\"><a href=\"/\">debate</a></p>\
         <nav aria-label=\"Main\"><ul><li><a href=\"/\"{}>Archive</a></li>\
         <li><a href=\"/leaderboard\"{}>Leaderboard</a></li></ul></nav></header>\
         <main id=\"{}\"{} tabindex=\"-1\">{}</main>\
         <footer><p>Models argue; a person decides. What stands here was said by models, and is not \
         checked except where it says so.</p></footer></body></html>\n",
        page.title,
        assets.style,
        assets.script,
        page.kind,
        page.kind,
        current_attribute("archive"),
        current_attribute("leaderboard"),
        page.kind,
        page.main_attributes,
        page.main
    )
}
