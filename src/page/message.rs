//! Error and notice pages.
use super::html::Html;
use super::layout::{AssetUrls, PageContent, render_page};
use maud::html;

/// Renders a page with a message, and a hint what to do next.
pub fn render_message_page(title: &str, message: &str, hint: &str, assets: AssetUrls<'_>) -> Html {
    let main = html! {
        main #message tabindex="-1" {
            h1 { (title) }
            p { (message) }
            @if !hint.is_empty() { p { (hint) } }
            p { a href="/" { "To the archive" } }
        }
    };
    let title = format!("{title} · debate");
    render_page(PageContent { kind: "message", title: &title, main }, assets)
}
