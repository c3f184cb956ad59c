//! Error and notice pages.
use super::html::{Html, html};
use super::layout::{AssetUrls, PageContent, render_page};

/// Renders a page with a message, and a hint what to do next.
pub fn render_message_page(title: &str, message: &str, hint: &str, assets: AssetUrls<'_>) -> Html {
    let hint = if hint.is_empty() { Html::new() } else { html!("<p>{}</p>", hint) };
    let main = html!(
        "<h1>{}</h1><p>{}</p>{}<p><a href=\"/\">To the archive</a></p>",
        title,
        message,
        hint
    );
    let title = format!("{title} · debate");
    render_page(
        &PageContent { kind: "message", title: &title, main_attributes: Html::new(), main },
        assets,
    )
}
