//! The page of one debate, at its last event or replayed up to an earlier one. The entry point is
//! [`render_debate_page`], called by `web::pages`. `export` shares `render_debate_body` for its
//! single file.
use super::history::{DebateHistory, HistoryItem};
use super::html::{Html, html};
use super::layout::{AssetUrls, PageContent, render_page};
use super::rendered::{RenderContext, RenderedDebate, Viewer, document_title};
use super::turn::{render_turn, turn_element_id};
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
        parts
            .insert("turns", render_live_transcript(history, &rendered, context, &input.live_text));
    }
    let (id, seq, last) = (history.debate().setup().id.as_str(), history.seq(), input.last_seq);
    let base_url = context.debate_url.clone().unwrap_or_default();
    let main_attributes = html!(
        " data-debate=\"{}\" data-seq=\"{}\" data-last=\"{}\" data-running=\"{}\" \
         data-events=\"{}/events\" data-at-url=\"{}/fragments\" data-timeline=\"{}/timeline\"",
        id,
        seq,
        last,
        !history.is_over() && seq == last,
        base_url,
        base_url,
        base_url
    );
    let title = document_title(history);
    let main = render_debate_body(
        &parts,
        &render_replay_nav(&base_url, seq, last),
        &render_links(&base_url, id),
    );
    render_page(&PageContent { kind: "debate", title: &title, main_attributes, main }, input.assets)
}

/// Arranges the parts in columns.
pub(super) fn render_debate_body(
    parts: &BTreeMap<&'static str, Html>,
    replay: &Html,
    links: &Html,
) -> Html {
    let empty = Html::new();
    let part = |id: &str| parts.get(id).unwrap_or(&empty);
    let panels = |ids: &[&str]| ids.iter().map(|id| part(id).clone()).collect::<Html>();
    html!(
        "{}{}<p id=\"announce\" class=\"unseen\" role=\"status\" aria-live=\"polite\"></p>\
         <div class=\"columns\"><div class=\"beside\">{}</div><div class=\"middle\">{}\
         <section class=\"transcript\" aria-labelledby=\"turns-title\">\
         <h2 id=\"turns-title\">Transcript</h2>{}</section></div></div>",
        *part("topic"),
        *links,
        panels(&[
            "panel-status",
            "panel-actions",
            "panel-verdict",
            "panel-scores",
            "panel-votes",
            "panel-sides",
            "panel-ledger",
            "panel-cost",
        ]),
        *replay,
        *part("turns")
    )
}

/// Renders the transcript with the text of the replies being streamed.
fn render_live_transcript(
    history: &DebateHistory,
    rendered: &RenderedDebate,
    context: &RenderContext<'_>,
    live: &BTreeMap<String, String>,
) -> Html {
    let mut items = Html::new();
    for (item, html) in history.items().iter().zip(rendered.items()) {
        let live_text = match item {
            HistoryItem::Turn(cue) => {
                live.get(&turn_element_id(*cue)).map(|live_text| (*cue, live_text))
            }
            _ => None,
        };
        match live_text {
            Some((cue, live_text)) => {
                items.push(&html!(
                    "<li>{}</li>",
                    render_turn(history, cue, Some(live_text), context)
                ));
            }
            None => items.push(&html!("<li>{}</li>", *html)),
        }
    }
    html!("<ol id=\"turns\">{}</ol>", items)
}

/// Renders links to other events of the debate, for browsers without the script.
fn render_replay_nav(base_url: &str, seq: u64, last: u64) -> Html {
    let link = |target: u64, label: &str| {
        if target == seq {
            html!("<li><span>{}</span></li>", label)
        } else {
            html!("<li><a href=\"{}?at={}\">{}</a></li>", base_url, target, label)
        }
    };
    html!(
        "<nav id=\"replay\" aria-label=\"Replay\"><p>Event {} of {}</p><ul>{}{}{}{}</ul></nav>",
        seq,
        last,
        link(0, "First"),
        link(seq.saturating_sub(1), "Previous"),
        link((seq + 1).min(last), "Next"),
        if seq == last {
            html!("<li><span>Last</span></li>")
        } else {
            html!("<li><a href=\"{}\">Last</a></li>", base_url)
        }
    )
}

fn render_links(base_url: &str, id: &str) -> Html {
    html!(
        "<p class=\"links\"><a href=\"{}/export\" download>Export as one file</a> \
         <a href=\"/compare?a={}\">Compare</a></p>",
        base_url,
        id
    )
}
