//! Exports a debate as one self-contained HTML file, without scripts or external requests.
use super::debate::render_debate_body;
use super::history::DebateHistory;
use super::html::{Html, html};
use super::rendered::{RenderContext, RenderedDebate, Viewer, document_title};

/// Content-Security-Policy of the file: it loads nothing and runs no script.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Renders the export. The style sheet is inlined.
pub fn render_export(history: &DebateHistory, style: &'static str) -> Html {
    let context = RenderContext::default();
    let parts = RenderedDebate::new(history, &context, None).parts(Viewer::Reader);
    let export_note = html!(
        "<p class=\"links\">Debate <code>{}</code>, exported at event {}.</p>",
        history.debate().setup().id.as_str(),
        history.seq()
    );
    let main = render_debate_body(&parts, &Html::new(), &export_note);
    let mut css = Html::new();
    css.push_markup(style);
    html!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" \
         content=\"no-referrer\"><title>{}</title><style>{}</style></head>\
         <body data-page=\"export\"><a class=\"skip\" href=\"#debate\">Skip to the content</a>\
         <header class=\"top\"><p class=\"brand\">debate</p></header><main id=\"debate\">{}</main>\
         <footer><p>Models argue; a person decides. What stands here was said by models, and is not \
         checked except where it says so.</p></footer></body></html>\n",
        CONTENT_SECURITY_POLICY,
        document_title(history),
        css,
        main
    )
}
