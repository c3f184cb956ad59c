//! Error and notice pages.
use super::html::{Html, html};
use super::layout::{Assets, Page, layout};

/// Renders a page with a message, and a hint what to do next.
pub fn message(title: &str, says: &str, next: &str, assets: Assets<'_>) -> Html {
    let next = if next.is_empty() { Html::new() } else { html!("<p>{}</p>", next) };
    let main =
        html!("<h1>{}</h1><p>{}</p>{}<p><a href=\"/\">To the archive</a></p>", title, says, next);
    let title = format!("{title} · debate");
    layout(&Page { kind: "message", title: &title, about: Html::new(), main }, assets)
}
