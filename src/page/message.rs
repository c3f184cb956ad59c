//! What went wrong, and what to do next.
use super::html::{Html, html};
use super::layout::{Assets, Page, layout};

/// A page that says something in a sentence, and what to do next in another.
pub fn message(title: &str, says: &str, next: &str, assets: Assets<'_>) -> Html {
    let next = if next.is_empty() { Html::new() } else { html!("<p>{}</p>", next) };
    let main =
        html!("<h1>{}</h1><p>{}</p>{}<p><a href=\"/\">To the archive</a></p>", title, says, next);
    let title = format!("{title} · debate");
    layout(&Page { kind: "message", title: &title, about: Html::new(), main }, assets)
}
