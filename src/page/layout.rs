//! What is around every page.
use super::html::{Html, html};

/// Where the assets are, as a page names them: with their version, so that they can be kept.
#[derive(Clone, Copy, Debug)]
pub struct Assets<'a> {
    /// The address of the script.
    pub script: &'a str,
    /// The address of the style sheet.
    pub style: &'a str,
}

/// A page.
pub struct Page<'a> {
    /// `archive`, `debate`, `compare`, `leaderboard`, `source`, `message`.
    pub kind: &'static str,
    /// Of the window.
    pub title: &'a str,
    /// Attributes of `main`, which has the id of the kind.
    pub about: Html,
    /// What it is about, its `h1` included.
    pub main: Html,
}

/// A page with its surroundings.
pub fn layout(page: &Page<'_>, assets: Assets<'_>) -> Html {
    let here =
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
        here("archive"),
        here("leaderboard"),
        page.kind,
        page.about,
        page.main
    )
}
