//! The page of one debate, at its last event or replayed up to an earlier one. The entry point is
//! [`render_debate_page`], called by `web::pages`. `export` shares `render_debate_body` for its
//! single file.
use super::context::{RenderContext, Viewer};
use super::elements::turn_element_id;
use super::history::{DebateHistory, HistoryItem};
use super::html::Html;
use super::layout::{AssetUrls, PageContent, render_page};
use super::rendered::{RenderedDebate, document_title};
use super::turn::render_turn;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Request-dependent input of the debate page, in addition to its history.
pub struct DebatePageInput<'a> {
    /// Sequence number of the last recorded event.
    pub last_seq: u64,
    /// Text of the replies being streamed, by element id.
    pub live_text: BTreeMap<String, String>,
    /// Access level of the viewer, which decides whether forms are shown.
    pub viewer: Viewer,
    /// URLs of the script and the style sheet.
    pub assets: AssetUrls<'a>,
}

/// Renders the page of a debate.
pub fn render_debate_page(
    history: &DebateHistory,
    context: &RenderContext<'_>,
    input: &DebatePageInput<'_>,
) -> Html {
    let rendered = RenderedDebate::new(history, context, None);
    let mut parts = rendered.parts(input.viewer);
    if !input.live_text.is_empty() {
        let turns = render_live_transcript(history, &rendered, context, &input.live_text);
        parts.insert("turns", Html::from(turns));
    }
    let (id, seq, last) = (history.debate().setup().id.as_str(), history.seq(), input.last_seq);
    let base_url = context.debate_url.clone().unwrap_or_default();
    let is_running = !history.is_over() && seq == last;
    let main = html! {
        main #debate data-debate=(id) data-seq=(seq) data-last=(last)
            data-running=(is_running.to_string()) data-events={ (base_url) "/events" }
            data-at-url={ (base_url) "/fragments" } data-timeline={ (base_url) "/timeline" }
            tabindex="-1" {
            (render_debate_body(
                &parts,
                &render_replay_nav(&base_url, seq, last),
                &render_links(&base_url, id),
            ))
        }
    };
    let title = document_title(history);
    render_page(PageContent { kind: "debate", title: &title, main }, input.assets)
}

/// Panels beside the transcript, from top to bottom.
const PANELS: [&str; 8] = [
    "panel-status",
    "panel-actions",
    "panel-verdict",
    "panel-scores",
    "panel-votes",
    "panel-sides",
    "panel-ledger",
    "panel-cost",
];

/// Arranges the parts in columns.
pub(super) fn render_debate_body(
    parts: &BTreeMap<&'static str, Html>,
    replay: &Markup,
    links: &Markup,
) -> Markup {
    html! {
        @if let Some(topic) = parts.get("topic") { (topic) }
        (links)
        p #announce .unseen role="status" aria-live="polite" {}
        div.columns {
            div.beside { @for panel in PANELS.iter().filter_map(|id| parts.get(id)) { (panel) } }
            div.middle {
                (replay)
                section.transcript aria-labelledby="turns-title" {
                    h2 #turns-title { "Transcript" }
                    @if let Some(turns) = parts.get("turns") { (turns) }
                }
            }
        }
    }
}

/// Renders the transcript with the text of the replies being streamed.
fn render_live_transcript(
    history: &DebateHistory,
    rendered: &RenderedDebate,
    context: &RenderContext<'_>,
    live: &BTreeMap<String, String>,
) -> Markup {
    let live_text = |item: &HistoryItem| match item {
        HistoryItem::Turn(cue) => live.get(&turn_element_id(*cue)).map(|text| (*cue, text)),
        _ => None,
    };
    html! {
        ol #turns {
            @for (item, rendered) in history.items().iter().zip(rendered.items()) {
                li {
                    @if let Some((cue, text)) = live_text(item) {
                        (render_turn(history, cue, Some(text), context))
                    } @else {
                        (rendered)
                    }
                }
            }
        }
    }
}

/// Renders links to other events of the debate, for browsers without the script.
fn render_replay_nav(base_url: &str, seq: u64, last: u64) -> Markup {
    let link = |target: u64, label: &str| {
        html! {
            li {
                @if target == seq {
                    span { (label) }
                } @else if label == "Last" {
                    a href=(base_url) { (label) }
                } @else {
                    a href={ (base_url) "?at=" (target) } { (label) }
                }
            }
        }
    };
    html! {
        nav #replay aria-label="Replay" {
            p { "Event " (seq) " of " (last) }
            ul {
                (link(0, "First"))
                (link(seq.saturating_sub(1), "Previous"))
                (link((seq + 1).min(last), "Next"))
                (link(last, "Last"))
            }
        }
    }
}

fn render_links(base_url: &str, id: &str) -> Markup {
    html! {
        p.links {
            a href={ (base_url) "/export" } download { "Export as one file" } " "
            a href={ "/compare?a=" (id) } { "Compare" }
        }
    }
}
