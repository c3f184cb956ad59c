//! Exports a debate as one self-contained HTML file, without scripts or external requests.
use super::context::{RenderContext, Viewer};
use super::debate::render_debate_body;
use super::history::DebateHistory;
use super::html::Html;
use super::layout::render_footer;
use super::rendered::{RenderedDebate, document_title};
use maud::{Markup, PreEscaped, html};

/// Content-Security-Policy of the file: it loads nothing and runs no script.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Renders the export. The style sheet is inlined.
pub fn render_export(history: &DebateHistory, style: &'static str) -> Html {
    let context = RenderContext::default();
    let parts = RenderedDebate::new(history, &context, None).parts(Viewer::Reader);
    let export_note = html! {
        p.links {
            "Debate " code { (history.debate().setup().id) } ", exported at event "
            (history.seq()) "."
        }
    };
    Html::from(html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(CONTENT_SECURITY_POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (document_title(history)) }
                style { (PreEscaped(style)) }
            }
            body data-page="export" {
                a.skip href="#debate" { "Skip to the content" }
                header.top { p.brand { "debate" } }
                main #debate { (render_debate_body(&parts, &Markup::default(), &export_note)) }
                (render_footer())
            }
        }
        "\n"
    })
}
